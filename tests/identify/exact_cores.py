"""Both implementations of the exact index, for tests that hold for either."""

from __future__ import annotations

import pytest

from screensearch.identify import exact_python
from screensearch.identify.exact import CompiledIndex

CORES = [
    pytest.param(exact_python.ExactIndex, id="python"),
    pytest.param(
        CompiledIndex,
        id="compiled",
        marks=pytest.mark.skipif(CompiledIndex is None, reason="the compiled core is not built"),
    ),
]
