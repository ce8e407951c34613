"""A provider on the kit, from the same file in Roundhouse and in ONNX Runtime."""

import concurrent.futures
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from hosts import HOSTS, LIBRARIES, SAMPLE, branches, dense, failure, floats, model_of, registered, session, tensor
from onnx import helper, numpy_helper

import roundhouse

FEEDS = {
    "dense": (dense, [{"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)} for n in (1, 5, 2)]),
    "branches": (branches, [{"x": floats(n, 4, seed=n), "c": np.array(c)} for n, c in ((1, True), (3, False), (2, True))]),
}
# ONNX Runtime unloads a library under a session that still lives: sessions end before the library is let go, so no test keeps one.
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)


def plain(host, model):
    return host.InferenceSession(model, providers=["CPUExecutionProvider"])


def assert_like_the_cpu(host, model, feeds, given):
    for feed in feeds:
        np.testing.assert_allclose(given.run(None, feed)[0], plain(host, model).run(None, feed)[0], rtol=1e-5, atol=1e-6)


@hosts
@pytest.mark.parametrize("name", FEEDS)
def test_results_are_the_cpus(host, name):
    make, feeds = FEEDS[name]
    with registered(host, SAMPLE):
        assert_like_the_cpu(host, make(), feeds, session(host, SAMPLE, make()))


def by_turns(made):
    for round_ in range(3):
        for host, name, given in made if round_ % 2 == 0 else reversed(made):
            assert_like_the_cpu(host, FEEDS[name][0](), FEEDS[name][1], given)


def test_both_hosts_by_turns():
    """Both have the same file loaded: what a factory makes belongs to the host that it was made for."""
    with registered(onnxruntime, SAMPLE), registered(roundhouse, SAMPLE):
        by_turns([(host, name, session(host, SAMPLE, FEEDS[name][0]())) for name in FEEDS for host in HOSTS])
    with registered(roundhouse, SAMPLE):  # the other host has let it go
        assert_like_the_cpu(roundhouse, dense(), FEEDS["dense"][1], session(roundhouse, SAMPLE, dense()))


def run_from_four_threads(given, expected):
    def run(n):
        feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n)}
        for _ in range(50):
            np.testing.assert_allclose(given.run(None, feed)[0], expected.run(None, feed)[0], rtol=1e-5, atol=1e-6)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, (1, 2, 3, 7)))


@hosts
def test_four_threads_with_four_shapes(host):
    with registered(host, SAMPLE):
        run_from_four_threads(session(host, SAMPLE, dense()), plain(host, dense()))


def placement(model, settings=None):
    """Provider and, of the sample, code and reason of each node, by name."""
    with registered(roundhouse, SAMPLE):
        rows = session(roundhouse, SAMPLE, model, settings).placement()
    refusals = {r["node"]: [(f["code"], f["reason"]) for f in r["refusals"] if f["provider"] == SAMPLE] for r in rows}
    return {r["node"]: r["provider"] for r in rows}, refusals


def test_each_node_says_who_runs_it_and_why():
    providers, refusals = placement(dense())
    assert providers["exp"] == "CPUExecutionProvider"
    assert {n for n, p in providers.items() if p == SAMPLE} == {"product", "sum", "scaled", "last"}
    assert refusals["exp"] == [("op", "it runs Add, Mul, MatMul and If")]
    assert refusals["sum"] == []


def with_an_axis(op):
    """Of opset 6: the second operand's dimensions begin at axis 1 of the first one's, which NumPy's rule would put last."""
    node = helper.make_node(op, ["x", "b"], ["y"], "n", broadcast=1, axis=1)
    graph = helper.make_graph([node], "main", [tensor("x", [2, 3, 3])], [tensor("y", [2, 3, 3])], [numpy_helper.from_array(floats(3), "b")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=3).SerializeToString()


@pytest.mark.parametrize("op", ["Add", "Mul"])
def test_operators_that_broadcast_from_an_axis_stay(op):
    providers, refusals = placement(with_an_axis(op))
    assert providers == {"n": "CPUExecutionProvider"}
    assert refusals["n"] == [("opset", "before opset 7 an axis says how it broadcasts")]
    x = floats(2, 3, 3, seed=1)
    expected = getattr(np, {"Add": "add", "Mul": "multiply"}[op])(x, floats(3)[:, None])
    with registered(roundhouse, SAMPLE):
        np.testing.assert_allclose(session(roundhouse, SAMPLE, with_an_axis(op)).run(None, {"x": x})[0], expected, rtol=1e-6)
    with registered(onnxruntime, SAMPLE):  # whose own operators begin with opset 7
        assert f"Could not find an implementation for {op}(6)" in failure(lambda: session(onnxruntime, SAMPLE, with_an_axis(op)))


def test_regions_that_are_too_small_stay():
    providers, refusals = placement(dense(), {"least_nodes": "2"})
    assert providers["product"] == providers["scaled"] == SAMPLE
    assert providers["last"] == "CPUExecutionProvider"
    assert refusals["last"] == [("cost", "its region has 1 node, fewer than 2")]


def test_an_if_is_taken_whole_or_by_its_nodes():
    providers, _ = placement(branches())
    assert set(providers.values()) == {SAMPLE}
    providers, refusals = placement(branches("Exp"))
    assert providers["choice"] == "CPUExecutionProvider"
    assert providers["deeper"] == SAMPLE
    assert refusals["choice"] == [("op", "of its body, node 'then_last': it runs Add, Mul, MatMul and If")]


@hosts
def test_an_if_with_bodies_that_it_does_not_run(host):
    feeds = FEEDS["branches"][1]
    with registered(host, SAMPLE):
        assert_like_the_cpu(host, branches("Exp"), feeds, session(host, SAMPLE, branches("Exp")))


@hosts
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"least_node": "2"}, "SampleExecutionProvider has no option 'least_node'; did you mean 'least_nodes'?"),
        ({"least_nodes": "0"}, "option 'least_nodes' of SampleExecutionProvider is '0', expected an integer from 1 to 1000000"),
        ({"take_if": "maybe"}, "option 'take_if' of SampleExecutionProvider is 'maybe', expected 0 or 1"),
        ({"library_path": "/no/such.so"}, "the sample vendor's library does not load: "),
    ],
)
def test_what_is_wrong_is_one_sentence(host, settings, message):
    with registered(host, SAMPLE):
        with pytest.raises(Exception) as caught:
            session(host, SAMPLE, dense(), settings)
        assert message in str(caught.value)
        assert_like_the_cpu(host, dense(), FEEDS["dense"][1], session(host, SAMPLE, dense()))


def fail_and_run_on(given):
    given.disable_fallback()  # to the CPU, which ONNX Runtime's package does with a session of its own
    with pytest.raises(Exception, match="the sample vendor's sv_run failed: operands do not broadcast"):
        given.run(None, {"x": floats(3, 4), "x2": floats(2, 3)})
    assert given.run(None, {"x": floats(3, 4), "x2": floats(3, 3)})[0].shape == (3, 3)


@hosts
def test_a_run_that_fails_says_so_and_the_session_goes_on(host):
    with registered(host, SAMPLE):
        fail_and_run_on(session(host, SAMPLE, dense()))


def test_errors_keep_their_code():
    with registered(roundhouse, SAMPLE):
        with pytest.raises(roundhouse.InvalidArgument):
            session(roundhouse, SAMPLE, dense(), {"least_nodes": "none"})


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_library_exports_its_interface_alone_and_is_small(tmp_path):
    library = LIBRARIES / "roundhouse_provider_sample.so"
    exported = {line.split()[-1] for line in output_of("nm", "-D", "--defined-only", library).splitlines()}
    assert exported == {
        "CreateEpFactories",
        "ReleaseEpFactory",
        "RhEpGetPasses",
        "RhEpGetRefusals",
        "RhEpInitializerAddresses",
        "RhEpUnitHostInputs",
        "RhEpWatchRuns",
    }
    kinds = {line.split()[-2] for line in output_of("nm", library).splitlines()}
    assert "u" not in kinds, "a symbol that a process has once"
    needed = [line for line in output_of("readelf", "-dW", library).splitlines() if "(NEEDED)" in line]
    assert all("libc.so" in line or "libm.so" in line or "ld-linux" in line for line in needed), needed
    stripped = tmp_path / "stripped.so"
    output_of("strip", "-o", stripped, library)
    assert stripped.stat().st_size <= 3_000_000


def test_no_thread_of_ours_is_left():
    """The host's threads for calls that may hang end when the calls do, so it is waited for them."""
    program = f"""
import os, sys, time
sys.path[:0] = {sys.path!r}
from hosts import SAMPLE, dense, registered
import roundhouse
options = roundhouse.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
roundhouse.InferenceSession(dense(), options, providers=["CPUExecutionProvider"])
threads = lambda: len(os.listdir("/proc/self/task"))
before = threads()
with registered(roundhouse, SAMPLE):
    options.add_provider_for_devices([d for d in roundhouse.get_ep_devices() if d.ep_name == SAMPLE], {{}})
    made = roundhouse.InferenceSession(dense(), options)
    while threads() > before:
        time.sleep(0.01)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@hosts
def test_results_without_elements(host):
    model = model_of([helper.make_node("Add", ["x", "x"], ["y"])], [tensor("x", ["N", 4])], [tensor("y", ["N", 4])])

    def check(made):
        for rows in (0, 2, 0):
            assert made.run(None, {"x": floats(rows, 4)})[0].shape == (rows, 4)

    with registered(host, SAMPLE):
        check(session(host, SAMPLE, model))
