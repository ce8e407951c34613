"""`bench` and `profile`: what they report, the trace, and the memory timeline."""

import json

import numpy as np
import pytest
from command import answer, constant, roundhouse, stock_library, value, write_model, write_network
from onnx import TensorProto, helper


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("measure")
    write_network(path / "network.onnx")
    return path


PERCENTILES = ["min", "p50", "p90", "p95", "p99", "max"]


def assert_ordered(latency):
    values = [latency[key] for key in PERCENTILES]
    assert values == sorted(values) and values[0] > 0 and latency["min"] <= latency["mean"] <= latency["max"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_bench(concurrency, folder):
    report = answer("bench", "network.onnx", "-n", "20", "-c", concurrency, cwd=folder)
    assert (report["runs"], report["concurrency"]) == (20, concurrency)
    assert_ordered(report["latency_ms"])
    assert report["load_ms"] > 0 and report["first_run_ms"] > 0 and report["runs_per_second"] > 0
    memory = report["memory_bytes"]
    assert 0 < memory["peak_after_load"] <= memory["peak"] and memory["planned_peak"] > 0
    done = roundhouse("bench", "network.onnx", "-n", "5", cwd=folder)
    assert done.returncode == 0 and "over 5 runs" in done.stdout and "runs/s" in done.stdout


def test_bench_beside_the_stock_library(folder):
    report = answer("bench", "network.onnx", "-n", "20", "--rounds", "4", "--peer", stock_library(), cwd=folder)
    peer = report["peer"]
    assert (report["runs"], peer["runs"]) == (20, 20)
    assert_ordered(peer["latency_ms"])
    speedup = peer["speedup"]
    assert 0 < speedup["min"] <= speedup["median"] <= speedup["max"]
    text = roundhouse("bench", "network.onnx", "-n", "5", "--peer", stock_library(), cwd=folder).stdout
    assert "times the speed of" in text and peer["name"] in text


def test_peers_that_cannot_be_had(folder):
    (folder / "text.so").write_text("no library")
    for path, wanted in (("nowhere.so", "no such file"), ("text.so", "text.so")):
        done = roundhouse("bench", "network.onnx", "-n", "5", "--peer", path, cwd=folder)
        assert done.returncode == 1 and wanted in done.stderr and done.stderr.startswith("roundhouse: --peer")


def test_profile(folder):
    report = answer("profile", "network.onnx", "-n", "3", "--trace", "trace.json", cwd=folder)
    assert report["runs"] == 3 and report["run_ms"]["min"] > 0
    assert sum(row["share"] for row in report["operators"]) == pytest.approx(1)
    assert sum(row["share"] for row in report["nodes"]) == pytest.approx(1)
    assert [row["ms"] for row in report["nodes"]] == sorted((row["ms"] for row in report["nodes"]), reverse=True)
    conv = next(row for row in report["nodes"] if row["node"] == "conv1")
    assert conv["variant"] == "direct" and conv["calls"] == 1 and conv["gflops_per_s"] == pytest.approx(2 * 8 * 64 * 27 / conv["ms"] / 1e6)
    memory = report["memory"]
    largest = 8 * 64 * 4  # bytes of the tensors between the first nodes
    assert largest <= memory["peak_bytes"] <= 4 * largest
    assert memory["tensors_at_peak"][0]["bytes"] == largest and memory["planned_peak_bytes"] > 0
    assert memory["plan"]["arena_bytes"] >= largest and memory["plan"]["at_peak"]
    text = roundhouse("profile", "network.onnx", "-n", "2", "--trace", "trace.json", cwd=folder).stdout
    assert "GFLOP/s" in text and "trace.json" in text and "live at the peak" in text


def test_operations_of_fused_nodes(folder):
    """A convolution with its pool, and a pointwise with a depthwise one, count what the nodes of the model would."""
    rng = np.random.default_rng(1)
    shapes = {"w1": (32, 3, 7, 7), "w2": (96, 32, 1, 1), "w3": (96, 1, 3, 3), "w4": (32, 96, 1, 1)}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], strides=[2, 2], pads=[3, 3, 3, 3]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["p1", "w2"], ["c2"]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("Conv", ["r2", "w3"], ["c3"], pads=[1, 1, 1, 1], group=96),
        helper.make_node("Relu", ["c3"], ["r3"]),
        helper.make_node("Conv", ["r3", "w4"], ["y"]),
    ]
    weights = [constant(name, rng.standard_normal(shape).astype(np.float32)) for name, shape in shapes.items()]
    write_model(folder / "mobile.onnx", nodes, [value("x", [1, 3, 224, 224])], [value("y", [1, 32, 56, 56])], weights)
    report = answer("profile", "mobile.onnx", "-n", "3", "--trace", "trace.json", cwd=folder)
    operators = {row["operator"] for row in report["operators"]}
    assert "roundhouse::PooledConv" in operators
    products = 112 * 112 * 32 * 3 * 49 + 56 * 56 * (32 * 96 + 96 * 9 + 96 * 32)
    for table in ("operators", "variants", "nodes"):
        counted = sum(row["gflops_per_s"] * row["ms"] * 1e6 for row in report[table] if row["gflops_per_s"])
        assert counted == pytest.approx(2 * products), table
    assert all(0 < row["least_ms"] <= row["ms"] * 1.0001 for row in report["variants"])


def write_loop(path):
    body = helper.make_graph(
        [helper.make_node("Add", ["state", "state"], ["state_out"], "double"), helper.make_node("Identity", ["go"], ["go_out"], "again")],
        "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("state", ["N"])],
        [value("go_out", [], TensorProto.BOOL), value("state_out", ["N"])],
    )
    nodes = [helper.make_node("Relu", ["x"], ["r"], "relu"), helper.make_node("Loop", ["n", "", "r"], ["y"], "loop", body=body)]
    write_model(path, nodes, [value("n", [], TensorProto.INT64), value("x", ["N"])], [value("y", ["N"])])


def test_the_trace_is_one_that_viewers_open(folder):
    """Chrome's trace format: spans of a thread either lie in each other or apart; nodes of a loop lie in the loop, nodes in their run."""
    write_loop(folder / "loop.onnx")
    answer("profile", "loop.onnx", "-n", "2", "-d", "N=16", "--trace", "loop.json", cwd=folder)
    trace = json.loads((folder / "loop.json").read_text())
    events = trace["traceEvents"]
    assert {e["ph"] for e in events} == {"M", "X", "C"}
    assert all(isinstance(e["pid"], int) and isinstance(e["tid"], int) and e["name"] for e in events)
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in spans)
    slack = 1e-3  # microseconds are written as decimal fractions
    open_spans = []
    for e in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
        while open_spans and open_spans[-1]["ts"] + open_spans[-1]["dur"] <= e["ts"] + slack:
            open_spans.pop()
        if open_spans:
            assert e["ts"] + e["dur"] <= open_spans[-1]["ts"] + open_spans[-1]["dur"] + slack
        e["inside"] = [o["name"] for o in open_spans]
        open_spans.append(e)
    assert [e["name"] for e in spans if e["cat"] == "run"] == ["run 1", "run 2"]
    loops = [e for e in spans if e["name"] == "loop"]
    assert [e["inside"] for e in loops] == [["run 1"], ["run 2"]]
    doubles = [e for e in spans if e["name"] == "double"]
    assert doubles and all(e["inside"][1:] == ["loop"] for e in doubles)
    assert doubles[0]["args"]["outputs"] == ["float[16]"] and doubles[0]["args"]["output_bytes"] == 64
    assert doubles[0]["args"]["provider"] == "CPUExecutionProvider" and doubles[0]["args"]["operator"] == "Add"
    counters = [e for e in events if e["ph"] == "C"]
    assert counters and max(e["args"]["bytes"] for e in counters) >= 64


def test_inspect_tells_what_a_run_takes(folder):
    write_loop(folder / "loop.onnx")
    small, large = (answer("inspect", "loop.onnx", "--memory", "-d", f"N={n}", cwd=folder)["memory"] for n in (16, 1024))
    assert small["symbols"]["N"] == 16 and large["total_bytes"] >= small["total_bytes"] + 4 * (1024 - 16)
    assert answer("inspect", "loop.onnx", "--memory", cwd=folder)["memory"]["assumed"] == ["N"]
    text = roundhouse("inspect", "network.onnx", "--memory", cwd=folder).stdout
    assert "planned" in text and "live at the planned peak" in text


def test_profile_says_what_cannot_be_written(folder):
    done = roundhouse("profile", "network.onnx", "-n", "1", "--trace", "/nowhere/trace.json", cwd=folder)
    assert done.returncode == 1 and "/nowhere/trace.json" in done.stderr
