"""The pinned wheels the numbers come from: download once, check the hash, read members out of the zip."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


PINS = {
    "biolearn@0.9.1": (
        "biolearn-0.9.1-py3-none-any.whl",
        "cc996dffedb762f9c12af8e0b9ca14bfce4d7e33b419c9e4be2c315c2edff6db",
    ),
    "cpgtools@3.0.2": (
        "cpgtools-3.0.2-py3-none-any.whl",
        "deb2c4c27ef0be2150e2d66142798568733340e687f23e12e61b0440db7e3e6b",
    ),
    "omniage@0.99.5": (
        "omniage-0.99.5-py3-none-any.whl",
        "1d199a07db26b4acf688e736ed9df6ffd851a24229f38e7df171669339b70ba9",
    ),
}


class HashError(RuntimeError):
    """A wheel is not the one these tables were checked against."""


class Wheels:
    """Members of the pinned wheels by their address, ``wheel@version:path``.

    Parameters
    ----------
    folder
        Where the wheels lie, or are downloaded to.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._zips = {}
        for pin, (file, sha256) in PINS.items():
            path = folder / file
            if not path.exists():
                _download(pin, folder)
            _check(path, sha256)
            self._zips[pin] = zipfile.ZipFile(path)

    def read(self, source: str) -> bytes:
        """Bytes of one member."""
        pin, path = source.split(":", 1)
        return self._zips[pin].read(path)


def _download(pin: str, folder: Path) -> None:
    options = ["--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, pin.replace("@", "==")], check=True)


def _check(path: Path, sha256: str) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise HashError(f"{path} has sha256 {found}, expected {sha256}; remove the file to download it again")
