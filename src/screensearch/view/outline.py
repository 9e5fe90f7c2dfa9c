"""The episode before an entry, as far as its columns tell: to fetch every entry of it takes far longer."""

from __future__ import annotations

from collections.abc import Iterator

from screensearch.domain.transition import Entry, Evidence, FailedStart, Outcome, Transition
from screensearch.view.entries import NONE
from screensearch.view.reading import Reading


def outline_way(reading: Reading, entry: FailedStart | Transition) -> Iterator[Entry]:
    """The steps of an episode before an entry, from its beginning, which is whole.

    The others have their actions and their pictures. Of a step that went from one shard to another there are
    two entries: the one where it was taken counts.
    """
    entries = reading.entries
    taken: dict[int, int] = {}  # step: sequence number
    for sequence in entries.of_episode(entry.episode):
        step = entries.step[sequence - 1]
        if step < entry.step and (step not in taken or entries.source[sequence - 1] != NONE):
            taken[step] = sequence
    for step, sequence in sorted(taken.items()):
        source = entries.source[sequence - 1]
        if source == NONE:
            yield reading.entry(sequence)
            continue
        yield Transition(
            episode=entry.episode,
            step=step,
            source=source,
            signature=entries.signatures.text(entries.signature[sequence - 1]),
            outcome=Outcome(entries.outcomes.texts[entries.outcome[sequence - 1]]),
            decision=None,
            screen=None,
            choice=None,
            reward=None,
            evidence=Evidence(entries.picture_of(sequence)),
        )
