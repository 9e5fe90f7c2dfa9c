"""The page of a report: the viewer's own script, its style and the answers, in one document.

The explored application is hostile input, and a report is opened from disk, by people it was sent to. So the
document allows no script and no style but the two it was made with, by their hashes, and no network at all;
what the application said is in it as JSON, in which no tag can begin.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import NamedTuple

from screensearch.errors import ScreenSearchError

DATA_ID = "screensearch-report"


class PageParts(NamedTuple):
    """What the viewer's page is made of, as its build leaves it."""

    script: str
    style: str


def read_parts() -> PageParts:
    """The script and the style of a report; `ScreenSearchError` where the page was not built."""
    folder = files("screensearch") / "view" / "static" / "report"
    try:
        script = (folder / "report.js").read_text(encoding="utf-8")
        style = (folder / "report.css").read_text(encoding="utf-8")
    except FileNotFoundError as problem:
        raise ScreenSearchError(
            "the viewer's page is not built, and a report is made of it: run scripts/setup in the project's "
            "folder, or install a wheel of screensearch, which has it"
        ) from problem
    return PageParts(script, style)


def document(parts: PageParts, *, title: str, data: bytes, beside: bool) -> str:
    """The whole document; `data` is JSON, and `beside` says that it loads files that lie beside it."""
    script, style = _inline_script(parts.script), _inline_style(parts.style)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style, beside=beside)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"></div>\n'
        "<noscript>This report is drawn by a script in this file: allow scripts to see it.</noscript>\n"
        f'<script type="application/json" id="{DATA_ID}">{embedded_json(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def embedded_json(data: bytes) -> str:
    """JSON that may stand in a script element: a `<` of it can only be in a text, where it can be escaped."""
    return data.decode().replace("<", "\\u003c")


def data_script(data: bytes) -> str:
    """A file that a page from disk may load, where it could not fetch JSON.

    The answers are one string: as an object of the language, a key `__proto__` would mean something.
    """
    return f"screensearchData({json.dumps(data.decode())});\n".replace("<", "\\u003c")


def _policy(script: str, style: str, *, beside: bool) -> str:
    scripts = f"{_hash_of(script)} 'strict-dynamic'" if beside else _hash_of(script)
    pictures = "data: file:" if beside else "data:"
    return (
        f"default-src 'none'; script-src {scripts}; style-src {_hash_of(style)}; img-src {pictures}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inline_script(script: str) -> str:
    """A script that may stand in a script element: what would end or open one can only be in a text of it."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", script.replace("\r", ""), flags=re.IGNORECASE)


def _inline_style(style: str) -> str:
    if "</" in style:
        raise ScreenSearchError("the viewer's style holds '</', which would end it in a report")
    return style.replace("\r", "")
