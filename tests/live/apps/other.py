#!/usr/bin/python3
"""Another program: one window, its own process, its own name on the accessibility bus."""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def main() -> None:
    """Show a window until it is closed, or until its button is pressed."""
    GLib.set_prgname("other-program")
    title = sys.argv[1] if len(sys.argv) > 1 else "Another program"
    window = Gtk.Window(title=title, default_width=300, default_height=160)
    window.connect("destroy", Gtk.main_quit)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
    box.add(Gtk.Label(label="This is not the program that was asked for"))
    close = Gtk.Button(label="Go away")
    close.connect("clicked", Gtk.main_quit)
    box.add(close)
    window.add(box)
    window.show_all()
    Gtk.main()


if __name__ == "__main__":
    main()
