"""Providers of a device with memory of its own, in both hosts: the fake device says so where a host gives it memory that is not its own."""

import concurrent.futures
import gc

import numpy as np
import onnx
import onnxruntime
import pytest
from fake_device import count, counted
from hosts import FAKE, HOSTS, SAMPLE, devices_of, failure, floats, registered, session
from onnx import numpy_helper

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
GPU = ("gpu", 0, 0xFADE)
DELAY = {"delay_us": "300"}

#: Three regions of the device with the CPU's nodes between them, a value that both take, and one that is an output as well.
ISLANDS = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x) => (float[N, 8] y, float[N, 8] b)
<float[8, 8] w, float[8] k>
{
  a = MatMul (x, w)
  b = Add (a, k)
  c = Exp (b)
  d = Mul (c, b)
  e = Tanh (d)
  f = Abs (e)
  y = Add (f, d)
}"""

#: A branch and a loop whose bodies take constants, values and inputs from around them, and have constants of their own.
BODIES = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x, bool flag, int64 trips) => (float[N, 8] y)
<float[8, 8] w, float[8] k, bool yes = {1}>
{
  a = MatMul (x, w)
  choice = If (flag) <
    then_branch = t () => (float[N, 8] t2) { t1 = MatMul (a, w) t2 = Add (t1, k) },
    else_branch = e () => (float[N, 8] e2) <float[8] own> { e1 = Mul (a, own) e2 = Sub (e1, x) }
  >
  last, all = Loop (trips, yes, choice) <body = body (int64 i, bool go, float[N, 8] s) => (bool again, float[N, 8] next, float[N, 8] seen) {
    again = Identity (go)
    m = MatMul (s, w)
    next = Tanh (m)
    seen = Add (next, k)
  }>
  sum = ReduceSum <keepdims = 0> (all, zero)
  y = Add (sum, last)
}"""


def bodies_of(node):
    return [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]


def name_nodes(graph):
    for node in graph.node:
        node.name = node.output[0]
        for body in bodies_of(node):
            name_nodes(body)


def fill(graph, seed):
    """Values that the text only declares become constants."""
    for place, info in enumerate(graph.value_info):
        dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
        graph.initializer.append(numpy_helper.from_array(0.3 * floats(*dims, seed=seed + place), info.name))
    del graph.value_info[:]
    for node in graph.node:
        for body in bodies_of(node):
            fill(body, seed + 10)


def model_of(text, zero=False):
    model = onnx.parser.parse_model(text)
    if zero:
        model.graph.initializer.append(numpy_helper.from_array(np.array([0], np.int64), "zero"))
    fill(model.graph, 1)
    name_nodes(model.graph)
    return model


def islands():
    return model_of(ISLANDS).SerializeToString()


def plain(host, model):
    options = host.SessionOptions()
    options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
    return host.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def assert_same(given, expected, feeds):
    for feed in feeds:
        for actual, wanted in zip(given.run(None, feed), expected.run(None, feed), strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6)


ON_DEVICE = {"claim": "=a,b,d,e,y"}


@hosts
@pytest.mark.parametrize("arena", ["0", "1"])
@pytest.mark.parametrize("kind", ["regions", "both"])
def test_device_cpu_device(host, kind, arena):
    feeds = [{"x": floats(n, 8, seed=n)} for n in (1, 4, 2, 4)]
    with registered(host, FAKE):
        given = session(host, FAKE, islands(), {**ON_DEVICE, **DELAY, "kind": kind, "arena": arena})
        with counted() as done:
            assert_same(given, plain(host, islands()), feeds)
        del given
        assert count("bytes") == 0
    assert done["copies_in"] == 3 * len(feeds)  # x, c and f
    assert done["copies_out"] == 3 * len(feeds)  # b, which Exp takes as well, e and y
    assert done["compilations"] == 0


def test_both_hosts_by_turns():
    with registered(onnxruntime, FAKE), registered(roundhouse, FAKE):
        made = [(plain(host, islands()), session(host, FAKE, islands(), {**ON_DEVICE, **DELAY})) for host in HOSTS]
        for turn in range(3):
            for expected, given in made if turn % 2 == 0 else reversed(made):
                assert_same(given, expected, [{"x": floats(2 + turn, 8, seed=turn)}])
        del made, expected, given


BODY_CLAIMS = {
    "whole": {"claim": "0:100", "bodies": "1"},
    "by nodes": {"claim": "0:100"},
    "in part": {"claim": "=a,t1,e1,m,seen,y"},
}


@hosts
@pytest.mark.parametrize("optimize", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("external", [False, True], ids=["inside", "external"])
@pytest.mark.parametrize("claim", BODY_CLAIMS)
def test_bodies_with_outer_weights(host, claim, external, optimize, tmp_path):
    path = str(tmp_path / "bodies.onnx")
    onnx.save_model(model_of(BODIES, zero=True), path, save_as_external_data=external, location="weights", size_threshold=60)
    feeds = [
        {"x": floats(n, 8, seed=n), "flag": np.array(flag), "trips": np.array(trips)}
        for n, flag, trips in ((2, True, 3), (5, False, 1), (2, False, 2))
    ]
    with registered(host, FAKE):
        given = session(host, FAKE, path, {**BODY_CLAIMS[claim], **DELAY}, optimize)
        assert_same(given, plain(host, path), feeds)
        if claim == "whole" and host is roundhouse:
            assert {row["provider"] for row in given.placement() if row["node"] in ("choice", "last")} == {FAKE}
        del given
        gc.collect()
        assert count("bytes") == 0


@hosts
def test_a_body_waits_for_the_inputs_of_the_model(host):
    """The body is the CPU's, its nodes are the device's, and take what the main graph takes as well."""
    model = model_of("""<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x, bool flag) => (float[N, 8] y)
{
  v = If (flag) <then_branch = t () => (float[N, 8] a) { a = Sin (x) }, else_branch = e () => (float[N, 8] b) { p = Abs (x) b = Neg (p) }>
  k = Tanh (x)
  y = Mul (v, k)
}""").SerializeToString()
    feeds = [{"x": floats(2, 8, seed=n), "flag": np.array(n % 2 == 0)} for n in range(6)]
    with registered(host, FAKE):
        given = session(host, FAKE, model, {"claim": "=p,b,k,y", "delay_us": "1000"})
        assert_same(given, plain(host, model), feeds)
        del given


@hosts
def test_constants_are_on_the_device_once(host):
    """Regions share what they both take, and the weights of all are there once."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 128] x) => (float[N, 128] y) <float[128, 128] w> {
  a = MatMul (x, w)
  b = Exp (a)
  y = MatMul (b, w)
}""")
    fill(model.graph, 1)
    name_nodes(model.graph)
    with registered(host, FAKE):
        with counted() as done:
            given = session(host, FAKE, model.SerializeToString(), {"claim": "=a,y"})
            at_rest = count("bytes")
        assert done["compilations"] == 2
        assert 128 * 128 * 4 <= at_rest <= 1.1 * 128 * 128 * 4
        with counted() as done:
            assert_same(given, plain(host, model.SerializeToString()), [{"x": 0.1 * floats(3, 128)}])
        assert done["compilations"] == 0
        del given


SHARED = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 128] x, bool c) => (float[N, 128] y) <float[128, 128] w, float[128, 128] v> {
  a = MatMul (x, w)
  b = If (c) <then_branch = t () => (float[N, 128] p) { p = MatMul (a, w) },
              else_branch = e () => (float[N, 128] q) { o = MatMul (a, v) q = MatMul (o, w) }>
  y = Exp (b)
}"""


@hosts
def test_constants_of_bodies_are_on_the_device_once(host):
    """Hosts compile the regions of each body in a call of its own."""
    model = onnx.parser.parse_model(SHARED)
    fill(model.graph, 1)
    name_nodes(model.graph)
    data = model.SerializeToString()
    with registered(host, FAKE):
        given = session(host, FAKE, data, {"claim": "=a,p,o,q"})
        at_rest = count("bytes")
        feeds = [{"x": 0.1 * floats(3, 128), "c": np.array(c)} for c in (True, False)]
        assert_same(given, plain(host, data), feeds)
        del given
        gc.collect()
        assert count("bytes") == 0
    assert 2 * 128 * 128 * 4 <= at_rest <= 2.1 * 128 * 128 * 4


@hosts
def test_a_buffer_that_is_input_and_output(host):
    """A chain whose last node is element-wise may write where it read."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
main (float[4, 8] x) => (float[4, 8] y) { a = Tanh (x) b = Neg (a) y = Tanh (b) }""")
    name_nodes(model.graph)
    with registered(host, FAKE):
        for settings in ({**DELAY}, {"claim": "0:100", **DELAY}):
            given = session(host, FAKE, model.SerializeToString(), settings)
            x = floats(4, 8)
            value = host.OrtValue.ortvalue_from_numpy(x, *GPU)
            binding = given.io_binding()
            binding.bind_ortvalue_input("x", value)
            binding.bind_ortvalue_output("y", value)
            for _ in range(2):
                with counted() as done:
                    given.run_with_iobinding(binding)
                assert done["copies_in"] == done["copies_out"] == 0
                x = np.tanh(-np.tanh(x))
                np.testing.assert_allclose(value.numpy(), x, rtol=1e-5, atol=1e-6)
            del binding, value, given
            gc.collect()


@hosts
def test_several_devices(host, monkeypatch):
    monkeypatch.setenv("FAKE_DEVICE_COUNT", "3")
    feeds = [{"x": floats(3, 8)}]
    with registered(host, FAKE):
        listed = devices_of(host, FAKE)
        assert [d.ep_metadata["device_id"] for d in listed] == ["0", "1", "2"]
        made = [session(host, FAKE, islands(), ON_DEVICE, device=place) for place in (2, 1)]
        for given, place, other in zip(made, (2, 1), (1, 2)):
            with counted(place) as here, counted(other) as there:
                assert_same(given, plain(host, islands()), feeds)
            assert here["runs"] == 3 and there["runs"] == 0
        del made, given
        gc.collect()


@hosts
def test_sessions_share_an_allocator(host):
    with registered(host, FAKE):
        made = [session(host, FAKE, islands(), {**ON_DEVICE, **DELAY}, config={"session.use_env_allocators": "1"}) for _ in range(2)]
        for n in (3, 1, 3):
            for given in made:
                assert_same(given, plain(host, islands()), [{"x": floats(n, 8, seed=n)}])
        del made, given
        gc.collect()
    assert count("bytes") == 0


@hosts
@pytest.mark.parametrize("first", [FAKE, SAMPLE])
def test_a_device_beside_a_provider_on_the_host(host, first):
    """Values go from the device to the other provider and to the CPU, and back."""
    with registered(host, FAKE), registered(host, SAMPLE):
        options = host.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
        for name in (first, SAMPLE if first == FAKE else FAKE):
            options.add_provider_for_devices(devices_of(host, name), {"claim": "=b,e,y", **DELAY} if name == FAKE else {})
        given = host.InferenceSession(islands(), options)
        assert_same(given, plain(host, islands()), [{"x": floats(n, 8, seed=n)} for n in (2, 5, 1)])
        del given
        gc.collect()
        assert count("bytes") == 0


@hosts
def test_what_is_wrong_is_one_sentence(host):
    with registered(host, FAKE):
        for settings, message in (
            ({"claim": "half"}, "option claim is 'half', expected SEED:PERCENT, of at most 100, or =NAME,NAME"),
            ({"claim": "1:200"}, "option claim is '1:200', expected SEED:PERCENT, of at most 100, or =NAME,NAME"),
            ({"claim": "1:5x"}, "option claim is '1:5x', expected"),
            ({"kinds": "both"}, "FakeDeviceExecutionProvider has no option 'kinds'; did you mean 'kind'?"),
            ({"fail": "nothing"}, "option 'fail' of FakeDeviceExecutionProvider is 'nothing', expected one of"),
            ({"kind": "all"}, "option 'kind' of FakeDeviceExecutionProvider is 'all', expected one of"),
        ):
            with pytest.raises(Exception) as caught:
                session(host, FAKE, islands(), settings)
            assert message in str(caught.value)


def run_side_by_side(given, expected):
    def run(n):
        feed = {"x": floats(n, 8, seed=n)}
        wanted = expected.run(None, feed)
        for _ in range(15):
            for actual, value in zip(given.run(None, feed), wanted, strict=True):
                np.testing.assert_allclose(actual, value, rtol=1e-5, atol=1e-6)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, (1, 2, 3, 7)))


@hosts
@pytest.mark.parametrize("arena", ["0", "1"])
def test_four_threads_with_four_shapes(host, arena):
    with registered(host, FAKE):
        given = session(host, FAKE, islands(), {**ON_DEVICE, "delay_us": "100", "arena": arena})
        run_side_by_side(given, plain(host, islands()))
        del given
        gc.collect()
        assert count("bytes") == 0


@hosts
@pytest.mark.parametrize("call", ["run", "work", "alloc", "copy_in", "copy_out", "record", "stream"])
def test_a_run_that_fails_leaves_the_session_usable(host, call):
    with registered(host, FAKE):
        uploads = "1" if call in ("alloc", "copy_in") else "0"  # while it is made
        given = session(host, FAKE, islands(), {**ON_DEVICE, "fail": call, "fail_after": uploads, "fail_times": "1"})
        given.disable_fallback()
        expected = plain(host, islands())
        feed = {"x": floats(3, 8)}
        try:
            given.run(None, feed)
        except Exception as error:
            assert call == "alloc" or "failure injected at" in str(error), error
        assert_same(given, expected, [feed])
        del given
        gc.collect()
        assert count("bytes") == 0


#: Without weights, so that the first memory is asked for in a run.
CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x) => (float[N, 8] y) { a = Tanh (x) b = Exp (a) y = Neg (b) }"""


@hosts
@pytest.mark.parametrize("settings", [{"kind": "kernels"}, {"kind": "regions", "claim": "=a,y"}], ids=lambda s: s["kind"])
@pytest.mark.parametrize("after", [0, 1, 2], ids=["of an input", "of a result", "of another result"])
def test_want_of_memory_in_a_run_says_so(host, settings, after):
    data, feed = model_of(CHAIN).SerializeToString(), {"x": floats(3, 8)}
    with registered(host, FAKE):
        fault = {"fail": "alloc", "fail_with": "memory", "fail_after": str(after), "fail_times": "1"}
        given = session(host, FAKE, data, {**settings, **fault})
        given.disable_fallback()
        said = failure(lambda made=given: made.run(None, feed))
        assert_same(given, plain(host, data), [feed])  # the next run has memory again
        del given
        gc.collect()
    assert "out of memory: " in said or "gave no memory for " in said, said
    assert "EP_FAIL" not in said and " address of " not in said, said


#: The device's node needs x as well, which a body on the CPU takes from it.
BRANCH_BESIDE = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 4] x, bool c) => (float[N, 4] y)
{
  r = If (c) <then_branch = t () => (float[N, 4] a) { a = Add (x, x) }, else_branch = e () => (float[N, 4] b) { b = Mul (x, x) }>
  y = Add (r, x)
}"""


@hosts
def test_a_copy_without_a_stream_waits_for_what_streams_do(host):
    model = onnx.parser.parse_model(BRANCH_BESIDE)
    model.graph.node[1].name = "post"
    x = floats(3, 4)

    def check(made):
        for _ in range(10):
            np.testing.assert_array_equal(made.run(None, {"x": x, "c": np.array(True)})[0], 3 * x)

    with registered(host, FAKE):
        check(session(host, FAKE, model.SerializeToString(), {"claim": "=post", "delay_us": "500"}))
