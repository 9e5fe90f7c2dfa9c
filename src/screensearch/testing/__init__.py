"""The contracts of the pluggable kinds, as checks that a plugin's own tests call: one for each kind.

    def test_it_keeps_the_contract():
        check_selector(least_tried)

Each takes the plugin as the registry holds it, tries it on many drawn cases and raises `ContractBroken`
at the first clause that does not hold. A seed fixes the cases. Errors of ours that a plugin raises
(`PluginUnavailable`, `EnvironmentFailed`, …) come through as they are.
"""

from __future__ import annotations

from screensearch.testing.contract import ContractBroken
from screensearch.testing.embedders import check_embedder
from screensearch.testing.environments import check_environment
from screensearch.testing.guards import check_guard
from screensearch.testing.identifiers import check_identifier
from screensearch.testing.priors import check_prior
from screensearch.testing.selectors import check_selector

__all__ = [
    "ContractBroken",
    "check_embedder",
    "check_environment",
    "check_guard",
    "check_identifier",
    "check_prior",
    "check_selector",
]
