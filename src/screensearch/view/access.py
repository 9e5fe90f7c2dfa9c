"""Who may ask: only the browser that was given the address, and only by that address.

A page of another site can make a browser ask a server on loopback, and a name that it owns can be made to
lead there. Against the first, a cookie that is only sent along by our own pages; against the second, the
`Host` that was asked for is looked at. The token is in the printed address once, then only in the cookie.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from screensearch.errors import SettingsError

LOOPBACK = "127.0.0.1"

_EVERY = ("0.0.0.0", "::")  # every address of the machine  # noqa: S104

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""What every answer carries: nothing but our own files is run, shown or asked."""


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


def check_host(host: str, *, elsewhere: bool) -> str:
    """The host to bind to. One that other machines reach is refused unless that is wanted."""
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError as problem:
        raise SettingsError(f"--host {host!r} is no address: give one such as {LOOPBACK}") from problem
    if not loopback and not elsewhere:
        raise SettingsError(
            f"--host {host} can be reached from other machines, and what is sent is not encrypted: "
            f"leave it at {LOOPBACK} and tunnel the port (ssh -L), or add --allow-remote"
        )
    return host


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Access:
    """What a request must carry."""

    host: str
    port: int
    token: str = field(default_factory=new_token, repr=False)

    @property
    def address(self) -> str:
        """Where the page is, with the token: for the one who started the server."""
        return f"{self.origin}/?token={self.token}"

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def cookie(self) -> str:
        """The name of the cookie. Cookies of a host are those of all its ports."""
        return f"screensearch-{self.port}"

    def knows(self, token: str | None) -> bool:
        """Whether this is the token."""
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    def refuses(self, method: str, headers: Mapping[str, str], cookies: Mapping[str, str]) -> str | None:
        """Why a request is not answered, or None if it is. A token in the address is looked at elsewhere."""
        foreign = self.is_foreign(headers)
        if foreign is not None:
            return foreign
        if method not in ("GET", "HEAD"):
            return f"the viewer only reads: {method} is not answered"
        bearer = headers.get("authorization", "")
        if self.knows(cookies.get(self.cookie)) or self.knows(bearer.removeprefix("Bearer ")):
            return None
        return "open the address that `screensearch view` printed: it has the token that this page needs"

    def is_foreign(self, headers: Mapping[str, str], *, followed: bool = False) -> str | None:
        """Why a request is none of our own pages' or of a person's, who may have followed a link, if so."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return f"this server is {self.origin} and is asked for by no other name"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "another site asked for this"
        if not followed and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "another site asked for this"
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a `Host` names this server. A browser leaves port 80 out.

        One bound to every address of the machine is asked for by any of them, as numbers: a name that
        another site owns may lead here, a number cannot be owned.
        """
        name, port = (host, "80") if host.endswith("]") or ":" not in host else host.rsplit(":", 1)
        if port != str(self.port):
            return False
        name = name.removeprefix("[").removesuffix("]")
        names = {self.host, "localhost"} if self.host in (LOOPBACK, "localhost", "::1") else {self.host}
        return name in names or (self.host in _EVERY and _is_number(name))
