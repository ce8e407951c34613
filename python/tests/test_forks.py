"""Children of a fork that happens while other threads of the parent make and free sessions."""

import gc
import os
import signal
import threading

import numpy as np
import pytest
from models import model, tensor
from onnx import helper, numpy_helper

import roundhouse

if not hasattr(os, "fork"):
    pytest.skip("needs os.fork", allow_module_level=True)

FORKS = 60
SECONDS_UNTIL_IT_HANGS = 20
W = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
X = np.ones((8, 256), np.float32)
DATA = model(
    [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])],
    [tensor("x", shape=("n", 256))],
    [tensor("y", shape=("n", 256))],
    [numpy_helper.from_array(W, "w")],
)


def load():
    return roundhouse.InferenceSession(DATA)


def is_right(session):
    return np.allclose(session.run(None, {"x": X})[0], np.maximum(X @ W, 0), atol=1e-3)


def in_child(work) -> str:
    gc.collect()  # sessions of other tests, those of onnxruntime among them, are not for the child to free
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS_UNTIL_IT_HANGS)
        try:
            os._exit(0 if work() else 3)
        except BaseException:
            os._exit(4)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "right", 3: "wrong", 4: "an exception", -signal.SIGALRM: "hangs"}.get(code, str(code))


@pytest.fixture
def held():
    session = load()
    assert is_right(session)
    return [session]


def test_a_child_uses_its_parents_session(held):
    assert in_child(lambda: is_right(held[0])) == "right"


def test_a_child_frees_its_parents_session(held):
    def free():
        held.clear()
        gc.collect()
        return is_right(load())

    assert in_child(free) == "right"


def test_a_child_runs_its_parents_session_asynchronously(held):
    def asynchronously():
        done, results = threading.Event(), []
        held[0].run_async(None, {"x": X}, lambda values, data, error: (results.append((values, error)), done.set()), None)
        assert done.wait(10)
        values, error = results[0]
        return not error and np.allclose(values[0], np.maximum(X @ W, 0), atol=1e-3)

    assert asynchronously()
    assert in_child(asynchronously) == "right"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_children_of_a_parent_that_loads(held):
    stop = threading.Event()

    def keep_loading():
        while not stop.is_set():
            load()

    threads = [threading.Thread(target=keep_loading) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        ends = [in_child(lambda: is_right(load()) and is_right(held[0])) for _ in range(FORKS)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert {end: ends.count(end) for end in ends} == {"right": FORKS}
