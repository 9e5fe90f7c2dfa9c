"""A small form in GTK 4, run by the system's Python: the same form as the other toolkits' programs here."""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, Gtk  # noqa: E402

COLOURS = ("Red", "Green", "Blue")
ROWS = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")


def menu_model() -> Gio.Menu:
    """File > Open…, About and Quit; Help > Contents."""
    file_menu = Gio.Menu()
    for label, action in (("Open…", "app.open"), ("About", "app.about"), ("Quit", "app.quit")):
        file_menu.append(label, action)
    help_menu = Gio.Menu()
    help_menu.append("Contents", "app.contents")
    bar = Gio.Menu()
    bar.append_submenu("File", file_menu)
    bar.append_submenu("Help", help_menu)
    return bar


def dialog(window: Gtk.Window, title: str, text: str) -> None:
    """A modal window with one line and a button that closes it."""
    shown = Gtk.Window(title=title, transient_for=window, modal=True)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
    box.append(Gtk.Label(label=text))
    close = Gtk.Button(label="Close")
    close.connect("clicked", lambda _button: shown.destroy())
    box.append(close)
    shown.set_child(box)
    shown.present()


def build(app: Gtk.Application) -> None:
    """The window."""
    window = Gtk.ApplicationWindow(application=app, title="GTK 4 form", default_width=420, default_height=440)
    window.set_show_menubar(True)
    for title, text in (("Open", "Nothing to open"), ("About", "A form"), ("Contents", "No help")):
        action = Gio.SimpleAction.new(title.lower(), None)
        action.connect("activate", lambda *_, title=title, text=text: dialog(window, title, text))
        app.add_action(action)
    leave = Gio.SimpleAction.new("quit", None)
    leave.connect("activate", lambda *_: app.quit())
    app.add_action(leave)

    label = Gtk.Label(label="Not yet")
    button = Gtk.Button(label="Press me")
    button.connect("clicked", lambda _button: label.set_label("Pressed"))
    rows = Gtk.ListBox()
    for text in ROWS:
        rows.append(Gtk.Label(label=text))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
    for widget in (
        button,
        label,
        Gtk.Entry(),
        Gtk.CheckButton(label="Remember"),
        Gtk.DropDown.new_from_strings(list(COLOURS)),
        rows,
    ):
        box.append(widget)
    window.set_child(box)
    window.present()


def main() -> None:
    """Run until the window is closed."""
    app = Gtk.Application(application_id="org.screensearch.Gtk4Form", flags=Gio.ApplicationFlags.NON_UNIQUE)
    app.connect("startup", lambda app: app.set_menubar(menu_model()))
    app.connect("activate", build)
    app.run(None)


if __name__ == "__main__":
    main()
