"""Forks beside sessions of a provider that load its vendor's library and let it go: the child can make sessions."""

import os
import pathlib
import subprocess
import sys

import pytest
from hosts import LIBRARIES

PROGRAM = """
import os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
import numpy as np
from hosts import FILES, LIBRARIES, SAMPLE, dense, floats, roundhouse, session

feeds = {{"x": floats(3, 4, seed=5), "x2": floats(3, 3, seed=6)}}
wanted = roundhouse.InferenceSession(dense(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
is_over = False

def run():
    return np.allclose(session(roundhouse, SAMPLE, dense(), {{"cache": "0"}}).run(None, feeds)[0], wanted, atol=1e-5)

def keep_on():
    while not is_over:
        run()

roundhouse.register_execution_provider_library(SAMPLE, str(LIBRARIES / FILES[SAMPLE]))
threads = [threading.Thread(target=keep_on) for _ in range(2)]
for thread in threads:
    thread.start()
begin, failed = time.monotonic(), 0
for forks in range(300):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if run() else 3)
    failed += os.waitpid(child, 0)[1] != 0
    if time.monotonic() - begin > 10:
        break
is_over = True
for thread in threads:
    thread.join()
print(failed, "of", forks + 1)
sys.exit(bool(failed))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_make_sessions_of_the_provider():
    assert LIBRARIES.exists()
    folder = str(pathlib.Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(folder=folder)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
