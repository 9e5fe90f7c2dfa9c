"""Three machines made of one: a Debian of its own for each, with its own init, network, processes and name.

They hang on a bridge as lab1, lab2 and lab3 (10.0.0.11 to .13) and reach the outside through this machine.
That takes root, a kernel with the namespaces, and debootstrap; `why_not` says what is missing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

BRIDGE = "sslab"
GATEWAY = "10.0.0.1"
ADDRESSES = {"lab1": "10.0.0.11", "lab2": "10.0.0.12", "lab3": "10.0.0.13"}
START_SECONDS = 120.0

# What an installer of Debian leaves behind on a server, as far as it matters here; nft is for the way out.
_PACKAGES = (
    *("systemd-sysv", "libpam-systemd", "dbus", "openssh-server", "openssh-client", "iproute2", "netbase"),
    *("ca-certificates", "procps", "nftables"),
)
_OF_THIS_MACHINE = (
    *("etc/resolv.conf", "etc/pip.conf", "etc/apt/sources.list.d/debian.sources", "etc/apt/apt.conf.d/99*"),
    *("usr/local/share/ca-certificates/*", "etc/ssl/certs/ca-certificates.crt"),
)
"""How packages are reached from here is how they are reached from there."""

_NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")

_BOOT = r"""
set -e
hostname "$NAME"
mount --bind "$ROOT" "$ROOT"
cd "$ROOT"
mkdir -p old
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
for folder in dev/shm tmp; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
mount -t tmpfs -o mode=755 tmpfs run
pivot_root . old
umount -l /old
exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init
"""


def why_not() -> str:
    """Why there can be no such machines here; nothing if there can."""
    if os.geteuid() != 0:
        return "three machines are made by root only"
    missing = [name for name in ("ip", "unshare", "nsenter", "debootstrap", "git") if not shutil.which(name)]
    if missing:
        return f"three machines need {', '.join(missing)}"
    return "" if _cgroups() is not None else "three machines need a mounted cgroup2"


@dataclass(frozen=True, slots=True)
class Machine:
    """A running machine, seen from outside."""

    name: str
    root: Path
    process: subprocess.Popen[bytes]

    def run(self, user: str, script: str) -> subprocess.CompletedProcess[str]:
        """What a login shell of a user makes of a script, which ends at the first command that fails."""
        enter = ["nsenter", "--target", str(self._init()), *_NAMESPACES]
        return subprocess.run(
            [*enter, "--", "su", "-", user, "-c", "bash -e -o pipefail"],
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )

    def _init(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def wait_until_up(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            with suppress(FileNotFoundError, IndexError):
                if self.run("root", "systemctl is-system-running").stdout.strip() in {"running", "degraded"}:
                    return
            time.sleep(0.5)
        raise RuntimeError(f"{self.name} did not come up within {START_SECONDS:g} s")

    def switch_off(self) -> None:
        with suppress(FileNotFoundError, IndexError, ProcessLookupError):
            os.kill(self._init(), signal.SIGKILL)  # and with it all that runs there
        self.process.wait()


@contextmanager
def lab(folder: Path, checkout: Path) -> Iterator[dict[str, Machine]]:
    """New machines, the first with a checkout; a bare Debian is made once and stays in the folder."""
    base = folder / "base"
    if not base.exists():
        _install(base)
    machines: dict[str, Machine] = {}
    forwards = _forwarding(_way_out()).read_text()
    try:
        _open_network(base)
        for name, address in ADDRESSES.items():
            machines[name] = _switch_on(folder, name, address)
        _let_in(machines)
        clone = machines["lab1"].root / "root" / "screensearch"
        _do("git", "clone", "--quiet", "--no-hardlinks", str(checkout), str(clone))
        yield machines
    finally:
        for machine in machines.values():
            machine.switch_off()
        _close_network(base)
        _forwarding(_way_out()).write_text(forwards)
        for name in ADDRESSES:
            shutil.rmtree(folder / name, ignore_errors=True)
            with suppress(OSError):
                _remove_cgroup(_cgroup(name))


def _install(base: Path) -> None:
    unfinished = base.with_suffix(".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    _do("debootstrap", "--variant=minbase", f"--include={','.join(_PACKAGES)}", "bookworm", str(unfinished))
    (unfinished / "etc/apt/sources.list").unlink(missing_ok=True)
    for pattern in _OF_THIS_MACHINE:
        for path in Path("/").glob(pattern):
            (unfinished / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, unfinished / path.relative_to("/"))
    unfinished.rename(base)


def _switch_on(folder: Path, name: str, address: str) -> Machine:
    root = folder / name
    shutil.rmtree(root, ignore_errors=True)
    _do("cp", "-a", str(folder / "base"), str(root))
    (root / "etc/hostname").write_text(f"{name}\n")
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {name}\n")
    (root / "etc/machine-id").write_text("")
    network, outer = f"{BRIDGE}-{name}", f"{BRIDGE}{name[-1]}"
    _do("ip", "netns", "add", network)
    _do("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", network)
    _do("ip", "link", "set", outer, "master", BRIDGE, "up")
    for words in ("link set lo up", f"addr add {address}/24 dev eth0", f"link set eth0 mtu {_mtu()} up"):
        _do("ip", "-n", network, *words.split())
    _do("ip", "-n", network, "route", "add", "default", "via", GATEWAY)
    group = _cgroup(name)
    group.mkdir(exist_ok=True)
    apart = "--mount --propagation private --uts --ipc --pid --cgroup --fork --kill-child"
    # The group comes first: `ip netns exec` hides the folder of groups.
    enter = f'echo $$ > "{group}/cgroup.procs"; exec ip netns exec {network} unshare {apart} bash -c "$BOOT"'
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            ["bash", "-c", enter],
            env={**os.environ, "BOOT": _BOOT, "NAME": name, "ROOT": str(root)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    machine = Machine(name, root, process)
    machine.wait_until_up()
    return machine


def _let_in(machines: dict[str, Machine]) -> None:
    """Root of the first machine may log in to the others, as the page asks for."""
    made = machines["lab1"].run("root", "ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id; cat ~/.ssh/id.pub")
    for machine in machines.values():
        keys = machine.root / "root/.ssh"
        keys.mkdir(mode=0o700, exist_ok=True)
        (keys / "authorized_keys").write_text(made.stdout)
        (keys / "config").write_text("IdentityFile ~/.ssh/id\nStrictHostKeyChecking accept-new\n")


def _open_network(base: Path) -> None:
    _close_network(base)
    _do("ip", "link", "add", BRIDGE, "type", "bridge")
    _do("ip", "addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
    _do("ip", "link", "set", BRIDGE, "up")
    for interface in (BRIDGE, _way_out()):
        _forwarding(interface).write_text("1")
    rules = (
        f"table ip {BRIDGE} {{\nchain out {{\ntype nat hook postrouting priority 100\n"
        f"ip saddr {GATEWAY}/24 oifname {_way_out()} masquerade\n}}\n}}"
    )
    _do("chroot", str(base), "nft", rules)


def _close_network(base: Path) -> None:
    for words in (
        *(["ip", "netns", "del", f"{BRIDGE}-{name}"] for name in ADDRESSES),
        ["ip", "link", "del", BRIDGE],
        ["chroot", str(base), "nft", f"delete table ip {BRIDGE}"],
    ):
        with suppress(subprocess.CalledProcessError):
            _do(*words)


def _forwarding(interface: str) -> Path:
    """Whether what comes from an interface may go on to another one."""
    return Path(f"/proc/sys/net/ipv4/conf/{interface}/forwarding")


def _way_out() -> str:
    """The interface of this machine that leads elsewhere."""
    words = _do("ip", "-4", "route", "show", "default").split()
    return words[words.index("dev") + 1]


def _mtu() -> str:
    return Path(f"/sys/class/net/{_way_out()}/mtu").read_text().strip()


def _cgroups() -> Path | None:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(where)
    return None


def _cgroup(name: str) -> Path:
    groups = _cgroups()
    assert groups is not None
    return groups / f"{BRIDGE}-{name}"


def _remove_cgroup(group: Path) -> None:
    for below in sorted(group.rglob("*/"), key=lambda path: len(path.parts), reverse=True):
        below.rmdir()
    group.rmdir()


def _do(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
