"""To be imported before Ray: says so where Ray would end the process instead.

Ray and usearch each bring a C++ library of their own, and of some of its parts a process has only one, that
of whoever came first. If that was usearch, Ray cannot read a number from its settings (`RAY_…`), and dies.
"""

from __future__ import annotations

import sys

from screensearch.errors import PluginUnavailable

if "usearch" in sys.modules and "ray" not in sys.modules:
    raise PluginUnavailable(
        "this process has used the hybrid identifier or a search, and Ray cannot be loaded after that: "
        "import screensearch.cluster.engine first, or use another process for the cluster"
    )
