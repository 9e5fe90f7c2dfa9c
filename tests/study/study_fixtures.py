"""One small suite, built once for all tests of studies."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_suite import build


@pytest.fixture(scope="session")
def suite_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("suites") / "small")
