"""The surroundings of an application that runs without a sandbox."""

from __future__ import annotations

import pytest

from screensearch.environments.desktop.home import Dressing, environment
from screensearch.environments.desktop.settings import AppSettings


@pytest.mark.parametrize("sandbox", [True, False])
def test_an_application_learns_nothing_of_the_places_that_hold_the_run(
    monkeypatch: pytest.MonkeyPatch, sandbox: bool
) -> None:
    for name in ("PGPASSWORD", "PGSERVICE", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "FSSPEC_S3_SECRET"):
        monkeypatch.setenv(name, "secret")
    variables = environment(AppSettings(), Dressing(), run="/run/user/1", sandbox=sandbox)
    assert [name for name in variables if name.startswith(("PG", "AWS_", "FSSPEC_"))] == []
    assert "secret" not in variables.values()
