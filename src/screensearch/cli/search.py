"""`screensearch search`: where is the screen that says this, or looks like that one?"""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch import Run, ScreenSearchError, open_run
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.encode.embed import HashingEmbedder
from screensearch.explore.redaction import Redaction
from screensearch.view.search import Found, SearchIndex


@click.command()
@click.argument("run", nargs=-1, required=True, metavar="RUN... [TEXT]")
@click.option("--like", type=click.IntRange(min=0), help="Screens like this state of the first RUN.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many.")
@as_json_option
def search(run: tuple[str, ...], like: int | None, limit: int, as_json: bool) -> None:
    """Find the states of one RUN or several whose screens say TEXT, or are like another.

    Screens are ranked by their words and by their meaning, and the two rankings are fused. The last word may
    be unfinished, one that no screen has may be misspelt. Put a TEXT of several words in quotes.
    """
    *folders, text = run if like is None else (*run, "")
    if not folders:
        raise click.UsageError(f"search for what in {text!r}? Give a text after the run, or --like STATE")
    if like is None and not text.strip():
        raise click.UsageError(f"the text to search for is {text!r}: give a word of it, or --like STATE")
    with ExitStack() as opened:
        runs = _open(folders, opened)
        index = SearchIndex()
        for name, each in runs.items():
            index.add(name, each.log, partial(Redaction(each.settings).screen, each.log))
        found = index.search(text, limit) if like is None else index.like(folders[0], like, limit)
        screens = len(index)
        # What a run keeps to itself must not come back as an echo of the question either.
        asked = text if like is None else f"like state {like} of {folders[0]}"
    if as_json:
        print_json(
            {
                "runs": folders,
                "query": asked,
                "embedder": index.embedder.name,
                "screens": screens,
                "found": found,
            }
        )
        return
    out = console()
    _print_found(out, found, asked, several=len(folders) > 1)
    if isinstance(index.embedder, HashingEmbedder) and like is None:
        say(
            out,
            "[dim]Meaning is judged by equal words alone: pip install 'screensearch\\[embed]' for more.[/]",
        )


def _open(folders: list[str], opened: ExitStack) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    for folder in folders:
        if folder in runs:
            raise ScreenSearchError(f"{folder} is named twice: name each run once")
        runs[folder] = opened.enter_context(open_run(Path(folder)))
    return runs


def _print_found(out: Console, found: list[Found], asked: str, *, several: bool) -> None:
    if not found:
        say(out, f"Nothing is found for {escape(repr(asked))}: no screen has such a word.")
        return
    rows = table("state", *(["run"] if several else []), "words", "meaning", "text", right=("state",))
    for each in found:
        rows.add_row(
            str(each.state),
            *([escape(each.run)] if several else []),
            _place(each.by_words),
            _place(each.by_meaning),
            escape(each.snippet),
        )
    out.print(rows)
    if not any(each.by_words for each in found):
        say(out, "[dim]No screen has such a word; these are the nearest in meaning.[/]")
    first = found[0]
    where = shlex.quote(first.run)
    say(out, f"[dim]Others like the first: screensearch search {escape(where)} --like {first.state}[/]")


def _place(rank: int | None) -> str:
    return "" if rank is None else f"{rank}."
