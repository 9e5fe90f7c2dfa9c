"""The run that the graph of a condition begins with: the corpus, or one made of its log by another rule."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from screensearch.config import Settings
from screensearch.explore.remerge import REMADE, remerge
from screensearch.study.conditions import Condition
from screensearch.study.plan import StudyFolder
from screensearch.study.suite import CORPUS, OpenSuite


def initial_run(study: StudyFolder, suite: OpenSuite, condition: Condition) -> Path:
    """Its folder. Where the rule is another, it is made if it is not there: whoever needs it can ask."""
    if not condition.remade(suite.settings):
        return suite.path / CORPUS
    folder = study.initial(suite.suite.name, condition.name)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        remerge(suite.run, _remade(suite.run.settings, condition.settings(suite.settings)), folder)
    return folder


def _remade(corpus: Settings, condition: Settings) -> Settings:
    """The corpus's settings with those tables of a condition that judge what was done."""
    tables = {each.name: getattr(condition, each.name) for each in fields(Settings) if each.name in REMADE}
    return replace(corpus, **tables)
