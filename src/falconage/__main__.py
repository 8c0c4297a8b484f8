"""``python -m falconage``."""

from __future__ import annotations

import sys

from falconage.cli import main

if __name__ == "__main__":
    sys.exit(main())
