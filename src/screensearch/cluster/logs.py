"""How the conductor and the owners of a run log. Workers do so from the moment that they begin to work."""

from __future__ import annotations

import sys

from screensearch.cluster.names import Job
from screensearch.config import settings_from_document
from screensearch.encode.redact import redacting_text
from screensearch.explore.logs import LogFormatter, Whereabouts, log_uncaught, start_logging


def log_for(job: Job, shard: int | None = None) -> None:
    """From now on this process, an actor's, logs as a part of a run: in its form, without its secrets.

    Ray keeps what it writes to standard error in a file on its node.
    """
    redact = redacting_text(settings_from_document(job.settings).redact)
    formatter = LogFormatter(job.log_format, Whereabouts(run=job.run, shard=shard), redact)
    start_logging(sys.stderr, formatter, details_of="screensearch")
    log_uncaught()
