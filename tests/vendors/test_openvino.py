"""OpenVINO's own library behind the provider, on the CPU: `scripts/stand openvino -- python -m pytest tests/vendors`."""

import concurrent.futures
import subprocess
import sys

import numpy as np
import pytest
from hosts import HOSTS, OPENVINO, branches, dense, floats, model_of, registered, session, tensor
from onnx import TensorProto, helper

import roundhouse

CPU = "CPUExecutionProvider"
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
FEEDS = [{"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)} for n in (1, 5, 2)]

pytestmark = pytest.mark.skipif(
    OPENVINO not in roundhouse.get_available_providers(), reason="there is no OpenVINO here: scripts/stand openvino -- ..."
)


def assert_like_the_cpu(host, model, feeds, made):
    reference = host.InferenceSession(model, providers=[CPU])
    for feed in feeds:
        for e, a in zip(reference.run(None, feed), made.run(None, feed), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)


SETTINGS = [
    {},
    {"device_type": "CPU_FP32", "num_of_threads": "2"},
    {"device_type": "AUTO:CPU"},
    {"device_type": "HETERO:CPU"},
    {"precision": "ACCURACY", "num_streams": "2"},
    {"disable_dynamic_shapes": "true"},
    {"reshape_input": "x[1..8,4],x2[1..8,3]"},
    {"load_config": '{"CPU": {"PERFORMANCE_HINT": "LATENCY"}}'},
    {"model_priority": "HIGH", "device_type": "AUTO:CPU"},
]


@hosts
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_options_keep_results(host, settings):
    with registered(host, OPENVINO):
        assert_like_the_cpu(host, dense(), FEEDS, session(host, OPENVINO, dense(), settings))


def test_a_folder_of_compiled_models_is_filled_and_used(tmp_path):
    with registered(roundhouse, OPENVINO):
        for _ in range(2):
            made = session(roundhouse, OPENVINO, dense(), {"cache_dir": str(tmp_path)})
            assert_like_the_cpu(roundhouse, dense(), FEEDS, made)
            del made
    assert [p for p in tmp_path.iterdir() if p.suffix == ".blob"]


@hosts
def test_small_integers_stay(host):
    """As floats they are denormals, which a host's threads may take for zero."""
    nodes = [helper.make_node("Where", ["c", "x", "one"], ["w"]), helper.make_node("Equal", ["w", "one"], ["y"])]
    kinds = {"c": TensorProto.BOOL, "x": TensorProto.INT64}
    model = model_of(nodes, [tensor(n, ["N"], k) for n, k in kinds.items()], [tensor("y", ["N"], TensorProto.BOOL)], {"one": np.array([1])})
    feeds = [{"c": np.array([True, False, True, False]), "x": np.array([1, 2, 3, 4])}]
    with registered(host, OPENVINO):
        assert_like_the_cpu(host, model, feeds, session(host, OPENVINO, model))


@hosts
def test_an_if_is_taken_with_its_bodies(host):
    feeds = [{"x": floats(n, 4, seed=n), "c": np.array(c)} for n, c in ((1, True), (3, False), (2, True))]
    with registered(host, OPENVINO):
        assert_like_the_cpu(host, branches(), feeds, session(host, OPENVINO, branches()))


def run_from_four_threads(made, reference):
    def run(n):
        feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n)}
        for _ in range(50):
            np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-6)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, (1, 2, 3, 7)))


@hosts
def test_four_threads_with_four_shapes(host):
    with registered(host, OPENVINO):
        run_from_four_threads(session(host, OPENVINO, dense()), host.InferenceSession(dense(), providers=[CPU]))


def test_programs_name_it():
    """As they are written for ONNX Runtime: by name, with its options, and by all that are available."""
    for providers in (
        [(OPENVINO, {"device_type": "CPU_FP32", "num_of_threads": 2})],
        [OPENVINO, CPU],
        roundhouse.get_available_providers(),
    ):
        made = roundhouse.InferenceSession(dense(), providers=providers)
        assert made.get_providers()[0] == OPENVINO
        assert {row["provider"] for row in made.placement()} == {OPENVINO}
        assert_like_the_cpu(roundhouse, dense(), FEEDS, made)


def test_who_names_it_is_told_what_it_runs():
    program = (
        "import sys; sys.path.insert(0, 'tests/kit'); from hosts import dense; import roundhouse; "
        "roundhouse.InferenceSession(dense(), providers=roundhouse.get_available_providers())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.count("OpenVINOExecutionProvider runs 5 of 5 nodes") == 1


def test_what_it_leaves_has_a_reason():
    nodes = [helper.make_node("Relu", ["x"], ["a"], "relu"), helper.make_node("TopK", ["a", "k"], ["v", "i"], "top")]
    inputs, outputs = [tensor("x", ["N", 4])], [tensor("v", ["N", 2]), tensor("i", ["N", 2], TensorProto.INT64)]
    model = model_of(nodes, inputs, outputs, {"k": np.array([2])})
    rows = {row["node"]: row for row in roundhouse.InferenceSession(model, providers=[OPENVINO]).placement()}
    assert rows["relu"]["provider"] == OPENVINO and rows["top"]["provider"] == CPU
    assert rows["top"]["refusals"][0]["reason"] == "OpenVINO orders equal values otherwise than the standard says"


def test_sessions_share_threads():
    """A session has a thread of its pool of 2, and one of OpenVINO's that hands on its runs: the threads that compute are the process's."""
    program = """
import os, sys
sys.path.insert(0, "tests/kit")
from hosts import dense, floats
import roundhouse
def made():
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 2, 3
    session = roundhouse.InferenceSession(dense(), options, providers=["OpenVINOExecutionProvider"])
    session.run(None, {"x": floats(512, 4), "x2": floats(512, 3)})
    return session
sessions = [made()]
one = len(os.listdir("/proc/self/task"))
sessions += [made() for _ in range(15)]
print(one, len(os.listdir("/proc/self/task")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    one, all_of_them = map(int, done.stdout.split())
    assert all_of_them - one <= 15 * 2, (one, all_of_them)
