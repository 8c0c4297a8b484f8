"""Small data sets for examples and tests; none needs a download."""

from falconage.datasets._liver import liver_450k
from falconage.datasets._toy import toy

__all__ = ["liver_450k", "toy"]
