"""Public tools that read traces of onnxruntime find in ours what they look for: onnxruntime's own, its older package's, onnx-array-api."""

import os
import pathlib
import subprocess
import sys

import roundhouse

HERE = pathlib.Path(__file__).resolve().parent

PROGRAM = """
import sys
if sys.argv[1] == "roundhouse":
    import roundhouse
    roundhouse.install_as_onnxruntime()
import collections, contextlib, importlib.util, io, json, os, pathlib, re, time
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

os.chdir(sys.argv[2])
ort.set_default_logger_severity(4)

def value(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

def branch(op):
    node = helper.make_node(op, ["s", "two"], ["r"], name=op.lower())
    return helper.make_graph([node], op, [], [value("r")], [numpy_helper.from_array(np.float32([2]), "two")])

branches = [branch("Mul"), branch("Add")]
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["a"], name="/fc"),
    helper.make_node("Softmax", ["a"], ["s"], name="/soft"),
    helper.make_node("If", ["c"], ["i"], name="if", then_branch=branches[0], else_branch=branches[1]),
    helper.make_node("Concat", ["s", "i"], ["y"], axis=0),
]
inputs = [value("x", ["n", 4]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
constants = [numpy_helper.from_array(np.ones((4, 8), np.float32), "w")]
graph = helper.make_graph(nodes, "g", inputs, [value("y")], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
feeds = {"x": np.ones((3, 4), np.float32), "c": np.array(True)}
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
options.enable_profiling = True

def trace(given):
    before = time.time_ns()
    session = ort.InferenceSession(given, options, providers=["CPUExecutionProvider"])
    print(before <= session.get_profiling_start_time_ns() <= time.time_ns())
    for _ in range(2):
        session.run(None, feeds)
    return session.end_profiling()

onnx.save(model, "model.onnx")
paths = trace(model.SerializeToString()), trace("model.onnx")
events = [json.loads(pathlib.Path(path).read_text()) for path in paths]
for one in events:
    print(sorted(collections.Counter(e["name"] for e in one).items()), [e["name"] for e in one][:2])
for event in events[0]:
    args = event["args"]
    keys = ("op_name", "provider", "activation_size", "output_size", "input_type_shape", "output_type_shape")
    facts = {key: args.get(key) for key in keys}
    print(event["cat"], event["ph"], event["name"], facts if args else args, sorted(event), "thread_scheduling_stats" in args)
    print(sorted(key for key in args if key.startswith("mem_")))
for path in paths:  # each event on a line of its own, a comma behind it
    lines = pathlib.Path(path).read_text().splitlines()
    print(lines[0], lines[-1], all(line.startswith('{"cat" : "') for line in lines[1:-1]))

def lines_of(reader, *arguments):
    found = []
    for line in reader(*arguments):
        words = re.sub(r"[0-9.]+", " ", line).split()
        found += [words] if words and words[0] != "MatMul" else []
    return sorted(map(str, found))

from onnxruntime.transformers import profile_result_processor as own
print("own", lines_of(own.parse_node_results, events[0], False, 0), lines_of(own.group_node_results, events[0]))

spec = importlib.util.find_spec("onnxruntime_tools").submodule_search_locations[0]
older_spec = importlib.util.spec_from_file_location("older", spec + "/transformers/profiler.py")
older = importlib.util.module_from_spec(older_spec)
older_spec.loader.exec_module(older)
print("older", lines_of(older.parse_profile_results, events[0], True, 0), lines_of(older.group_profile_results, events[0], True, False))

from onnx_array_api.ort.ort_profile import ort_profile
frame = ort_profile(model.SerializeToString(), feeds, disable_optimization=True, repeat=3)
print("array api", frame.shape[0], sorted(c for c in frame.columns if not c.startswith("args_mem")), frame["iteration"].tolist())
table = ort_profile(model.SerializeToString(), feeds, disable_optimization=True, repeat=3, agg=True, agg_op_name=True)
print(table.index.tolist())
"""


def printed(package, folder):
    folder.mkdir()
    root = pathlib.Path(roundhouse.__file__).parents[1]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), str(root), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, package, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_readers_find_the_same_in_both_traces(tmp_path):
    ours, theirs = printed("roundhouse", tmp_path / "ours"), printed("onnxruntime", tmp_path / "theirs")
    assert ours == theirs
    assert any("SequentialExecutor::Execute', 4" in line for line in ours)
