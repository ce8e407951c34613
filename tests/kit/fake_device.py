"""What the fake device counted, of all hosts of the process together."""

import contextlib
import ctypes
import functools

from hosts import FAKE, FILES, LIBRARIES

NAMES = ("copies_in", "copies_out", "copies_within", "waits", "allocations", "bytes", "peak_bytes", "compilations", "nodes", "runs")


@functools.cache
def library():
    opened = ctypes.CDLL(str(LIBRARIES / FILES[FAKE]))
    opened.RhEpFakeDeviceCount.restype = ctypes.c_int64
    return opened


def count(name, device=0):
    value = library().RhEpFakeDeviceCount(device, name.encode())
    assert value >= 0, name
    return value


def counts(device=0):
    return {name: count(name, device) for name in NAMES}


@contextlib.contextmanager
def counted(device=0):
    """The counts of what the block does, filled in at its end."""
    before, done = counts(device), {}
    yield done
    after = counts(device)
    done.update({name: after[name] - before[name] for name in NAMES})
