"""The reactive baselines: a model that is asked for every action, from the screen alone (paper, appendix).

`reactive` is told nothing of what was done before, `reactive-history` the last eight actions. Neither uses
the prior or the statistics of the graph.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from screensearch.select.chat import ChatClient, NotAnswered, model_of
from screensearch.select.policy import Asked, Pick, Policy, Scene, Undecided
from screensearch.select.reactive_answer import LONGEST_TEXT, pick_of
from screensearch.select.reactive_prompt import form_of, messages_of, offers_of
from screensearch.select.settings import SelectSettings

log = logging.getLogger(__name__)


class Reactive(Policy):
    """A model behind an OpenAI-compatible endpoint decides, from the screen alone; no fallback."""

    remembers = False

    def __init__(self, settings: SelectSettings) -> None:
        self._settings = settings
        self._client = ChatClient(settings.reactive)

    async def decide(self, scene: Scene) -> Pick | Undecided:
        """Ask once. Nothing is tried again: what came instead of an action is the outcome of this step."""
        settings = self._settings
        offers = offers_of(scene.candidates, settings.reactive.most_candidates)
        last = settings.reactive.history
        recent = tuple(scene.recent)[-last:] if last else ()
        messages = messages_of(scene, offers, settings.instruction, recent if self.remembers else None)
        try:
            form = form_of(offers, LONGEST_TEXT) if settings.reactive.schema else None
            return pick_of(await self._client.ask(messages, form), offers)
        except NotAnswered as problem:
            log.info("%s decided on nothing: %s", self._client.model, problem)
            return Undecided(problem.why, problem.detail)

    @property
    def asked(self) -> Asked:
        """Every question, also those without an answer."""
        return self._client.asked

    @classmethod
    def settled(cls, settings: SelectSettings) -> SelectSettings:
        """The settings with the name of the model: a run says which one it asked."""
        return replace(settings, reactive=replace(settings.reactive, model=model_of(settings.reactive)))

    @classmethod
    def patience_seconds(cls, settings: SelectSettings) -> float:
        """As long as an answer is waited for."""
        return settings.reactive.timeout_seconds


class ReactiveWithHistory(Reactive):
    """The same, told of the latest actions of the episode as well."""

    remembers = True
