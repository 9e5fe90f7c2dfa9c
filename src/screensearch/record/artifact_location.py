"""Where artifacts are kept: a folder or a URL. It is written down with the run, so it holds no secret."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from screensearch.errors import SettingsError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HALF_A_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_OF_THIS_MACHINE = ("file", "local")


def read_location(location: str) -> Path | str:
    """A folder of this machine, or the URL of a place elsewhere, without a slash at its end.

    A location that we refuse is not repeated in the error: it may hold a secret.
    """
    scheme = _SCHEME.match(location)
    if scheme is None:
        return _read_folder(location)
    kind, rest = scheme[1].lower(), location[scheme.end() :].rstrip("/")
    if kind in _OF_THIS_MACHINE:
        if not rest.startswith("/"):
            raise SettingsError(
                f"a location of artifacts that begins with {kind}:// needs a path from the root"
            )
        return Path(unquote(rest))
    # A secret key may hold a slash, so that it need not look like a part of the host.
    if re.search(":.*@", rest):
        raise SettingsError(
            f"the location of the artifacts, {kind}://…, holds a key or a password, which would be written "
            "down with the run: leave it out, and give it in the environment (AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY) or in ~/.aws/credentials; for other file systems in fsspec's own "
            "configuration"
        )
    if "?" in rest or "#" in rest or "::" in rest:
        raise SettingsError(
            f"the location of the artifacts, {kind}://…, has options (?, #) or a chain (::): give a plain "
            "one, such as s3://BUCKET/PREFIX; options belong into the environment (AWS_ENDPOINT_URL) or into "
            "fsspec's own configuration"
        )
    if not rest:
        raise SettingsError(
            f"the location of the artifacts, {kind}://, names no place: give {kind}://BUCKET/PREFIX"
        )
    return f"{kind}://{rest}"


def _read_folder(location: str) -> Path:
    if _HALF_A_SCHEME.match(location):
        raise SettingsError(
            "the location of the artifacts is neither a URL, such as s3://BUCKET/PREFIX, nor clearly a "
            "folder: begin it with ./ or / if it is one"
        )
    return Path(location).absolute()
