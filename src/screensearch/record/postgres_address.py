"""What the address of a store may hold: it is written down with the run, so nothing that is secret."""

from __future__ import annotations

from screensearch.errors import StoreFailed

ALLOWED = (
    *("host", "hostaddr", "port", "user", "dbname", "service", "passfile", "options", "connect_timeout"),
    *("sslmode", "sslnegotiation", "sslrootcert", "sslcert", "sslkey", "sslcertmode", "sslcrl", "sslcrldir"),
    *("sslsni", "ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "require_auth"),
    *("gssencmode", "krbsrvname", "gsslib", "gssdelegation", "target_session_attrs", "load_balance_hosts"),
)
"""The parameters that an address may give: none of them is a secret, and none is ours to decide."""


def read_parts(parts: dict[str, str]) -> dict[str, str]:
    """The parts of an address, if it holds no password and nothing else that must not be written down."""
    if parts.get("password"):
        raise StoreFailed(
            "the address of the store holds a password, which would be written down with the run: leave it "
            "out, and give it in ~/.pgpass or in the environment variable PGPASSWORD"
        )
    unknown = sorted(name for name in parts if name not in ALLOWED and name != "password")
    if unknown:
        raise StoreFailed(
            f"the address of the store gives {', '.join(unknown)}, which cannot be part of it (what can: "
            f"{', '.join(ALLOWED)}); what is secret is read from libpq's own files and environment variables"
        )
    if not parts.get("connect_timeout", "1").isdecimal():
        raise StoreFailed("connect_timeout in the address of the store must be a whole number of seconds")
    return {name: value for name, value in parts.items() if value}
