#!/usr/bin/python3
"""The trouble maker: a GTK 3 program that does everything an application should not do.

    trouble.py [EXTRA ...] [--stubborn] [--at-start=WAY] [DOCUMENT.txt]

The plain window has a menu bar, a label that says what happened last, and a few buttons. Each EXTRA builds
one more piece, so that the window stays small for those who do not need it:

    ends       Crash (SIGSEGV), Abort (SIGABRT), Exit with 3, Quit, Hang (for ever), Loop (for ever, and
               busy), Freeze a while
    greedy     Take memory (all there is), Take processes (all there are, and keep them)
    windows    Open another program, Modal dialog, File chooser, Late tree
    inputs     an entry, a password, a combo box, a check box
    secrets    labels with an e-mail address, a card number and a token
    restless   Tick (a label that changes every 100 ms), a spinner
    elusive    Runaway (a button that is elsewhere when it is clicked), Vanish (one that goes when pointed at)
    list       a list with a context menu; a double click on a row opens a dialog
    table      100,000 rows
    flood      10,000 labels in a scrolled box
    deep       a label under 80 boxes

``--at-start`` ends or hangs before there is anything to see: crash (SIGSEGV), exit (status 3), quit (status
0), hang (for ever, without a window), mute (for ever, with a window that nobody answers for). So
does a document that is called exit.txt; others are looked at no further.

``--stubborn`` shows a question when the window is closed. `other.py` is looked for beside this file: in a
sandbox it is there if this file is the program itself, and not a word after ``python3``.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

EXTRAS = (
    "ends",
    "greedy",
    "windows",
    "inputs",
    "secrets",
    "restless",
    "elusive",
    "list",
    "table",
    "flood",
    "deep",
)
COLOURS = ("Red", "Green", "Blue")
FRUITS = ("Apple", "Banana", "Cherry", "Date", "Elderberry")
TICK_MILLISECONDS = 100
FREEZE_SECONDS = 1.5
LATE_MILLISECONDS = 1000
RUNAWAY_MILLISECONDS = 50
TABLE_ROWS = 100_000
FLOOD_LABELS = 10_000
FLOOD_GROUP = 100  # to find its place among its siblings costs a widget as much time as there are siblings
DEPTH = 80
MOUTHFUL_BYTES = 2**24


class Trouble(Gtk.Window):
    """The main window."""

    def __init__(self, extras: list[str], *, stubborn: bool) -> None:
        super().__init__(title="Trouble", default_width=520, default_height=420)
        self.said = Gtk.Label(label="Nothing has happened", xalign=0)
        self.box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
        self.box.add(self.menu_bar())
        self.box.add(self.said)
        plain = self.row()
        self.button(plain, "Press me", lambda: self.say("Pressed"))
        self.button(plain, "Press me too", lambda: self.say("Pressed too"))
        for extra in extras:
            getattr(self, f"add_{extra}")()
        self.add(self.box)
        if stubborn:
            self.connect("delete-event", self.ask)
        self.connect("destroy", Gtk.main_quit)
        self.show_all()

    # pieces

    def say(self, text: str) -> None:
        """Put `text` into the label that says what happened last."""
        self.said.set_text(text)

    def row(self) -> Gtk.Box:
        """A new line of widgets."""
        box = Gtk.Box(spacing=4)
        self.box.add(box)
        return box

    def button(self, where: Gtk.Container, label: str, action) -> Gtk.Button:
        """A button that does something."""
        button = Gtk.Button(label=label)
        button.connect("clicked", lambda _button: action())
        where.add(button)
        return button

    def menu_bar(self) -> Gtk.MenuBar:
        """File > New, Open…, More > Deeper, Quit; Help > About."""
        bar = Gtk.MenuBar()
        more = Gtk.Menu()
        more.append(self.item("Deeper", lambda: self.say("Deeper")))
        further = Gtk.MenuItem(label="More")
        further.set_submenu(more)
        for title, items in (
            (
                "File",
                (
                    self.item("New", lambda: self.say("New")),
                    self.item("Open…", self.choose_file),
                    further,
                    Gtk.SeparatorMenuItem(),
                    self.item("Quit", Gtk.main_quit),
                ),
            ),
            ("Help", (self.item("About", lambda: self.tell("About", "Trouble, and nothing else")),)),
        ):
            menu = Gtk.Menu()
            for item in items:
                menu.append(item)
            head = Gtk.MenuItem(label=title)
            head.set_submenu(menu)
            bar.append(head)
        return bar

    @staticmethod
    def item(label: str, action) -> Gtk.MenuItem:
        """A menu item that does something."""
        item = Gtk.MenuItem(label=label)
        item.connect("activate", lambda _item: action())
        return item

    def tell(self, title: str, text: str) -> None:
        """A modal dialog with one button."""
        dialog = Gtk.MessageDialog(
            transient_for=self, modal=True, buttons=Gtk.ButtonsType.OK, text=text, title=title
        )
        dialog.connect("response", lambda dialog, _response: dialog.destroy())
        dialog.show_all()

    def ask(self, *_event) -> bool:
        """Do not close: ask."""
        self.tell("Really?", "There is unsaved work")
        return True

    # the extras

    def add_ends(self) -> None:
        """Ways to end, and not to answer."""
        first, second = self.row(), self.row()
        self.button(first, "Crash", lambda: os.kill(os.getpid(), signal.SIGSEGV))
        self.button(first, "Abort", os.abort)
        self.button(first, "Exit with 3", lambda: os._exit(3))
        self.button(first, "Quit", Gtk.main_quit)
        self.button(second, "Hang", self.hang)
        self.button(second, "Loop", self.loop)
        self.button(second, "Freeze a while", self.freeze)

    def hang(self) -> None:
        """Never come back."""
        while True:
            time.sleep(3600)

    def loop(self) -> None:
        """Never come back, and be busy with it."""
        while True:
            pass

    def freeze(self) -> None:
        """Come back late."""
        time.sleep(FREEZE_SECONDS)
        self.say("Thawed")

    def add_greedy(self) -> None:
        """Ways to take all of something."""
        row = self.row()
        self.button(row, "Take memory", self.take_memory)
        self.button(row, "Take processes", self.take_processes)

    def take_memory(self) -> None:
        """As the toolkit itself does it: when there is no more, it gives up."""
        take = ctypes.CDLL("libglib-2.0.so.0").g_malloc0
        take.argtypes, take.restype = (ctypes.c_size_t,), ctypes.c_void_p
        while True:
            take(MOUTHFUL_BYTES)

    def take_processes(self) -> None:
        """Start others, which start others, until no more can be; all stay."""
        if os.fork() == 0:
            while True:
                try:
                    os.fork()
                except OSError:
                    time.sleep(3600)
        self.say("Taken")

    def add_windows(self) -> None:
        """Ways to another window."""
        first, second = self.row(), self.row()
        self.button(first, "Open another program", self.open_other)
        self.button(first, "Modal dialog", lambda: self.tell("Modal", "Answer me first"))
        self.button(second, "File chooser", self.choose_file)
        self.button(second, "Late tree", self.open_late)

    def open_other(self) -> None:
        """Another process, another name, another window."""
        subprocess.Popen([sys.executable, str(Path(__file__).with_name("other.py"))])

    def choose_file(self) -> None:
        """The toolkit's own dialog for files."""
        dialog = Gtk.FileChooserDialog(title="Open a file", transient_for=self, modal=True)
        dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, "Open", Gtk.ResponseType.ACCEPT)

        def answered(dialog: Gtk.FileChooserDialog, response: int) -> None:
            name = os.path.basename(dialog.get_filename() or "nothing")
            self.say(f"Opened {name}" if response == Gtk.ResponseType.ACCEPT else "Cancelled")
            dialog.destroy()

        dialog.connect("response", answered)
        dialog.show_all()

    def open_late(self) -> None:
        """A window whose content comes a second after it."""
        window = Gtk.Window(title="Late", transient_for=self, default_width=240, default_height=120)
        window.show()

        def fill() -> bool:
            window.add(Gtk.Label(label="Here I am"))
            window.show_all()
            return False

        GLib.timeout_add(LATE_MILLISECONDS, fill)

    def add_inputs(self) -> None:
        """Things to fill in."""
        entry = Gtk.Entry(placeholder_text="Your name")
        entry.connect("activate", lambda entry: self.say(f"Hello {entry.get_text()}"))
        password = Gtk.Entry(placeholder_text="Password", visibility=False)
        password.set_input_purpose(Gtk.InputPurpose.PASSWORD)
        colours = Gtk.ComboBoxText()
        for colour in COLOURS:
            colours.append_text(colour)
        colours.set_active(0)
        colours.connect("changed", lambda box: self.say(f"Chose {box.get_active_text()}"))
        row = self.row()
        for widget in (entry, password):
            row.add(widget)
        second = self.row()
        for widget in (colours, Gtk.CheckButton(label="Remember")):
            second.add(widget)

    def add_secrets(self) -> None:
        """Made-up things that must not end up in a log."""
        for text in (
            "Write to jane.doe@example.org",
            "Card 4111 1111 1111 1111",
            "Token ghp_0123456789abcdefghijABCDEFGHIJ012345",
        ):
            self.box.add(Gtk.Label(label=text, xalign=0))

    def add_restless(self) -> None:
        """Things that change by themselves."""
        row = self.row()
        count = Gtk.Label(label="0 ticks")
        ticks = iter(range(1, sys.maxsize))
        timer: list[int] = []

        def tick() -> bool:
            count.set_text(f"{next(ticks)} ticks")
            return True

        def toggled(button: Gtk.ToggleButton) -> None:
            if button.get_active():
                timer.append(GLib.timeout_add(TICK_MILLISECONDS, tick))
            else:
                GLib.source_remove(timer.pop())

        toggle = Gtk.ToggleButton(label="Tick")
        toggle.connect("toggled", toggled)
        row.add(toggle)
        row.add(count)
        spinner = Gtk.Spinner()
        spin = Gtk.ToggleButton(label="Spin")
        spin.connect("toggled", lambda spin: spinner.start() if spin.get_active() else spinner.stop())
        row.add(spin)
        row.add(spinner)

    def add_elusive(self) -> None:
        """Buttons that are not there when they are clicked; what is there instead says that it was hit."""
        place = Gtk.Fixed()
        place.set_size_request(480, 90)
        runaway = Gtk.Button(label="Runaway")
        vanish = Gtk.Button(label="Vanish")
        decoy = Gtk.Button(label="Decoy")
        for button in (runaway, vanish, decoy):
            button.set_size_request(100, 34)
        runaway.connect("clicked", lambda _button: self.say("Caught"))
        vanish.connect("clicked", lambda _button: self.say("Caught the vanishing one"))
        decoy.connect("clicked", lambda _button: self.say("Decoy hit"))
        runaway.connect("enter-notify-event", lambda *_: self.run_away(place, runaway, decoy))
        vanish.connect("enter-notify-event", lambda *_: vanish.destroy())
        place.put(runaway, 0, 0)
        place.put(vanish, 120, 0)
        place.put(decoy, 240, 0)
        self.box.add(place)
        start = Gtk.Button(label="Run")
        start.connect("clicked", lambda _button: self.keep_running(place, runaway))
        self.row().add(start)

    def run_away(self, place: Gtk.Fixed, runaway: Gtk.Button, decoy: Gtk.Button) -> None:
        """The pointer is near: be elsewhere, with the decoy in the old place."""
        place.move(runaway, 360, 50)
        place.move(decoy, 0, 0)

    @staticmethod
    def keep_running(place: Gtk.Fixed, runaway: Gtk.Button) -> None:
        """Be elsewhere every 50 ms from now on."""
        steps = iter(range(sys.maxsize))

        def step() -> bool:
            place.move(runaway, 20 * (next(steps) % 19), 50)
            return True

        GLib.timeout_add(RUNAWAY_MILLISECONDS, step)

    def add_list(self) -> None:
        """Rows with a context menu, and a dialog on a double click."""
        store = Gtk.ListStore(str)
        for fruit in FRUITS:
            store.append((fruit,))
        view = Gtk.TreeView(model=store)
        view.append_column(Gtk.TreeViewColumn("Fruit", Gtk.CellRendererText(), text=0))
        menu = Gtk.Menu()
        menu.append(self.item("Eat", lambda: self.say("Eaten")))
        menu.append(self.item("Throw away", lambda: self.say("Thrown away")))
        menu.show_all()
        menu.attach_to_widget(view, None)

        def pressed(_view: Gtk.TreeView, event: Gdk.EventButton) -> bool:
            if event.type == Gdk.EventType.BUTTON_PRESS and event.button == Gdk.BUTTON_SECONDARY:
                menu.popup_at_pointer(event)
                return True
            return False

        view.connect("button-press-event", pressed)
        view.connect(
            "row-activated", lambda _view, path, _column: self.tell("Row", f"This is {FRUITS[path[0]]}")
        )
        self.box.add(view)

    def add_table(self) -> None:
        """More rows than anybody should ask for."""
        store = Gtk.ListStore(int, str)
        for number in range(TABLE_ROWS):
            store.append((number, f"Row {number}"))
        view = Gtk.TreeView(model=store, fixed_height_mode=True)
        for place, title in enumerate(("Number", "Text")):
            column = Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=place)
            column.set_sizing(Gtk.TreeViewColumnSizing.FIXED)
            column.set_fixed_width(140)
            view.append_column(column)
        self.scrolled(view)

    def add_flood(self) -> None:
        """More widgets than a walk should read."""
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for start in range(0, FLOOD_LABELS, FLOOD_GROUP):
            group = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
            for number in range(start, start + FLOOD_GROUP):
                group.add(Gtk.Label(label=f"Label {number}", xalign=0))
            box.add(group)
        self.scrolled(box)

    def add_deep(self) -> None:
        """A label at the bottom of a well."""
        inner: Gtk.Widget = Gtk.Label(label="Bottom of the well")
        for _ in range(DEPTH):
            box = Gtk.Box()
            box.add(inner)
            inner = box
        self.box.add(inner)

    def scrolled(self, widget: Gtk.Widget) -> None:
        """A widget in a scrolled window that takes the rest of the room."""
        scroller = Gtk.ScrolledWindow(min_content_height=150)
        scroller.add(widget)
        self.box.pack_start(scroller, True, True, 0)


def fail_at_start(way: str) -> None:
    """Get no further than this."""
    print(f"told to {way} at the start", file=sys.stderr, flush=True)
    if way == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if way in ("exit", "quit"):
        os._exit(3 if way == "exit" else 0)
    if way == "mute":
        window = Gtk.Window(title="Mute", default_width=240, default_height=120)
        window.show()
        while not window.is_active():
            Gtk.main_iteration()
    while True:
        time.sleep(3600)


def main() -> int:
    """Run until something ends it."""
    words = [
        word for word in sys.argv[1:] if not word.startswith("--at-start=") and not word.endswith(".txt")
    ]
    for word in sys.argv[1:]:
        if word.startswith("--at-start="):
            fail_at_start(word.partition("=")[2])
        if word == "exit.txt":
            fail_at_start("exit")
    stubborn = "--stubborn" in words
    extras = [word for word in words if word != "--stubborn"]
    if unknown := set(extras) - set(EXTRAS):
        print(f"no such extra: {', '.join(sorted(unknown))} (known: {', '.join(EXTRAS)})", file=sys.stderr)
        return 2
    GLib.set_prgname("trouble")
    Trouble(extras, stubborn=stubborn)
    Gtk.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
