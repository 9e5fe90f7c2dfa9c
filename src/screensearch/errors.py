"""Every error a user can meet. Each says what, which value, and what to do about it."""

from __future__ import annotations


class ScreenSearchError(Exception):
    """The base of all our errors: the command line prints these without a traceback."""


class SettingsError(ScreenSearchError):
    """A preset, a settings file or a `--set` names something unknown or out of range."""


class UnknownPlugin(ScreenSearchError):
    """No plugin of that kind has that name."""


class PluginUnavailable(ScreenSearchError):
    """The plugin exists, but something it needs (an extra, a key) is not there."""


class PluginMisbehaved(ScreenSearchError):
    """A plugin returned something that its contract rules out."""


class FormatError(ScreenSearchError):
    """Stored or given data is not what it should be (truncated, malformed)."""


class NewerFormat(FormatError):
    """Stored data was written by a newer version of this project."""


class RunBusy(ScreenSearchError):
    """Another process owns the run."""


class RunContended(RunBusy):
    """Another process opens or closes the log of the run at this moment: the next try shows whose it is."""


class RunNotFound(ScreenSearchError):
    """There is no run at that place."""


class StoreFailed(ScreenSearchError):
    """The log could not be made durable: nothing after the last acknowledgement counts."""


class LogExists(StoreFailed):
    """There is a log where a new one should be made: it is never overwritten."""


class AcknowledgedLost(StoreFailed):
    """The store does not hold what it had acknowledged: nobody is to write on as if it did."""


class NotLetIn(StoreFailed):
    """The store wants a password, and there is none here: to wait does not help."""


class DamagedStore(StoreFailed, FormatError):
    """What was stored cannot be read any more: a failure of storage, never the fault of who asked."""


class EnvironmentFailed(ScreenSearchError):
    """The environment could not be started or driven: an infrastructure failure, never an outcome."""


class HopelessStart(EnvironmentFailed):
    """The environment could not be started, and another try would end the same way."""


class EmbeddingFailed(ScreenSearchError):
    """An embedder gave no usable vectors."""
