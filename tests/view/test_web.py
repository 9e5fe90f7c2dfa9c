"""The viewer's page: its own checks, run as part of ours, and what its files may not say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
WEB = PROJECT / "web"
STATIC = PROJECT / "src/screensearch/view/static"
TOOLS = Path(sys.executable).parent

built = pytest.mark.skipif(not (WEB / "node_modules").exists(), reason="scripts/setup has not built the page")


@built
def test_the_page_is_typed_and_its_own_tests_pass() -> None:
    done = subprocess.run(
        [TOOLS / "npm", "run", "check"],
        cwd=WEB,
        env=os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@built
def test_the_page_has_no_inline_script_or_style() -> None:
    page = (STATIC / "index.html").read_text()
    assert page.count("<script") == page.count("<script type=") == page.count(" src=")
    assert "<style" not in page
    assert " style=" not in page


@built
def test_a_report_gets_one_plain_script_and_one_style_sheet_that_name_no_other_file() -> None:
    script = (STATIC / "report/report.js").read_text()
    style = (STATIC / "report/report.css").read_text()
    assert sorted(path.name for path in (STATIC / "report").iterdir()) == ["report.css", "report.js"]
    # A graph library has a method of that name; a dynamic import is of a string.
    assert re.search(r"import\(\s*[\"'`]", script) is None
    assert "import.meta" not in script
    assert script.startswith("(function()"), "a module does not load from disk"
    assert "url(" not in style.replace("url(#", "").replace("url(data:", "")
    assert "@import" not in style


def test_every_package_of_the_page_is_locked_with_its_hash() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    asked = json.loads((WEB / "package.json").read_text())
    wanted = asked["dependencies"] | asked["devDependencies"]
    assert all(version[0].isdigit() for version in wanted.values()), "exact versions only"
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert {f"node_modules/{name}": version for name, version in wanted.items()}.items() <= {
        name: each["version"] for name, each in packages.items()
    }.items()
    assert [name for name, each in packages.items() if "integrity" not in each] == []
    # Where they come from is the reader's own configuration.
    assert [name for name, each in packages.items() if "resolved" in each] == []
