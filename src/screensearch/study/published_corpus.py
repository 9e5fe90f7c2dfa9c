"""What the paper published of its corpus and of its ambiguity audit, and who stands in for whom there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screensearch.study.paper import STAND_INS


@dataclass(frozen=True, slots=True)
class PublishedCorpus:
    """A row of the paper's corpus table."""

    worker_hours: int  # its VM hours
    captures: int
    observations: int  # its screenshots
    unique: int
    states: int
    state_rate: float  # per cent
    windows: int  # its 3-step traces


CORPUS: Mapping[str, PublishedCorpus] = {
    "Clock": PublishedCorpus(214, 1, 42_500, 1_366, 1_366, 3.21, 3_701),
    "File Explorer": PublishedCorpus(366, 8, 52_763, 3_985, 3_985, 7.55, 2_662),
    "Microsoft Excel": PublishedCorpus(663, 6, 86_025, 2_585, 2_585, 3.00, 4_324),
    "Microsoft Word": PublishedCorpus(1_377, 1, 213_613, 8_759, 8_759, 4.10, 10_777),
    "Microsoft PowerPoint": PublishedCorpus(1_809, 1, 466_115, 8_124, 8_124, 1.74, 15_834),
    "Notepad": PublishedCorpus(110, 1, 30_445, 314, 314, 1.03, 612),
    "Settings": PublishedCorpus(460, 20, 53_037, 2_310, 2_310, 4.36, 13_457),
    "VS Code": PublishedCorpus(250, 1, 39_533, 1_944, 1_944, 4.92, 1_995),
    "LibreOffice Writer": PublishedCorpus(92, 2, 7_840, 2_420, 587, 7.49, 924),
    "LibreOffice Calc": PublishedCorpus(85, 1, 7_841, 2_642, 614, 7.83, 396),
    "LibreOffice Math": PublishedCorpus(98, 1, 7_694, 5_453, 558, 7.25, 1_088),
}
"""By application, in the paper's order."""

OVERALL = PublishedCorpus(5_524, 43, 1_007_406, 39_902, 31_146, 3.09, 55_770)

PRIOR_RATES = {"heuristic": 4.10, "uniform": 1.74}
"""Unique-state discovery by prior, per cent: as it happens, Word's and PowerPoint's in the corpus table."""


@dataclass(frozen=True, slots=True)
class PublishedSplit:
    """A row of the paper's table of repeated state–action groups."""

    groups: int
    pooled: float
    within: float
    between: float


CONTEXT: Mapping[str, PublishedSplit] = {
    "Notepad": PublishedSplit(715, 0.158, 0.005, 0.152),
    "File Explorer": PublishedSplit(611, 0.530, 0.001, 0.529),
    "LibreOffice Calc": PublishedSplit(262, 0.120, 0.000, 0.120),
}

_COUNTERPARTS: Mapping[str, str] = {
    **STAND_INS,
    "gnome-clocks": "Clock",
    "libreoffice-impress": "Microsoft PowerPoint",
    "xfce4-settings": "Settings",
    "featherpad": "VS Code",
    "libreoffice-writer": "LibreOffice Writer",
    "libreoffice-math": "LibreOffice Math",
}

_DARK_AND_LARGE: Mapping[str, str] = {
    "libreoffice-calc": "Microsoft Excel",
    "libreoffice-writer": "Microsoft Word",
}
"""LibreOffice in the dark with larger text stands for Microsoft's, as in the campaign `paper`."""


def counterpart(application: str, display_modes: Sequence[str], text_scales: Sequence[float]) -> str:
    """The paper's application that ours stands in for, in the look that it was explored in; "" for none."""
    dark_and_large = set(display_modes) == {"dark"} and min(text_scales, default=1.0) > 1
    looks = _DARK_AND_LARGE if dark_and_large else _COUNTERPARTS
    return looks.get(application) or _COUNTERPARTS.get(application, "")
