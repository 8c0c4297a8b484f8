"""Open a pickle of one of the pinned wheels without running anything it names."""

from __future__ import annotations

import io
import pickle
from typing import Any

ALLOWED = frozenset({("dmc.methyldat", "MakeMethylObj"), ("cpgmodule.methylClock", "MethylSig")})
"""Classes the wheels' own clock pickles name. Each is replaced by :class:`Record`, never imported."""


class Record:
    """Stands in for a class of the wheel: takes the pickled attributes and does nothing."""

    def __init__(self, *_: object) -> None:
        self.fields: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fields = dict(state)


class _Restricted(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(
                f"the pickle names {module}.{name}, which is not on the list of allowed classes"
            )
        return Record


def loads(data: bytes) -> Record:
    """The attributes of a pickled clock object; anything else is refused."""
    found = _Restricted(io.BytesIO(data)).load()
    if not isinstance(found, Record):
        raise pickle.UnpicklingError(f"the pickle holds a {type(found).__name__}, expected a clock object")
    return found
