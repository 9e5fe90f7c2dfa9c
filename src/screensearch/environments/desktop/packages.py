"""Which Debian packages are installed, and the command that installs the others."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable

_DPKG_SECONDS = 20.0


def installed_packages(packages: Iterable[str]) -> set[str] | None:
    """Those of these packages that are installed; None where there is no dpkg to ask."""
    named = sorted(set(packages))
    dpkg = shutil.which("dpkg-query")
    if dpkg is None:
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - names of a profile as words, no shell
            [dpkg, "--show", "--showformat=${Package} ${db:Status-Status}\n", "--", *named],
            capture_output=True,
            text=True,
            timeout=_DPKG_SECONDS,
            check=False,  # it fails when one is unknown, and still tells of the others
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    states = (line.split() for line in answer.stdout.splitlines())
    return {words[0] for words in states if words[1:] == ["installed"]}


def apt_line(packages: Iterable[str]) -> str:
    """The command that installs packages; empty when there are none."""
    named = sorted(packages)
    return f"sudo apt-get install --no-install-recommends {' '.join(named)}" if named else ""
