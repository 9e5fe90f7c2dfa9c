"""`screensearch study suite` and `screensearch study verify`: the starts that studies are run from."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

import click
from rich.markup import escape

from screensearch import ScreenSearchError, StopRule, settings_for
from screensearch.cli.live import LiveView
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.cli.study_progress import Counting
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.study.build import CorpusPlan, build_suite, verify_suite
from screensearch.study.names import name_of
from screensearch.study.starts import Eligibility, Stratum
from screensearch.study.suite import Suite, SuiteStart, read_suite

CORPUS_STEPS = 5_000


@click.command()
@click.argument("target")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the suite. Default: suites/NAME.")
@click.option(
    "--starts",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Starts to find, of low, medium and high ambiguity as 17 : 16 : 17.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help=f"Steps of the corpus. Default: {CORPUS_STEPS}, unless --minutes is given.",
)
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True), help="Explore the corpus for so long."
)
@click.option(
    "--run",
    "run",
    type=click.Path(path_type=Path),
    help="Take this run as the corpus instead of exploring; it is copied.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=0,
    show_default=True,
    help="Decides the corpus and the order in which states are tried as starts.",
)
@click.option(
    "--occurrences",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="A start was met at least so often in the corpus.",
)
@click.option(
    "--anchor",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="The earliest step of an episode at which a prefix may end.",
)
@click.option(
    "--replays",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Walks of a prefix from a clean start, all of which must lead back.",
)
@click.option("--preset", default="default", show_default=True, help="`default`, `paper`, or a TOML file.")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change one setting. May be repeated."
)
@as_json_option
def suite(
    target: str,
    out: Path | None,
    starts: int,
    steps: int | None,
    minutes: float | None,
    run: Path | None,
    workers: int,
    seed: int,
    occurrences: int,
    anchor: int,
    replays: int,
    preset: str,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Build a replay suite: a corpus, and starts in it that a replay from a clean start leads back to.

    TARGET is what `screensearch explore` takes: an application with a profile, a profile file, or an
    environment such as synthetic:notepad. A suite is a folder that can be copied; studies run from it.
    """
    folder = out or Path("suites", name_of(target))
    rules = Eligibility(
        occurrences=occurrences, anchor_step=anchor, longest_prefix=max(25, anchor), replays=replays
    )
    built = build(
        target,
        folder,
        starts=starts,
        corpus=corpus_plan(steps, minutes, run, workers),
        seed=seed,
        rules=rules,
        preset=preset,
        overrides=overrides,
    )
    if as_json:
        print_json(built)
        return
    print_suite(folder, built)


def corpus_plan(steps: int | None, minutes: float | None, run: Path | None, workers: int) -> CorpusPlan:
    """How the corpus comes about, as the options say."""
    if run is not None:
        return CorpusPlan(run=run)
    seconds = None if minutes is None else 60 * minutes
    if steps is None and minutes is None:
        steps = CORPUS_STEPS
    return CorpusPlan(stop=StopRule(steps=steps, seconds=seconds), workers=workers)


def build(
    target: str,
    folder: Path,
    *,
    starts: int,
    corpus: CorpusPlan,
    seed: int,
    rules: Eligibility,
    preset: str,
    overrides: tuple[str, ...],
) -> Suite:
    """Build a suite, and show on standard error how far it is."""
    environment, settings = settings_for(target, preset, overrides)
    err = console(stderr=True)
    steps = None if corpus.stop is None else corpus.stop.steps
    with contextlib.ExitStack() as shown:
        exploring = shown.enter_context(LiveView(err, what=f"the corpus of {environment}", steps=steps))
        walking: Counting | None = None

        def walked(start: SuiteStart | None, found: int, wanted: int) -> None:
            nonlocal walking
            if walking is None:
                shown.close()
                walking = shown.enter_context(Counting(err, "walking prefixes"))
            walking.show(found, wanted, "" if start is not None else "one did not lead back")

        return build_suite(
            name_of(target),
            environment,
            settings,
            folder,
            corpus,
            starts=starts,
            seed=seed,
            rules=rules,
            on_progress=exploring.show,
            on_start=walked,
        )


def print_suite(folder: Path, built: Suite) -> None:
    """What a suite is, what it lacks, and what to do with it."""
    out = console()
    corpus = built.corpus
    say(
        out,
        f"[bold]{escape(built.name)}[/]: {len(built.starts)} starts in a corpus of {corpus.states:,} states "
        f"and {corpus.edges:,} edges ({corpus.entries:,} entries)",
    )
    shown = table("ambiguity", "u(s)", "eligible", "starts", right=("eligible", "starts"))
    bounds = {
        Stratum.LOW: f"to {built.cuts.low:.4f}",
        Stratum.MEDIUM: f"to {built.cuts.high:.4f}",
        Stratum.HIGH: f"above {built.cuts.high:.4f}",
    }
    for stratum in Stratum:
        found = sum(each.stratum is stratum for each in built.starts)
        asked = built.asked.get(stratum, 0)
        shown.add_row(
            stratum.value, bounds[stratum], str(built.eligible.get(stratum, 0)), f"{found} of {asked}"
        )
    out.print(shown)
    if built.refused:
        told = ", ".join(f"{count} {how}" for how, count in built.refused.items())
        say(out, f"Prefixes that did not lead back: {told}")
    if built.missing:
        lacking = ", ".join(f"{count} {stratum.value}" for stratum, count in built.missing.items())
        say(out, f"[bold]Fewer than were asked for[/]: {lacking} missing. A longer corpus may have them.")
    say(out, f"digest {built.digest[:16]}")
    command = f"screensearch study selector --suite {shlex.quote(str(folder))}"
    say(out, f"Next: {escape(command)}")


@click.command()
@click.argument("folder", metavar="SUITE", type=click.Path(path_type=Path))
@click.option("--replay", is_flag=True, help="Walk every prefix again, too.")
@as_json_option
def verify(folder: Path, replay: bool, as_json: bool) -> None:
    """Check a suite: that nothing in it was changed, that its corpus holds, and that its starts are reached.

    Ends with status 1 if anything does not hold.
    """
    built = read_suite(folder)
    with Counting(console(stderr=True), "walking prefixes") as walking:
        strayed = verify_suite(
            folder, replay=replay, on_start=lambda start, done, total: walking.show(done, total, "")
        )
    if as_json:
        failed = [{"start": start.number, "state": start.state, "how": how} for start, how in strayed]
        print_json(
            {"suite": built.name, "digest": built.digest, "starts": len(built.starts), "failed": failed}
        )
    else:
        reached = (
            f"; {len(built.starts) - len(strayed)} of {len(built.starts)} starts reached" if replay else ""
        )
        click.echo(f"{folder}: digest, corpus and graph hold{reached}")
    if strayed:
        first, how = strayed[0]
        raise ScreenSearchError(
            f"{len(strayed)} of {len(built.starts)} starts of {folder} are not reached any more; the first, "
            f"start {first.number} at state {first.state}: {how}. Build a new one if the application changed"
        )
