from __future__ import annotations

import pytest

from screensearch.domain.roles import CLICKABLE_ROLES, CUSTOM, EDITABLE_ROLES, ROLES, UnknownRoles, map_role
from screensearch.errors import SettingsError


@pytest.mark.parametrize(
    ("family", "native", "role"),
    [
        ("uia", "Button", "button"),
        ("uia", "ControlType.MenuItem", "menuitem"),
        ("uia", "DataGrid", "table"),
        ("atspi", "push button", "button"),
        ("atspi", "ROLE_PUSH_BUTTON", "button"),
        ("atspi", "toggle button", "button"),
        ("atspi", "page tab", "tabitem"),
        ("atspi", "page tab list", "tab"),
        ("atspi", "entry", "edit"),
        ("atspi", "text", "edit"),
        ("atspi", "label", "text"),
        ("atspi", "document text", "document"),
        ("atspi", "menu", "menuitem"),
        ("atspi", "popup menu", "menu"),
        ("atspi", "table cell", "dataitem"),
        ("aria", "textbox", "edit"),
        ("aria", "tab", "tabitem"),
        ("aria", "link", "hyperlink"),
        ("aria", "menuitemcheckbox", "menuitem"),
    ],
)
def test_native_roles_get_the_names_of_the_paper(family: str, native: str, role: str) -> None:
    assert map_role(native, family=family) == role


@pytest.mark.parametrize("role", sorted(ROLES))
def test_our_own_roles_are_kept(role: str) -> None:
    unknown = UnknownRoles()
    assert map_role(role, unknown=unknown) == role
    assert not unknown


def test_clickable_and_editable_roles_are_roles() -> None:
    assert CLICKABLE_ROLES <= ROLES
    assert EDITABLE_ROLES <= ROLES


@pytest.mark.parametrize("family", ["uia", "atspi", "aria"])
def test_an_unknown_role_is_custom_and_counted(family: str) -> None:
    unknown = UnknownRoles()
    assert map_role("flux capacitor", family=family, unknown=unknown) == CUSTOM
    assert map_role("flux capacitor", family=family, unknown=unknown) == CUSTOM
    assert dict(unknown) == {"flux capacitor": 2}
    assert unknown.total == 2


def test_invented_roles_cannot_fill_the_memory() -> None:
    unknown = UnknownRoles()
    for number in range(UnknownRoles.MOST_NAMES + 5):
        map_role(f"invented {number}" + "x" * 10_000, unknown=unknown)
    assert len(unknown) == UnknownRoles.MOST_NAMES + 1
    assert unknown[UnknownRoles.OTHERS] == 5
    assert all(len(name) <= 80 for name in unknown)


def test_an_unknown_family_is_named() -> None:
    with pytest.raises(SettingsError, match=r"'motif'.*known: uia, atspi, aria"):
        map_role("button", family="motif")
