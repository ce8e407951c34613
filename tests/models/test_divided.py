"""Models divided at random between the CPU and a device with memory of its own: the same results, in the fewest copies.

ROUNDHOUSE_DIVIDE=all takes every model of the tests' data and of build/models, 20 times each; a name takes that one.
"""

import os
import pathlib
import time

import numpy as np
import onnx
import pytest
from common import BUILD, MODELS, model_path, sample_inputs
from least_copies import executions_of, least_copies

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", BUILD / "release" / "lib"))
FAKE = "FakeDeviceExecutionProvider"
ROUNDS = 20
SMALL = {"mobilenetv3_large_100": ROUNDS, "lstm_tagger": ROUNDS, "llama_tiny": 4}
TOLERANCE = 2e-6  # of the largest magnitude in an output: kernels of the CPU sum in another order where weights are no constants

#: A loop with branches in it that captures values, and a scan after it.
CONTROL_FLOW = """<ir_version: 8, opset_import: ["" : 17]>
main (int64 trips, bool flag, float[4] x, float[4, 3] z) => (float[4] last, float[n, 4] all, float[4] sum, float[4, 3] steps, float[4] w)
<bool yes = {1}, int64 two = {2}, float[4] c = {1, -2, 0.5, 3}>
{
  a = Tanh (x)
  b = Sigmoid (a)
  d = Mul (b, c)
  last, all = Loop (trips, yes, a) <body = body (int64 i, bool go, float[4] s) => (bool again, float[4] next, float[4] seen) {
    again = Identity (go)
    half = Mul (s, b)
    parity = Mod (i, two)
    odd = Cast <to = 9> (parity)
    mixed = If (odd) <
      then_branch = t () => (float[4] t2) { t1 = Neg (d) t2 = Add (t1, half) },
      else_branch = e () => (float[4] e3) { e1 = Abs (half) e2 = Sub (e1, b) e3 = Sqrt (e2) }
    >
    m2 = Softmax (mixed)
    next = Add (m2, half)
    seen = Exp (next)
  }>
  k = If (flag) <
    then_branch = t () => (float[4] kt) { k1 = Relu (d) k2 = Add (k1, b) kt = Mul (k2, last) },
    else_branch = e () => (float[4] ke) { k3 = Abs (d) ke = Max (k3, a) }
  >
  sum, steps = Scan (k, z) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
    body = body (float[4] p, float[4] q) => (float[4] p2, float[4] r) {
      q2 = Mul (q, b)
      p2 = Add (p, q2)
      r0 = Tanh (p2)
      r = If (flag) <then_branch = t () => (float[4] rt) { rt = Mul (r0, k) }, else_branch = e () => (float[4] re) { re = Neg (r0) }>
    }
  >
  w = If (flag) <
    then_branch = t () => (float[4] wt) { w1 = Neg (d) wt = Add (w1, sum) },
    else_branch = e () => (float[4] we) {
      w2 = If (flag) <
        then_branch = t () => (float[4] w3) { w3 = Relu (d) },
        else_branch = e () => (float[4] w4) { w4 = Tanh (d) }
      >
      we = Neg (w2)
    }
  >
}"""


def models():
    chosen = os.environ.get("ROUNDHOUSE_DIVIDE")
    if chosen == "all":
        return [(name, ROUNDS) for name in MODELS]
    return [(chosen, ROUNDS)] if chosen else list(SMALL.items())


@pytest.fixture(scope="module")
def device():
    path = LIBRARIES / "roundhouse_provider_fake_device.so"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    roundhouse.register_execution_provider_library("fake", str(path))
    (found,) = [d for d in roundhouse.get_ep_devices() if d.ep_name == FAKE]
    yield found
    roundhouse.unregister_execution_provider_library("fake")


def plain_options():
    """Nodes as the model has them, since fused ones round fewer times."""
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return options


def divided(device, path, seed):
    """Shapes go to the device as all else, so that a value has one place for each provider that takes it."""
    options = plain_options()
    settings = {"claim": f"{seed}:{20 + seed * 37 % 70}", "delay_us": str(seed % 3 * 20), "host_shapes": "0"}
    options.add_provider_for_devices([device], settings)
    return roundhouse.InferenceSession(path, options)


def copies_of(session):
    statistics = session.statistics()
    return sum(statistics[name] for name in ("input_copies", "output_copies", "step_copies"))


def check_divisions(device, path, feeds_list, rounds, folder):
    """Every division gives what the CPU gives alone, with no more than the fewest copies. Returns how many nodes the device had."""
    graph = onnx.load(path, load_external_data=False).graph
    plain = roundhouse.InferenceSession(path, plain_options(), providers=["CPUExecutionProvider"])
    expected = [plain.run(None, feeds) for feeds in feeds_list]
    executions = [executions_of(path, plain_options(), feeds, folder) for feeds in feeds_list]
    claimed = []
    for seed in range(rounds):
        session = divided(device, path, seed)
        placement = session.placement()
        claimed.append(sum(node["provider"] == FAKE for node in placement))
        for feeds, wanted_outputs, executed in zip(feeds_list, expected, executions, strict=True):
            before = copies_of(session)
            for actual, wanted in zip(session.run(None, feeds), wanted_outputs, strict=True):
                assert actual.shape == wanted.shape
                scale = float(np.abs(wanted).max()) if wanted.size else 0.0
                np.testing.assert_allclose(actual, wanted, rtol=0, atol=TOLERANCE * scale, err_msg=f"seed {seed}")
            assert copies_of(session) - before == least_copies(graph, placement, FAKE, executed), f"seed {seed}"
        del session
    assert min(claimed) > 0 and len(set(claimed)) > rounds // 4
    return claimed


@pytest.mark.parametrize(("name", "rounds"), models())
def test_any_division_gives_the_same(device, name, rounds, tmp_path):
    path = str(model_path(name))
    started = time.perf_counter()
    claimed = check_divisions(device, path, [sample_inputs(path)], rounds, tmp_path)
    nodes = len(onnx.load(path, load_external_data=False).graph.node)
    print(f"{name}: {rounds} divisions, {min(claimed)} to {max(claimed)} of {nodes} nodes, {time.perf_counter() - started:.1f} s")


def name_nodes(graph):
    for node in graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
        for attribute in node.attribute:
            name_nodes(attribute.g)


def test_any_division_of_loops_and_branches_gives_the_same(device, tmp_path):
    model = onnx.parser.parse_model(CONTROL_FLOW)
    name_nodes(model.graph)
    onnx.checker.check_model(model)
    path = str(tmp_path / "control_flow.onnx")
    onnx.save(model, path)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(4).astype("f4"), rng.standard_normal((4, 3)).astype("f4")
    feeds = [{"trips": np.array(trips), "flag": np.array(flag), "x": x, "z": z} for trips in (3, 0, 1, 2) for flag in (True, False)]
    check_divisions(device, path, feeds, 3 * ROUNDS, tmp_path)


def optimized(device, path, claim):
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads = 1
    if claim is not None:
        options.add_provider_for_devices([device], {"claim": claim})
    return roundhouse.InferenceSession(path, options)


@pytest.mark.parametrize("name", [name for name, _ in models()])
def test_the_rest_of_a_divided_model_is_optimized_as_alone(device, name):
    path = str(model_path(name))
    feeds = sample_inputs(path)
    bound = 0.1 if "int" in name else 2e-2 if "fp16" in name else 1e-4  # of the largest magnitude: what is fused rounds elsewhere
    alone = optimized(device, path, None)
    expected, placed = alone.run(None, feeds), alone.placement()
    kernels = {node["runs_as"] for node in placed}
    nothing = optimized(device, path, "0:0")
    assert [(node["kernel"], node["runs_as"]) for node in nothing.placement()] == [(node["kernel"], node["runs_as"]) for node in placed]
    for actual, wanted in zip(nothing.run(None, feeds), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted)
    for percent in (5, 50):
        for seed in range(3):
            session = optimized(device, path, f"{seed}:{percent}")
            placement = session.placement()
            taken = sum(node["provider"] == FAKE for node in placement)
            assert taken > 0 or percent == 5
            if percent == 5:  # what lies between a few nodes of the device stays fused
                assert len({node["runs_as"] for node in placement}) <= len(kernels) + 8 * taken
            for actual, wanted in zip(session.run(None, feeds), expected, strict=True):
                assert actual.shape == wanted.shape and actual.dtype == wanted.dtype
                if wanted.dtype.kind == "f":
                    scale = float(np.abs(wanted).max()) if wanted.size else 0.0
                    np.testing.assert_allclose(actual, wanted, rtol=0, atol=bound * scale, err_msg=f"{percent} %, seed {seed}")


def test_a_unit_gives_what_later_passes_left_no_use_for(device):
    """A mask of which recognised attention has no need is made on the device beside another one."""
    path = str(model_path("distilbert"))
    feeds = sample_inputs(path)
    expected = optimized(device, path, None).run(None, feeds)
    actual = optimized(device, path, "2:5").run(None, feeds)
    np.testing.assert_allclose(actual[0], expected[0], rtol=0, atol=1e-4 * float(np.abs(expected[0]).max()))
