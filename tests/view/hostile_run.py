"""A run of an application that means harm: whatever it can say is something that a page must not obey."""

from __future__ import annotations

import zlib
from pathlib import Path

from screensearch.act.signature import signature_of
from screensearch.config import Settings
from screensearch.domain.action import Action
from screensearch.domain.document import encode_observation
from screensearch.domain.screen import Box, Element, Image, Observation, Window
from screensearch.domain.transition import Choice, Entry, EpisodeId, Evidence, Outcome
from screensearch.encode.encoder import Encoder
from screensearch.errors import FormatError
from screensearch.explore.beginning import new_manifest
from screensearch.explore.messages import Begin, BeginFailed, Message, Report, Sighting
from screensearch.explore.store import ShardStore, Submission
from screensearch.record.artifacts import Artifacts
from screensearch.record.run import create_run, own

MARK = "hostile_ran"
"""What a text sets in the page if it is ever run. Lower case, as texts are once they are normalised."""

TEXTS = (
    f'<img src=x onerror="window.{MARK}=1">',
    f"</script><script>window.{MARK}=2</script>",
    f"\"'><svg/onload=window.{MARK}=3>",
    f"javascript:window.{MARK}=4",
    f'<iframe srcdoc="<script>parent.{MARK}=5</script>"></iframe><!--',
    f"${{window.{MARK}=6}} {{{{constructor.constructor('window.{MARK}=7')()}}}}",
    "__proto__",
    "\u202etxt.exe\u2066 \u05d0\u05d1\u05d2 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "nul\x00bell\x07escape\x1b[31m\u2028line\u2029paragraph\ufeff",
    "Z\u0351\u036b\u0343a\u0363\u0328l\u034eg\u0321o\u0334" * 40,
    "W" * 20_000,
    "\U0001f9d1\u200d\U0001f52c \U000e0001\uffff\ufdd0",
)
WINDOW = Box(0, 0, 400, 300)


def make_hostile_run(folder: Path) -> None:
    """Every text is a label, a value, a title, something typed, a note and part of a configuration."""
    settings = Settings()
    create_run(folder, new_manifest(f"synthetic:{TEXTS[1]}", settings, seed=1, store="", artifacts=""))
    with own(folder) as run:
        log = run.write_log()
        try:
            _Teller(ShardStore(log, settings), run.artifacts).tell()
        finally:
            log.close()


def observe(text: str) -> Observation:
    """A window in which everything is called so."""
    roles = ("button", "edit", "menuitem", "link", "text", "checkbox", text)
    elements = tuple(
        Element(
            role,
            f"{text} {place}",
            Box(20, 20 + 36 * place, 300, 30),
            TEXTS[0],
            clickable=role != "edit",
            editable=role == "edit",
            value=text,
            handle=text,
        )
        for place, role in enumerate(roles)
    )
    return Observation(elements, Window(text, "dialog", WINDOW, TEXTS[0]), display_mode=TEXTS[0])


class _Teller:
    def __init__(self, store: ShardStore, artifacts: Artifacts) -> None:
        self._store = store
        self._picture = artifacts.put_image(Image(400, 300, bytes([90, 120, 150]) * 120_000))
        self._encoder = Encoder(store.settings.encode)
        self._episode = -1
        self._step = 0

    def tell(self) -> None:
        """A chain over all texts, twice with another end, then everything that can fail."""
        for turn in range(2):
            state = self._begin()
            for here, there in zip(TEXTS, (*TEXTS[1:], TEXTS[turn]), strict=True):
                state = self._act(here, state, there)
        for outcome in (Outcome.CRASH, Outcome.HANG, Outcome.EXIT, Outcome.CAPTURE):
            self._act(TEXTS[0], self._begin(), None, outcome)
        self._episode += 1
        configuration = ((TEXTS[0], TEXTS[1]),)
        episode = EpisodeId(0, self._episode)
        self._take(BeginFailed(episode, Outcome.CRASH, self._evidence(), configuration, TEXTS[1]))
        self._store.commit()

    def _begin(self) -> int:
        self._episode += 1
        self._step = 0
        configuration = tuple((text[:40], text) for text in TEXTS[:8])
        episode = EpisodeId(0, self._episode)
        begin = Begin(episode, self._sight(TEXTS[0]), self._evidence(), configuration)
        return self._landed(begin)

    def _act(self, here: str, state: int, there: str | None, outcome: Outcome = Outcome.OK) -> int:
        self._step += 1
        element = observe(here).elements[self._step % 2]
        typed = (("text", here[:200].replace("\x00", "")),)
        action = (
            Action("focus_type@1", element, typed) if element.editable else Action("focus_click@1", element)
        )
        choice = Choice(str(signature_of(action, WINDOW)), self._store.graph.sequence, 7, 0.1, 0.0, 0, 0.1)
        sighting = self._sight(TEXTS[-1]) if outcome is Outcome.CAPTURE else there and self._sight(there)
        report = Report(
            EpisodeId(0, self._episode), self._step, state, choice, outcome, sighting or None,
            self._evidence(), note=here,
        )  # fmt: skip
        return self._landed(report)

    def _landed(self, message: Message) -> int:
        decision = self._take(message).decision
        return -1 if decision is None else decision.state

    def _take(self, message: Message) -> Entry:
        (entry,) = self._store.take([Submission(message)]).taken
        if isinstance(entry, FormatError):
            raise entry
        return entry

    def _sight(self, text: str) -> Sighting:
        observation = observe(text)
        elements = zlib.compress(encode_observation(observation), 1)
        return Sighting(screen=self._encoder.encode(observation), elements=elements)

    def _evidence(self) -> Evidence:
        return Evidence(self._picture, 0.1, 0.01, WINDOW)
