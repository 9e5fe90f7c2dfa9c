"""One vocabulary of roles for every backend: UIA's control types in lower case.

The paper's token tables speak of these names, so AT-SPI and ARIA roles are translated into them
where they are read. A name that no table knows becomes ``custom``, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from screensearch.errors import SettingsError

Family = Literal["uia", "atspi", "aria"]

CUSTOM = "custom"

ROLES: frozenset[str] = frozenset(
    """
    window pane menubar menu menuitem toolbar button edit document text image list listitem tab tabitem
    tree treeitem checkbox radiobutton combobox slider spinner statusbar titlebar table dataitem header
    headeritem group hyperlink progressbar scrollbar separator splitbutton thumb tooltip calendar custom
    """.split()  # noqa: SIM905 (a paragraph reads better than a column)
)

CLICKABLE_ROLES: frozenset[str] = frozenset(
    """
    button splitbutton menuitem listitem tabitem treeitem dataitem headeritem checkbox radiobutton
    combobox hyperlink spinner slider
    """.split()  # noqa: SIM905 (a paragraph reads better than a column)
)
"""Roles that a click is meant for; a backend may also mark others by the actions they offer."""

EDITABLE_ROLES: frozenset[str] = frozenset({"edit", "document", "combobox", "spinner"})
"""Roles that can take text, if the backend also finds them editable."""


def _table(text: str) -> dict[str, str]:
    """Read lines of ``role: native name, native name, …``."""
    pairs = (line.split(":") for line in text.strip().splitlines())
    return {_plain(native): role.strip() for role, natives in pairs for native in natives.split(",")}


def _plain(native: str) -> str:
    """Native spellings vary (``PushButton``, ``push button``, ``ROLE_PUSH_BUTTON``): letters alone remain."""
    return "".join(character for character in native.casefold() if character.isalnum())


_UIA = {role: role for role in ROLES} | _table(
    """
    table: data grid
    toolbar: app bar
    custom: semantic zoom
    """
)

_ATSPI = _table(
    """
    window: frame, window, dialog, alert, file chooser, color chooser, font chooser, internal frame, desktop frame, input method window, notification
    pane: panel, filler, scroll pane, split pane, viewport, layered pane, glass pane, root pane, option pane, directory pane, drawing area, canvas, html container, page, application, embedded, focus traversable, info bar, redundant object
    menubar: menu bar
    menu: popup menu
    menuitem: menu item, menu, check menu item, radio menu item, tear off menu item
    toolbar: tool bar, edit bar
    button: push button, button, toggle button, arrow, desktop icon
    splitbutton: push button menu
    edit: entry, text, password text, date editor, terminal, autocomplete
    document: document frame, document text, document web, document spreadsheet, document presentation, document email
    text: label, static, paragraph, heading, caption, accelerator label, comment, block quote, description term, description value, footnote, content deletion, content insertion, mark, suggestion, subscript, superscript, math, math fraction, math root, definition, timer, log, marquee
    image: image, icon, animation, chart, image map, video, audio, rating
    list: list, list box, description list
    listitem: list item
    tab: page tab list
    tabitem: page tab
    tree: tree
    treeitem: tree item
    checkbox: check box, switch
    radiobutton: radio button
    combobox: combo box
    slider: slider, dial
    spinner: spin button
    statusbar: status bar
    titlebar: title bar
    table: table, tree table
    dataitem: table cell, table row
    headeritem: column header, row header, table column header, table row header
    group: grouping, section, form, landmark, article, header, footer
    hyperlink: link
    progressbar: progress bar, level bar
    scrollbar: scroll bar
    separator: separator, ruler
    tooltip: tool tip
    calendar: calendar
    custom: unknown, invalid, extended
    """  # noqa: E501 (a table reads better in one line per role)
)

_ARIA = _table(
    """
    window: dialog, alert dialog, window
    pane: application, main, tab panel, generic, none, presentation
    menubar: menubar
    menu: menu
    menuitem: menuitem, menuitemcheckbox, menuitemradio
    toolbar: toolbar
    button: button
    edit: textbox, searchbox
    document: document
    text: text, heading, paragraph, blockquote, code, strong, emphasis, term, definition, caption, legend, math, note, alert, log, marquee, timer, time, mark, deletion, insertion, subscript, superscript, label text, static text
    image: img, image, figure, graphics document, graphics object, graphics symbol
    list: list, listbox, feed, directory
    listitem: listitem, option
    tab: tablist
    tabitem: tab
    tree: tree
    treeitem: treeitem
    checkbox: checkbox, switch
    radiobutton: radio
    combobox: combobox
    slider: slider
    spinner: spinbutton
    statusbar: status
    table: table, grid, treegrid
    dataitem: cell, gridcell, row
    headeritem: columnheader, rowheader
    group: group, radiogroup, region, article, form, navigation, banner, contentinfo, complementary, search, rowgroup, section
    hyperlink: link
    progressbar: progressbar, meter
    scrollbar: scrollbar
    separator: separator
    tooltip: tooltip
    """  # noqa: E501
)

_FAMILIES: Mapping[str, Mapping[str, str]] = {"uia": _UIA, "atspi": _ATSPI, "aria": _ARIA}


class UnknownRoles(Mapping[str, int]):
    """How often each role name was met that no table knows. Bounded: hostile trees invent names."""

    MOST_NAMES = 1000
    OTHERS = "(others)"

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts: dict[str, int] = dict(counts or {})

    def add(self, native: str) -> None:
        """Count one element whose role is `native`; past the bound it counts as ``(others)``."""
        name = native[:80]
        if name not in self._counts and len(self._counts) >= self.MOST_NAMES:
            name = self.OTHERS
        self._counts[name] = self._counts.get(name, 0) + 1

    @property
    def total(self) -> int:
        return sum(self._counts.values())

    def copy(self) -> UnknownRoles:
        return UnknownRoles(self._counts)

    def __getitem__(self, name: str) -> int:
        return self._counts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __repr__(self) -> str:
        return f"UnknownRoles({self._counts!r})"


def map_role(native: str, *, family: str = "uia", unknown: UnknownRoles | None = None) -> str:
    """The role of our vocabulary for a toolkit's own name; ``custom``, counted in `unknown`, if none."""
    table = _FAMILIES.get(family)
    if table is None:
        raise SettingsError(f"no role family {family!r} (known: {', '.join(_FAMILIES)})")
    if family == "uia" and native in ROLES:
        return native
    role = table.get(_plain(native[:80]).removeprefix("controltype").removeprefix("role"))
    if role is None:
        if unknown is not None:
            unknown.add(native)
        return CUSTOM
    return role
