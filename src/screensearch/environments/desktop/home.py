"""What an episode's desktop looks like: its files, its looks, and the environment of its programs."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from screensearch.environments.desktop.sandbox import HOME, PATH, SessionFailed
from screensearch.environments.desktop.settings import AppSettings, Placement

DOUBLE_CLICK_MILLISECONDS = 80
"""Two clicks within this time are one double click. Ours come within a few, and a person's never: so short a
time keeps two actions on one place from becoming a double click that nobody asked for."""

CLICKS_APART_SECONDS = 1.25 * DOUBLE_CLICK_MILLISECONDS / 1000
"""How far apart clicks on one place are kept, so that they stay two: the time itself would be too near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dressing:
    """What one episode's desktop looks like, chosen from the ranges of the profile."""

    display_mode: str = "light"
    text_scale: float = 1.0
    placement: Placement | None = None
    document: str = ""  # appended to the command


# One line per lesson. A profile's own `environment` comes after these and wins.
_TOOLKITS = {
    "GDK_BACKEND": "x11",
    "QT_QPA_PLATFORM": "xcb",
    "XDG_SESSION_TYPE": "x11",
    "QT_QPA_PLATFORMTHEME": "kde",
    "KDE_SESSION_VERSION": "5",
    # accessibility
    "NO_AT_BRIDGE": "0",
    "GNOME_ACCESSIBILITY": "1",
    "QT_ACCESSIBILITY": "1",
    "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
    "SAL_USE_VCLPLUGIN": "gtk3",  # LibreOffice: the plugin that publishes a tree
    # nothing that moves by itself, nothing that needs a graphics card
    "GTK_OVERLAY_SCROLLING": "0",
    "GSK_RENDERER": "cairo",
    "GDK_GL": "disable",  # GTK 3 asks for every GL visual when it starts: 60 ms
    "GDK_DEBUG": "gl-disable",  # GTK 4
    "GDK_DISABLE": "gl",  # GTK 4.14 and later
    "LIBGL_ALWAYS_SOFTWARE": "1",
    # a portal that is not there is waited for, up to 25 s
    "GTK_USE_PORTAL": "0",
    "ADW_DISABLE_PORTAL": "1",
}
_JAVA_BRIDGE = "/usr/share/java/java-atk-wrapper.jar"  # of libatk-wrapper-java
_JAVA_OPTIONS = (
    "-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper "
    f"-Xbootclasspath/a:{_JAVA_BRIDGE} "
    f"-Djava.library.path=/usr/lib/{platform.machine()}-linux-gnu/jni"
)
_SANDBOXED = {
    "PATH": PATH,
    "HOME": HOME,
    "USER": "user",
    "LOGNAME": "user",
    "SHELL": "/bin/sh",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "XDG_CURRENT_DESKTOP": "XFCE",
    "XDG_DATA_DIRS": "/usr/local/share:/usr/share",
    "GSETTINGS_BACKEND": "keyfile",  # settings live and die with the home
}
_OF_ANOTHER_DESKTOP = (
    "AT_SPI_BUS_ADDRESS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "DBUS_STARTER_BUS_TYPE",
    "DESKTOP_STARTUP_ID",
    "DISPLAY",
    "GTK_MODULES",
    "SESSION_MANAGER",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_ACTIVATION_TOKEN",
)

# Programs that the session bus may start by itself. Everything else on it (portals, keyrings, indexers,
# online accounts) would make an episode slow, and different from machine to machine.
_ACTIVATABLE = ("ca.desrt.dconf", "org.xfce.")
_SERVICES = ("/usr/local/share/dbus-1/services", "/usr/share/dbus-1/services")


def environment(app: AppSettings, dressing: Dressing, *, run: str, sandbox: bool) -> dict[str, str]:
    """The environment of every program of a session: nothing of the worker's own, unless there is no sandbox.

    `run` is the runtime directory as the programs see it.
    """
    if sandbox:
        variables = dict(_SANDBOXED)
    else:
        # Nor what opens a database or a bucket, perhaps those that hold the run, or pays for a model: an
        # application is not to be trusted.
        variables = {
            name: value
            for name, value in os.environ.items()
            if name not in _OF_ANOTHER_DESKTOP and not name.startswith(("PG", "AWS_", "FSSPEC_", "OPENAI_"))
        }
    variables |= _TOOLKITS
    variables["XDG_RUNTIME_DIR"] = run
    # Ours comes before the system's and after the home's: what a profile seeds in ~/.config wins.
    variables["XDG_CONFIG_DIRS"] = f"{run}/looks:{variables.get('XDG_CONFIG_DIRS', '/etc/xdg')}"
    variables["XENVIRONMENT"] = f"{run}/looks/resources"
    variables["QT_FONT_DPI"] = str(round(96 * dressing.text_scale))
    variables["ADW_DEBUG_COLOR_SCHEME"] = f"prefer-{dressing.display_mode}"
    if os.path.exists(_JAVA_BRIDGE):  # without it, a Java program that is told of it ends at once
        variables["JAVA_TOOL_OPTIONS"] = _JAVA_OPTIONS
    for each in app.environment:
        name, _, value = each.partition("=")
        variables[name] = value
    return variables


def furnish(app: AppSettings, dressing: Dressing, *, run: Path, inside: str, home: Path | None) -> None:
    """Write the desktop's files below `run` (its programs see it as `inside`), the app's files below `home`.

    A file or folder to copy that is not there, or a home too small for its files, is a `SessionFailed`.
    """
    try:
        for name, text in {**_looks(dressing), **_infrastructure(dressing, inside)}.items():
            path = run / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if home is not None:
            _seed(app, home)
    except OSError as error:
        raise SessionFailed(
            f"the home of {app.name or app.command[0]!r} cannot be furnished: {error}"
        ) from error


def _seed(app: AppSettings, home: Path) -> None:
    for file in app.files:
        path = home / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not file.source:
            path.write_text(file.text)
        elif os.path.isdir(source := os.path.expanduser(file.source)):
            shutil.copytree(source, path, dirs_exist_ok=True, copy_function=_copy, symlinks=True)
        else:
            _copy(source, str(path))


def _copy(source: str, target: str) -> None:
    """A copy that its user may change, whatever the original allows."""
    shutil.copyfile(source, target)
    os.chmod(target, os.stat(source).st_mode | 0o600)


def _looks(dressing: Dressing) -> Mapping[str, str]:
    dark = int(dressing.display_mode == "dark")
    gtk = (
        "[Settings]\n"
        "gtk-theme-name=Adwaita\n"
        "gtk-icon-theme-name=Adwaita\n"
        "gtk-font-name=Sans 10\n"
        f"gtk-application-prefer-dark-theme={dark}\n"
        "gtk-cursor-blink=0\n"
        f"gtk-double-click-time={DOUBLE_CLICK_MILLISECONDS}\n"
        "gtk-enable-animations=0\n"
        "gtk-recent-files-enabled=0\n"
        "gtk-recent-files-max-age=0\n"
    )
    return {
        "looks/gtk-3.0/settings.ini": gtk,
        "looks/gtk-4.0/settings.ini": gtk,
        "looks/kdeglobals": _qt(dark),
        "looks/resources": f"Xft.dpi: {round(96 * dressing.text_scale)}\n"  # GTK's own gives way to it
        f"*multiClickTime: {DOUBLE_CLICK_MILLISECONDS}\n",  # Java
    }


def _qt(dark: int) -> str:
    """Qt's own theme for KDE, no part of KDE, is the one that reads colours and the caret from a file."""
    window, view, text, selection = (
        ("48,48,48", "32,32,32", "238,238,238", "42,98,160")
        if dark
        else ("239,239,239", "255,255,255", "0,0,0", "48,140,198")
    )
    colours = "".join(
        f"[Colors:{name}]\nBackgroundNormal={background}\nBackgroundAlternate={background}\n"
        f"ForegroundNormal={text}\nForegroundInactive=128,128,128\nForegroundLink=41,128,185\n"
        for name, background in (
            ("Window", window),
            ("View", view),
            ("Button", window),
            ("Tooltip", window),
            ("Selection", selection),
        )
    )
    return (
        "[General]\nfont=Sans,10,-1,5,50,0,0,0,0,0\n"
        f"[KDE]\nCursorBlinkRate=0\nDoubleClickInterval={DOUBLE_CLICK_MILLISECONDS}\nSingleClick=false\nwidgetStyle=fusion\nAnimationDurationFactor=0\n"
        "[Icons]\nTheme=Adwaita\n" + colours
    )


def _infrastructure(dressing: Dressing, inside: str) -> Mapping[str, str]:
    services = {
        f"services/{path.name}": path.read_text()
        for folder in _SERVICES
        for path in sorted(Path(folder).glob("*.service"))
        if path.name.startswith(_ACTIVATABLE)
    }
    # Starts nothing: who asks for the accessibility bus waits for the launcher that the session starts.
    services["services/org.a11y.Bus.service"] = "[D-BUS Service]\nName=org.a11y.Bus\nExec=/bin/true\n"
    bus = _BUS.format(run=inside)
    menu = '<?xml version="1.0"?>\n<openbox_menu xmlns="http://openbox.org/3.4/menu"/>\n'
    return {
        "bus.conf": bus,
        "manager/openbox/menu.xml": menu,
        "openbox.xml": _openbox(dressing.placement),
        **services,
    }


_BUS = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path={run}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{run}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="service_start_timeout">20000</limit>
</busconfig>
"""


def _openbox(placement: Placement | None) -> str:
    rule = ""
    if placement is not None:
        rule = (
            '<application type="normal">'
            f'<position force="yes"><x>{placement.x}</x><y>{placement.y}</y></position>'
            f"<size><width>{placement.width}</width><height>{placement.height}</height></size>"
            "</application>"
        )
    return _OPENBOX.format(rule=rule)


# No key bindings (Alt+F4 belongs to the application), no menus, one desktop; a click focuses and raises.
_OPENBOX = """\
<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <resistance><strength>0</strength><screen_edge_strength>0</screen_edge_strength></resistance>
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse><focusLast>yes</focusLast></focus>
  <placement><policy>Smart</policy><center>yes</center><monitor>Any</monitor></placement>
  <theme><name>Clearlooks</name><titleLayout>NLMC</titleLayout><animateIconify>no</animateIconify></theme>
  <desktops><number>1</number><firstdesk>1</firstdesk><popupTime>0</popupTime></desktops>
  <resize><drawContents>yes</drawContents><popupShow>Never</popupShow></resize>
  <keyboard><rebind>no</rebind></keyboard>
  <mouse>
    <dragThreshold>8</dragThreshold>
    <doubleClickTime>250</doubleClickTime>
    <context name="Titlebar">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
    </context>
    <context name="Close">
      <mousebind button="Left" action="Click"><action name="Close"/></mousebind>
    </context>
    <context name="Maximize">
      <mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Middle" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
  </mouse>
  <menu/>
  <applications>{rule}</applications>
</openbox_config>
"""
