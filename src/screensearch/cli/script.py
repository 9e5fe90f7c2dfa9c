"""`screensearch script`: a way to a state as a test that stands alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.markup import escape

from screensearch import open_run, redacted_route, write_script
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say
from screensearch.cli.replay import as_found_option, lenient_option, route_named
from screensearch.cli.texts import plain
from screensearch.errors import ScreenSearchError
from screensearch.explore.replay.conduct import check_named
from screensearch.explore.replay.script import script_name
from screensearch.record.run import read_manifest


@click.command()
@run_argument
@click.argument("state", type=int, required=False)
@click.option(
    "--finding",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Not to a state, but to a finding, as `screensearch findings` counts them: the test passes as long "
    "as it comes again.",
)
@click.option(
    "--short",
    is_flag=True,
    help="With --finding: not as its episode went, but by the most reliable way to where it happened.",
)
@as_found_option
@lenient_option
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The file, or - for standard output. Default: a name made of the application and the state.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@as_json_option
def script(
    run: Path,
    state: int | None,
    finding: int | None,
    short: bool,
    as_found: bool,
    lenient: bool,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the most reliable way to a STATE of a RUN as a Python test that a project can keep.

    It needs this package and the application, but not the run: it holds the actions as signatures, with words
    beside them, the settings that matter, and the screens that are expected. Run it with pytest or by itself;
    it fails with the step that did not come out. Secrets that are taken out of exports are taken out of it.
    """
    with open_run(run) as opened:
        route = redacted_route(opened, route_named(opened, state, finding, short=short, as_found=as_found))
    check_named(route)
    manifest = read_manifest(run)
    origin = f"run {manifest.run[:8]} of {manifest.created[:10]}"
    text = write_script(route, origin=origin, lenient=lenient)
    file = output or Path(script_name(route))
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    _write(file, text, force=force)
    if as_json:
        print_json({"run": str(run), "file": str(file), "goal": route.goal, "steps": len(route.steps)})
        return
    out = console()
    say(out, f"[bold]{escape(str(file))}[/]: {len(route.steps)} actions")
    for number, words in enumerate(route.words, start=1):
        say(out, f"{number:>4}  {escape(plain(words))}")
    say(out, f"[dim]Run it: python {escape(shlex.quote(str(file)))}, or with pytest[/]")


def _write(file: Path, text: str, *, force: bool) -> None:
    try:
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise ScreenSearchError(
            f"{file} is there already: choose another name with -o, or write over it with --force"
        ) from None
    except OSError as problem:
        raise ScreenSearchError(f"cannot write {file}: {problem}; choose another place with -o") from problem
