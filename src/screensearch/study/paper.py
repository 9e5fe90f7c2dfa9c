"""What the paper published of the matched study, to be printed beside ours (its tables 4 to 6).

Its applications are of Windows; ours stand in for them, so figures are to be compared by their order and
their signs, not by their size.
"""

from __future__ import annotations

from collections.abc import Mapping

from screensearch.study.metrics import STEPS
from screensearch.study.trace import Metrics

NAN = float("nan")

STAND_INS = {
    "mousepad": "Notepad",
    "thunar": "File Explorer",
    "libreoffice-calc": "LibreOffice Calc",
}
"""The paper's application that each of ours stands in for."""

SELECTOR: Mapping[tuple[str, str], Metrics] = {
    ("Notepad", "puct"): Metrics(1.000, 32.900, NAN, 361.960, 0.0608, NAN, 0.9796, NAN),
    ("Notepad", "greedy"): Metrics(0.240, 11.560, NAN, 78.500, -0.0505, NAN, 0.9951, NAN),
    ("File Explorer", "puct"): Metrics(3.140, 98.080, NAN, 1076.400, 0.0351, NAN, 0.9357, NAN),
    ("File Explorer", "greedy"): Metrics(0.040, 1.920, NAN, 55.640, 0.0691, NAN, 0.9992, NAN),
    ("LibreOffice Calc", "puct"): Metrics(0.580, 20.480, NAN, 709.720, -0.0711, NAN, 0.9882, NAN),
    ("LibreOffice Calc", "greedy"): Metrics(0.020, 0.980, NAN, 49.940, 0.0182, NAN, 0.9996, NAN),
    ("", "puct"): Metrics(1.573, 50.487, NAN, 716.027, 0.0083, NAN, 0.9678, NAN),
    ("", "greedy"): Metrics(0.100, 4.820, NAN, 61.360, 0.0123, NAN, 0.9980, NAN),
}
"""Table 4, by the paper's application and our name of the condition; "" is the macro-average."""

COMPONENTS: Mapping[tuple[str, str], Metrics] = {
    ("", "full"): Metrics(1.573, 50.487, 25.727, 716.027, 0.0083, 0.6568, 0.9678, 0.8593),
    ("", "novelty"): Metrics(1.427, 46.347, 31.153, 901.533, -0.0346, 0.4907, 0.9705, 0.8828),
    ("", "ambiguity"): Metrics(1.047, 34.300, 26.640, 761.987, 0.0050, 0.6818, 0.9786, 0.9000),
    ("", "prior"): Metrics(2.233, 71.867, 36.300, 982.900, 0.0218, 0.7068, 0.9544, 0.8153),
    ("", "uniform"): Metrics(4.733, 132.527, 41.880, 1094.720, 0.0343, 0.7983, 0.9028, 0.6937),
    ("", "identical"): Metrics(2.100, 67.847, 36.227, 997.240, -0.0155, 0.6038, 0.9570, 0.8651),
}
"""Table "Full component metrics", likewise: the paper gives it for the macro-average only."""

SENSITIVITY: Mapping[tuple[str, str], Metrics] = {
    ("", "base"): Metrics(NAN, 50.487, NAN, NAN, 0.0083, NAN, 0.9678, NAN),
    ("", "tau-0.90"): Metrics(NAN, 54.573, NAN, NAN, 0.0164, NAN, NAN, NAN),
    ("", "tau-0.96"): Metrics(NAN, 33.847, NAN, NAN, -0.0371, NAN, NAN, NAN),
    ("", "kappa-5"): Metrics(NAN, 46.901, NAN, NAN, NAN, NAN, 0.9714, NAN),
    ("", "kappa-50"): Metrics(NAN, 47.353, NAN, NAN, NAN, NAN, 0.9688, NAN),
    ("", "u0-0.25"): Metrics(NAN, 31.073, NAN, NAN, NAN, NAN, 0.9781, NAN),
    ("", "u0-0.75"): Metrics(NAN, 65.307, NAN, NAN, NAN, NAN, 0.9554, NAN),
}
"""Table "One-factor-at-a-time sensitivity" and the text below it, likewise."""

PAIR_F1 = {"tau-0.90": 0.632, "base": 0.622, "tau-0.96": 0.594}
FALSE_MERGE = {"tau-0.90": 0.009, "base": 0.005, "tau-0.96": 0.004}
"""Against the paper's persisted UIA ids, over its three applications."""

PUBLISHED: Mapping[str, Mapping[tuple[str, str], Metrics]] = {
    "selector": SELECTOR,
    "components": COMPONENTS,
    "sensitivity": SENSITIVITY,
}


def published(study: str, suites: tuple[str, ...], condition: str, steps: int) -> Metrics | None:
    """The paper's figures beside ours: of the application that a suite stands in for, or of all three.

    The macro-average is the paper's only over all three stand-ins, and all of it only for its own budget;
    anything else has no counterpart.
    """
    figures = PUBLISHED.get(study, {})
    if steps != STEPS:
        return None
    if len(suites) == 1:
        named = STAND_INS.get(suites[0])
        return None if named is None else figures.get((named, condition))
    return figures.get(("", condition)) if set(suites) == set(STAND_INS) else None
