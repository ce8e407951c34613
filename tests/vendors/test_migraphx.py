"""MIGraphX's own library behind the provider, on its reference target: `scripts/stand migraphx -- python -m pytest tests/vendors`."""

import concurrent.futures
import functools
import json
import os
import pathlib

import numpy as np
import onnx
import pytest
from hosts import HOSTS, MIGRAPHX, branches, dense, floats, model_of, registered, session, tensor
from onnx import helper
from programs import program_of, said_by

import roundhouse

CPU = "CPUExecutionProvider"
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
FEEDS = [{"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)} for n in (1, 5, 2)]
REF = {"target": "ref"}

pytestmark = pytest.mark.skipif(
    MIGRAPHX not in roundhouse.get_available_providers(), reason="there is no MIGraphX here: scripts/stand migraphx -- ..."
)


def assert_like_the_cpu(host, model, feeds, made, rtol=1e-5, atol=1e-5):
    reference = host.InferenceSession(model, providers=[CPU])
    for feed in feeds:
        for e, a in zip(reference.run(None, feed), made.run(None, feed), strict=True):
            np.testing.assert_allclose(a, e, rtol=rtol, atol=atol)


def fixed():
    """y = exp(x w + b), of known sizes."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["s"]),
        helper.make_node("Tanh", ["s"], ["y"]),
    ]
    return model_of(nodes, [tensor("x", [5, 4])], [tensor("y", [5, 3])], {"w": floats(4, 3), "b": floats(3)})


@hosts
def test_open_sizes_are_right(host):
    with registered(host, MIGRAPHX):
        assert_like_the_cpu(host, dense(), FEEDS, session(host, MIGRAPHX, dense(), REF))


@hosts
@pytest.mark.parametrize(("option", "bound"), [("migraphx_fp16_enable", 2e-3), ("migraphx_bf16_enable", 2e-2)])
def test_half_precision(host, option, bound):
    """Within what its roundings take, and not as exact as float32."""
    feed = {"x": floats(5, 4, seed=3)}
    reference = host.InferenceSession(fixed(), providers=[CPU]).run(None, feed)[0]
    with registered(host, MIGRAPHX):
        made = session(host, MIGRAPHX, fixed(), {**REF, option: "1"})
        error = float(np.abs(made.run(None, feed)[0] - reference).max())
        del made
    assert 1e-6 < error < bound


@hosts
@pytest.mark.parametrize("form", ["json", "lines"])
def test_int8_by_a_table(host, form, tmp_path):
    ranges = {"x": 4.0, "p": 8.0, "s": 8.0, "y": 1.0}
    table = tmp_path / "table"
    if form == "json":
        table.write_text(json.dumps({name: {"low": -most, "high": most} for name, most in ranges.items()}))
    else:
        words = {name: np.frombuffer(np.float32(most / 127).tobytes(), "<u4")[0] for name, most in ranges.items()}
        table.write_text("TRT-8601-EntropyCalibration2\n" + "".join(f"{name}: {word:08x}\n" for name, word in words.items()))
    settings = {**REF, "migraphx_int8_enable": "1", "migraphx_int8_calibration_table_name": str(table)}
    feed = {"x": np.clip(floats(5, 4, seed=3), -4, 4)}
    reference = host.InferenceSession(fixed(), providers=[CPU]).run(None, feed)[0]
    with registered(host, MIGRAPHX):
        made = session(host, MIGRAPHX, fixed(), settings)
        error = float(np.abs(made.run(None, feed)[0] - reference).max())
        del made
    assert 1e-4 < error < 0.1


@hosts
def test_what_was_compiled_before_is_right(host, tmp_path):
    settings = {**REF, "migraphx_model_cache_dir": str(tmp_path / "cache")}
    with registered(host, MIGRAPHX):
        for _ in range(2):
            assert_like_the_cpu(host, fixed(), [{"x": floats(5, 4, seed=1)}], session(host, MIGRAPHX, fixed(), settings))
    kept = list((tmp_path / "cache").glob("*.artifact"))
    assert len(kept) == 1 and b"MIGraphX " in kept[0].read_bytes()[:400] and b" for ref" in kept[0].read_bytes()[:400]


@pytest.mark.parametrize("loader", HOSTS, ids=lambda h: f"to_{h.__name__}")
@pytest.mark.parametrize("writer", HOSTS, ids=lambda h: f"from_{h.__name__}")
def test_a_compiled_model_goes_from_host_to_host(writer, loader, tmp_path):
    source, target = tmp_path / "model.onnx", tmp_path / "model_ctx.onnx"
    source.write_bytes(fixed())
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": "1", "ep.context_file_path": str(target)}
    with registered(writer, MIGRAPHX):
        session(writer, MIGRAPHX, str(source), REF, config=entries)
    assert [node.op_type for node in onnx.load(target).graph.node] == ["EPContext"]
    with registered(loader, MIGRAPHX):
        feed = {"x": floats(5, 4, seed=2)}
        made = session(loader, MIGRAPHX, str(target), REF)
        expected = loader.InferenceSession(fixed(), providers=[CPU]).run(None, feed)[0]
        np.testing.assert_allclose(made.run(None, feed)[0], expected, rtol=1e-5, atol=1e-6)
        del made


@hosts
def test_branches_are_right(host):
    feeds = [{"x": floats(n, 4, seed=n), "c": np.array(c)} for n, c in ((1, True), (3, False), (2, True))]
    with registered(host, MIGRAPHX):
        assert_like_the_cpu(host, branches(), feeds, session(host, MIGRAPHX, branches(), REF))


def run_often(made, reference, n):
    feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n)}
    for _ in range(20):
        np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-6)


@hosts
def test_four_threads_with_four_shapes(host):
    reference = host.InferenceSession(dense(), providers=[CPU])
    with registered(host, MIGRAPHX):
        made = session(host, MIGRAPHX, dense(), REF)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(functools.partial(run_often, made, reference), (1, 2, 20, 40)))
        del made


def compilations(made):
    return [event["dur"] for event in json.loads(pathlib.Path(made.end_profiling()).read_text()) if event["name"] == "migraphx_compile"]


def profiled(model, folder, settings=None):
    options = roundhouse.SessionOptions()
    options.enable_profiling, options.log_severity_level = True, 4
    options.profile_file_prefix = str(folder / "profile")
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    return roundhouse.InferenceSession(model, options, providers=[(MIGRAPHX, {**REF, **(settings or {})}), CPU])


def decoder():
    """A layer with past keys and values, of which each step adds one."""
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal((8, 8)).astype("f4") / 3 for name in ("wq", "wk", "wv", "wo")}
    nodes = [
        *(helper.make_node("MatMul", ["x", f"w{name}"], [name], f"project_{name}") for name in "qkv"),
        helper.make_node("Concat", ["past_k", "k"], ["present_k"], "keys", axis=1),
        helper.make_node("Concat", ["past_v", "v"], ["present_v"], "values", axis=1),
        helper.make_node("Transpose", ["present_k"], ["kt"], "turn", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "kt"], ["scores"], "score"),
        helper.make_node("Add", ["scores", "mask"], ["masked"], "hide"),
        helper.make_node("Softmax", ["masked"], ["weights"], "weigh"),
        helper.make_node("MatMul", ["weights", "present_v"], ["context"], "gather"),
        helper.make_node("MatMul", ["context", "wo"], ["out"], "leave"),
        helper.make_node("Add", ["out", "x"], ["y"], "residual"),
    ]
    inputs = [tensor("x", ["N", "S", 8]), tensor("past_k", ["N", "P", 8]), tensor("past_v", ["N", "P", 8]), tensor("mask", [1, 1, "T"])]
    outputs = [tensor("y", ["N", "S", 8]), tensor("present_k", ["N", "K", 8]), tensor("present_v", ["N", "K", 8])]
    return model_of(nodes, inputs, outputs, weights)


@pytest.mark.parametrize("masks", ["right", "wrong"])
def test_growing_steps_of_a_decoder(masks, tmp_path):
    """200 steps; masks that hide nothing, or all, or are no numbers, change nothing of what is compiled, and the results are the CPU's."""
    made = profiled(decoder(), tmp_path)
    reference = roundhouse.InferenceSession(decoder(), providers=[CPU])
    past = [np.zeros((1, 0, 8), "f4")] * 2
    for step in range(200):
        mask = np.zeros((1, 1, step + 1), "f4")
        if masks == "wrong":
            mask[..., step // 2 :] = [3e38, -np.inf, np.nan, -5.0][step % 4]
        feed = {"x": floats(1, 1, 8, seed=step), "past_k": past[0], "past_v": past[1], "mask": mask}
        expected = reference.run(None, feed)
        for e, a in zip(expected, made.run(None, feed), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)
        past = [np.nan_to_num(value) for value in expected[1:]]
    rows = {row["node"]: row for row in made.placement()}
    assert {name: rows[name]["provider"] for name in ("project_q", "leave", "residual")} == dict.fromkeys(
        ("project_q", "leave", "residual"), MIGRAPHX
    )
    for name in ("keys", "score", "weigh", "gather"):
        assert rows[name]["provider"] == CPU
        reason = rows[name]["refusals"][0]["reason"]
        assert "'P' grows from run to run and may not be padded" in reason or "a size that the run computes" in reason
    assert 1 <= len(compilations(made)) <= 20


def test_growing_batches_are_padded(tmp_path):
    made, reference = profiled(dense(), tmp_path), roundhouse.InferenceSession(dense(), providers=[CPU])
    for n in range(1, 201):
        feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n)}
        for e, a in zip(reference.run(None, feed), made.run(None, feed), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
    assert 1 <= len(compilations(made)) <= 20


@pytest.mark.parametrize(("rounds", "expected"), [(1, 4), (2, 16)])
def test_sizes_that_may_not_be_padded_are_few(rounds, expected, tmp_path):
    """What sums over a size is compiled for the first few, then for those that come again, and else left to the CPU: never once a step."""
    nodes = [helper.make_node("Softmax", ["x"], ["p"]), helper.make_node("ReduceSum", ["p"], ["y"], keepdims=0)]
    model = model_of(nodes, [tensor("x", ["N", "S"])], [tensor("y", []), tensor("p", ["N", "S"])])
    made, reference = profiled(model, tmp_path), roundhouse.InferenceSession(model, providers=[CPU])
    for size in [*range(1, 60)] * rounds:
        feed = {"x": floats(3, size, seed=size)}
        for e, a in zip(reference.run(None, feed), made.run(None, feed), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
    assert len(compilations(made)) == expected


def test_a_target_that_is_not_here_says_so():
    with pytest.raises(Exception, match="MIGraphX's target failed .*libmigraphx_gpu"):
        roundhouse.InferenceSession(fixed(), providers=[MIGRAPHX, CPU])


@pytest.mark.parametrize(("source", "arguments"), [("append_provider.cc", ["migraphx"]), ("append_migraphx.c", [])], ids=["C++", "C"])
def test_programs_in_c_append_it(source, arguments, tmp_path):
    """As they are written for ONNX Runtime, against our headers and library; a struct names no target, and there is no GPU."""
    (tmp_path / "model.onnx").write_bytes(dense())
    said = said_by([os.environ["ROUNDHOUSE_STAND_RUN"], program_of(source, tmp_path), *arguments, tmp_path / "model.onnx"])
    assert "MIGraphX's target failed" in said["struct"]
    if not arguments:
        assert "MIGraphX's target failed" in said["device"]
        return
    feed = {"x": np.full((2, 4), 0.5, "f4"), "x2": np.full((2, 3), 0.5, "f4")}
    expected = roundhouse.InferenceSession(dense(), providers=[CPU]).run(None, feed)[0][0, 0]
    assert float(said["name"]) == pytest.approx(expected, rel=1e-5)
    assert "target" in said["wrong"] and "expected one of 'gpu', 'ref'" in said["wrong"]
