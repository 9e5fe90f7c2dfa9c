"""Enough of Markdown to read our own pages: fenced blocks, inline code, links, headings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_FENCE = re.compile(r"^(`{3,})(\w*)\s*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_INLINE = re.compile(r"`([^`\n]+)`")
_HEADING = re.compile(r"^#{1,6} (.+)$")
_SAVED_AS = re.compile(r"[Ss]ave (?:this|it) as `([\w.]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block and where it begins."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order; one that is never closed is a mistake."""
    opened: tuple[str, str, int] | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened, inside = (fence[1], fence[2], number), []
        elif fence and fence[1] == opened[0] and not fence[2]:
            yield Block(page, opened[2], opened[1], "\n".join(inside) + "\n")
            opened = None
        else:
            inside.append(line)
    assert opened is None, f"{page}: the block that begins on line {opened[2] if opened else 0} never ends"


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    kept: list[str] = []
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            kept.append(line)
    return "\n".join(kept)


def links(page: Path) -> list[str]:
    """The targets of all links in the prose."""
    return _LINK.findall(_INLINE.sub("", prose(page)))


def inline_code(page: Path) -> list[str]:
    return _INLINE.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    headings = (_HEADING.match(line) for line in prose(page).splitlines())
    return {slug(heading[1]) for heading in headings if heading}


def slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.strip().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Typed:
    """A command line of a console block, and what the page shows it to print."""

    place: str
    line: str
    shown: tuple[str, ...]

    @property
    def refused(self) -> bool:
        """Whether the page shows it failing."""
        return bool(self.shown) and self.shown[0].startswith("Error:")


def typed_lines(block: Block) -> Iterator[Typed]:
    """What is typed in a console block: lines after ``$``, with their continuations."""
    line: str | None = None
    shown: list[str] = []
    for each in block.text.replace("\\\n", " ").splitlines():
        if not each.startswith("$ "):
            shown.append(each)
            continue
        if line is not None:
            yield Typed(str(block), line, tuple(shown))
        line, shown = " ".join(each[2:].split()), []
    if line is not None:
        yield Typed(str(block), line, tuple(shown))


def file_name(block: Block) -> str | None:
    """The name that the paragraph before a block says to save it as."""
    before = block.page.read_text(encoding="utf-8").splitlines()[: block.line - 1]
    paragraph = "\n".join(before).rstrip().rpartition("\n\n")[2]
    named = _SAVED_AS.search(paragraph)
    return None if named is None else named[1]


def install_plugins(block: Block, folder: Path) -> None:
    """Put the plugins that a block declares into a folder, as if the package that it is of were installed."""
    if block.language != "toml" or "entry-points" not in block.text:
        return
    groups = tomllib.loads(block.text)["project"]["entry-points"]
    installed = folder / f"followed_{block.line}-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: followed_{block.line}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [
        line
        for group, plugins in groups.items()
        for line in (f"[{group}]", *(f"{plugin} = {where}" for plugin, where in plugins.items()))
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
