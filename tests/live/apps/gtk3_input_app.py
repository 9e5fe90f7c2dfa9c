"""A window that tells what input reaches it, a JSON line for each event. Run by the system's Python, GTK 3.

F2 opens a modal dialog, F3 a menu, F4 a tooltip, F5 paints 40×30 pixels at (10, 10) of the lower area, F6
makes it answer nothing until a line comes in on its standard input.
"""

import json
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402


def say(**event: object) -> None:
    """One line for the test to read."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Show the window until it is closed."""
    settings = Gtk.Settings.get_default()
    settings.props.gtk_cursor_blink = False
    settings.props.gtk_enable_animations = False
    window = Gtk.Window(title="Tells — ä€", default_width=420, default_height=320)
    view = Gtk.TextView()
    buffer = view.get_buffer()
    area = Gtk.EventBox()
    area.set_size_request(-1, 160)
    place, patch = Gtk.Fixed(), Gtk.EventBox(no_show_all=True)
    patch.set_size_request(40, 30)
    orange = Gtk.CssProvider()
    orange.load_from_data(b"* { background-color: rgb(255, 128, 0); }")
    patch.get_style_context().add_provider(orange, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)
    place.put(patch, 10, 10)
    area.add(place)
    area.add_events(
        Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON_RELEASE_MASK | Gdk.EventMask.SCROLL_MASK
    )
    kept: list[Gtk.Widget] = []

    def text_changed(_buffer: Gtk.TextBuffer) -> None:
        say(text=buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True))

    def button(_area: Gtk.Widget, event: Gdk.EventButton) -> bool:
        say(button=event.button, times=event.type.value_nick, x=event.x_root, y=event.y_root)
        return True

    def scrolled(_area: Gtk.Widget, event: Gdk.EventScroll) -> bool:
        say(scroll=event.direction.value_nick)
        return True

    def key(_window: Gtk.Widget, event: Gdk.EventKey) -> bool:
        say(key=Gdk.keyval_name(event.keyval), state=int(event.state))
        name = Gdk.keyval_name(event.keyval)
        if name == "F2":
            dialog = Gtk.Dialog(title="Sure?", transient_for=window, modal=True)
            dialog.add_button("Close", Gtk.ResponseType.CLOSE)
            dialog.connect("response", lambda shown, _answer: shown.destroy())
            dialog.show_all()
        elif name == "F3":
            menu = Gtk.Menu()
            menu.append(Gtk.MenuItem(label="An entry"))
            menu.show_all()
            kept.append(menu)
            menu.popup_at_widget(area, Gdk.Gravity.CENTER, Gdk.Gravity.NORTH_WEST, event)
        elif name == "F4":
            tip = Gtk.Window(type=Gtk.WindowType.POPUP, type_hint=Gdk.WindowTypeHint.TOOLTIP)
            tip.add(Gtk.Label(label="A tip"))
            tip.move(5, 5)
            tip.show_all()
            kept.append(tip)
        elif name == "F5":
            patch.show()
        elif name == "F6":
            sys.stdin.readline()
        return name.startswith("F")

    buffer.connect("changed", text_changed)
    area.connect("button-press-event", button)
    area.connect("scroll-event", scrolled)
    window.connect("key-press-event", key)
    window.connect("delete-event", lambda *_: say(closing=True))
    window.connect("destroy", Gtk.main_quit)
    column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    column.pack_start(view, True, True, 0)
    column.pack_start(area, False, False, 0)
    window.add(column)
    window.show_all()
    view.grab_focus()
    Gtk.main()


if __name__ == "__main__":
    main()
