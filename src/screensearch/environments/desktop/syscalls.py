"""System calls that no desktop application needs, and a filter by which the kernel refuses them.

Namespaces hide files, processes and networks; these calls act on the kernel itself, on keys that are not
hidden by a namespace, or are where privileges have been gained before. A refused call fails with EPERM. The
filter is for bubblewrap's ``--seccomp``.
"""

from __future__ import annotations

import struct

# name: number on x86_64, i386 and aarch64; -1 where there is none
_REFUSED = {
    "acct": (163, 51, 89),
    "add_key": (248, 286, 217),
    "bpf": (321, 357, 280),
    "delete_module": (176, 129, 106),
    "finit_module": (313, 350, 273),
    "fsconfig": (431, 431, 431),
    "fsmount": (432, 432, 432),
    "fsopen": (430, 430, 430),
    "fspick": (433, 433, 433),
    "init_module": (175, 128, 105),
    "io_uring_enter": (426, 426, 426),
    "io_uring_register": (427, 427, 427),
    "io_uring_setup": (425, 425, 425),
    "kexec_file_load": (320, -1, 294),
    "kexec_load": (246, 283, 104),
    "keyctl": (250, 288, 219),
    "mount": (165, 21, 40),
    "mount_setattr": (442, 442, 442),
    "move_mount": (429, 429, 429),
    "open_by_handle_at": (304, 342, 265),
    "open_tree": (428, 428, 428),
    "perf_event_open": (298, 336, 241),
    "pidfd_getfd": (438, 438, 438),
    "pivot_root": (155, 217, 41),
    "quotactl": (179, 131, 60),
    "reboot": (169, 88, 142),
    "request_key": (249, 287, 218),
    "setns": (308, 346, 268),
    "swapoff": (168, 115, 225),
    "swapon": (167, 87, 224),
    "syslog": (103, 103, 116),
    "umount2": (166, 52, 39),
    "unshare": (272, 310, 97),
    "userfaultfd": (323, 374, 282),
}
_X86_64, _I386, _AARCH64 = 0xC000003E, 0x40000003, 0xC00000B7
_COLUMNS = {_X86_64: 0, _I386: 1, _AARCH64: 2}
_ARCHITECTURES = {"x86_64": (_X86_64, _I386), "aarch64": (_AARCH64,)}
_X32 = 0x40000000  # on x86_64, the numbers of a second set of calls begin here

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in what the kernel shows the filter


def system_call_filter(machine: str) -> bytes:
    """The filter for a machine (``platform.machine()``); empty for one whose numbers are not known here.

    Calls of an architecture that the machine knows and we do not (there is none on these) do not exist.
    """
    program = []
    for architecture in _ARCHITECTURES.get(machine, ()):
        numbers = [row[_COLUMNS[architecture]] for row in _REFUSED.values()]
        block = [_step(_LOAD, value=_NUMBER)]
        if architecture == _X86_64:
            block += [_step(_AT_LEAST, no=1, value=_X32), _step(_RETURN, value=_ENOSYS)]
        for number in numbers:
            if number >= 0:
                block += [_step(_EQUAL, no=1, value=number), _step(_RETURN, value=_EPERM)]
        block.append(_step(_RETURN, value=_ALLOW))
        program += [
            _step(_LOAD, value=_ARCHITECTURE),
            _step(_EQUAL, no=len(block), value=architecture),
            *block,
        ]
    return b"".join([*program, _step(_RETURN, value=_ENOSYS)]) if program else b""


def _step(code: int, *, no: int = 0, value: int) -> bytes:
    """One instruction of the kernel's packet filter; `no` is how far to jump when a comparison fails."""
    return struct.pack("<HBBI", code, 0, no, value)
