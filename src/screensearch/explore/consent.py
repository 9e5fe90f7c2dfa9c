"""What a caller must say in so many words before an application may touch what is really theirs."""

from __future__ import annotations

from screensearch.config import Settings
from screensearch.errors import SettingsError


def check_consent(settings: Settings, unsandboxed: bool, allow_irreversible: bool) -> None:
    """Nothing runs outside the sandbox, or does there what cannot be undone, unless the caller says so."""
    if settings.desktop.sandbox:
        return
    if not unsandboxed:
        raise SettingsError(
            "desktop.sandbox is false: the application would run as you, with your files, your network and "
            "your devices; if that is what you want, say so with --unsandboxed (in Python: unsandboxed=True)"
        )
    if settings.guard.irreversible == "allow" and not allow_irreversible:
        raise SettingsError(
            "guard.irreversible is 'allow' without a sandbox: deleted would be deleted, and sent sent; "
            "if that is what you want, say so with --allow-irreversible (in Python: allow_irreversible=True)"
        )
