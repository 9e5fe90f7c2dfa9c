"""The two ablations of state identity (paper, sensitivity appendix): no tolerance, and no text."""

from __future__ import annotations

from dataclasses import replace

from screensearch.encode.embedder import Embedder
from screensearch.identify.exact import ExactIdentifier, describe_index, make_index
from screensearch.identify.resolve import IdentifySettings
from screensearch.identify.verify import MergeSettings


def merge_of(settings: IdentifySettings) -> MergeSettings:
    """The merge rule that an identifier decides by: that of the settings, but for the two ablations.

    `hybrid` decides by it among what it retrieves. A plugin of somebody else's may have a rule of its own,
    which is never below this one.
    """
    if settings.identifier == "identical":
        return _IDENTICAL
    return _content_free(settings.merge) if settings.identifier == "content_free" else settings.merge


_IDENTICAL = MergeSettings(threshold=1.0)


def _content_free(merge: MergeSettings) -> MergeSettings:
    return MergeSettings(threshold=merge.threshold, role_weight=1.0, text_weight=0.0)


class IdenticalIdentifier(ExactIdentifier):
    """Only a screen with exactly the same atoms is the same state: the exact rule at τ = 1."""

    def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
        super().__init__(replace(settings, merge=_IDENTICAL), embedder, index=make_index(_IDENTICAL))

    def describe(self) -> str:
        return f"identical ({describe_index(self._index)})"


class ContentFreeIdentifier(ExactIdentifier):
    """Layout alone: J(roles) ≥ τ; what is written on the screen does not count."""

    def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
        merge = _content_free(settings.merge)
        super().__init__(replace(settings, merge=merge), embedder, index=make_index(merge))

    def describe(self) -> str:
        return f"content_free ({describe_index(self._index)})"
