"""Locks of open files: the kernel frees one when the last process that has the file open ends, in any way."""

from __future__ import annotations

import errno
import fcntl
import os
import struct

_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, process
_EXCLUSIVE = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


def take_lock(handle: int) -> bool:
    """Take the lock of the open file; False when another holds it."""
    try:
        fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _EXCLUSIVE)
    except OSError as problem:
        if problem.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def is_locked(handle: int) -> bool:
    """Whether another holds the lock. Asking does not take it, so that it disturbs no one who wants it."""
    answer = fcntl.fcntl(handle, fcntl.F_OFD_GETLK, _EXCLUSIVE)
    kind, *_ = struct.unpack(_FLOCK, answer)
    return bool(kind != fcntl.F_UNLCK)
