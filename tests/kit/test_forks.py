"""Forks beside sessions of providers: none comes while a thread is started, or a vendor's library loaded or let go of."""

import os
import pathlib
import subprocess
import sys

import pytest
from hosts import FAKE, LIBRARIES, SAMPLE

HERE = pathlib.Path(__file__).resolve().parent

PROGRAM = """
import ctypes, os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
import numpy as np
from hosts import FILES, LIBRARIES, FAKE, SAMPLE, dense, devices_of, floats, roundhouse

provider, settings = {provider!r}, {settings!r}
feeds = {{"x": floats(3, 4, seed=5), "x2": floats(3, 3, seed=6)}}
wanted = roundhouse.InferenceSession(dense(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
seen = ctypes.CDLL(None)
is_over = False

def right(devices, threads):
    options = roundhouse.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if devices:
        options.add_provider_for_devices(devices[:1], settings)
    made = roundhouse.InferenceSession(dense(), options, providers=None if devices else ["CPUExecutionProvider"])
    return np.allclose(made.run(None, feeds)[0], wanted, atol=1e-5)

def keep_on():
    while not is_over:
        assert right(devices, 1)
        time.sleep(0.004)  # in which a fork can come

def child():
    signal.alarm(20)
    if seen.starts_under_way() or seen.loads_under_way():
        os._exit(4)  # nobody waited for it
    # Threads of its own, and the library: the fake device has threads that the child does not have.
    os._exit(0 if right(devices if provider == SAMPLE else [], 2) else 3)

roundhouse.register_execution_provider_library(provider, str(LIBRARIES / FILES[provider]))
devices = devices_of(roundhouse, provider)
threads = [threading.Thread(target=keep_on) for _ in range(2)]
for thread in threads:
    thread.start()
begin, before = time.monotonic(), (seen.starts_so_far(), seen.loads_so_far())
statuses = []
while len(statuses) < 40 and time.monotonic() < begin + 40:
    number = os.fork()
    if number == 0:
        child()
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
is_over = True
for thread in threads:
    thread.join()
print("statuses", *statuses)
print("starts", seen.starts_so_far() - before[0])
print("loads", seen.loads_so_far() - before[1])
"""


@pytest.fixture(scope="module")
def slow_starts(tmp_path_factory):
    made = tmp_path_factory.mktemp("forks") / "slow_starts.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-std=c11", str(HERE / "slow_starts.c"), "-o", str(made), "-ldl", "-pthread"], check=True)
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="libraries are preloaded by LD_PRELOAD")
@pytest.mark.parametrize(
    ("provider", "settings", "what"), [(SAMPLE, {"cache": "0"}, "loads"), (FAKE, {"claim": "1:100"}, "starts")], ids=["sample", "fake"]
)
def test_a_fork_waits_for_what_its_child_could_not_end(provider, settings, what, slow_starts):
    assert LIBRARIES.exists()
    program = PROGRAM.format(folder=str(HERE), provider=provider, settings=settings)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=os.environ | {"LD_PRELOAD": str(slow_starts)}
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    said = {words[0]: [int(word) for word in words[1:]] for words in map(str.split, done.stdout.splitlines())}
    assert set(said["statuses"]) == {0} and len(said["statuses"]) >= 10, said
    assert said[what][0] >= len(said["statuses"]) // 4, said
