"""Guides for those who add to Roundhouse, followed word for word: what they write is built and runs in both hosts."""

import re
import shlex
import sys

import onnx
import pytest
from examples import BUILD, ROOT, block, blocks, run
from onnx import TensorProto, helper

PROVIDER, CUSTOM, VENDOR = "docs/add_a_provider.md", "docs/custom_operators.md", "docs/add_a_vendor_provider.md"


def save_model(path, nodes, inputs="xw", initializers=(), opsets=(("", 17),)):
    """Inputs and the output y are of [2, 3]."""
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in inputs + "y"]
    graph = helper.make_graph(nodes, "guide", value[:-1], value[-1:], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], ir_version=8), path)


@pytest.fixture(scope="module")
def provider_folder(tmp_path_factory):
    """A folder with the headers, the provider of the guide built as it says, and a model of which it takes one node."""
    folder = tmp_path_factory.mktemp("provider")
    (folder / "include").symlink_to(ROOT / "include")
    (folder / "my_provider.cc").write_text(block(PROVIDER, "cpp", "MyProvider"))
    (folder / "card.cc").write_text(block(PROVIDER, "cpp", "CardProvider"))
    [build] = [text for text in blocks(PROVIDER) if text.startswith("g++")]
    run(shlex.split(build), folder)
    run(shlex.split(build.replace("my_provider", "card")), folder)
    save_model(folder / "model.onnx", [helper.make_node("Add", ["x", "w"], ["s"]), helper.make_node("Relu", ["s"], ["y"])])
    return folder


# Ends the examples: the results of the session that they made.
CHECK = """
import numpy as np
x, w = np.array([[1, -2, 3], [-4, 5, -6]], np.float32), np.full((2, 3), 0.5, np.float32)
np.testing.assert_array_equal(session.run(None, {"x": x, "w": w})[0], np.maximum(x + w, 0))
"""


@pytest.mark.parametrize("module", ["roundhouse", "onnxruntime"])
def test_the_provider_runs_in_both_hosts(provider_folder, module):
    text = block(PROVIDER, "python", "register_execution_provider_library")
    assert "import roundhouse as ort  # or onnxruntime" in text
    text = text.replace("import roundhouse as ort", f"import {module} as ort")
    assert run([sys.executable, "-c", text + CHECK], provider_folder) == "['MyExecutionProvider', 'CPUExecutionProvider']\n"


def test_the_provider_is_found_by_name(provider_folder):
    register = block(PROVIDER, "python", "register_execution_provider_library")
    by_name = block(PROVIDER, "python", "placement_summary")
    said = run([sys.executable, "-c", register + by_name + CHECK], provider_folder)
    assert said.endswith("{'CPUExecutionProvider': 1, 'MyExecutionProvider': 1}\n")


# Two parts on the card with one of the CPU's between them: addresses that are not the card's are errors of its kernels.
CARD_CHECK = """
import numpy as np
x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
for _ in range(3):
    np.testing.assert_allclose(session.run(None, {"x": x})[0], np.maximum(2 - np.exp(np.maximum(x, 0)), 0), rtol=1e-5)
    x = x / 2
print(session.get_providers())
"""


def save_card_model(path):
    nodes = [("Relu", "x", "a"), ("Exp", "a", "b"), ("Sub", "tb", "c"), ("Relu", "c", "y")]
    two = helper.make_tensor("t", TensorProto.FLOAT, [], [2.0])
    save_model(path, [helper.make_node(op, list(inputs), [output]) for op, inputs, output in nodes], "x", [two])


@pytest.mark.parametrize("module", ["roundhouse", "onnxruntime"])
def test_a_card_with_memory_of_its_own_runs_in_both_hosts(provider_folder, module):
    save_card_model(provider_folder / "card.onnx")
    register = f"""
import os
import {module} as ort
ort.register_execution_provider_library("card", os.path.abspath("card.so"))
[card] = [d for d in ort.get_ep_devices() if d.ep_name == "CardExecutionProvider"]
assert card.device.vendor == "Card" and card.ep_metadata["slots"] == "2"
"""
    choose = block(PROVIDER, "python", "set_provider_selection_policy").replace("model.onnx", "card.onnx")
    assert (
        run([sys.executable, "-c", register + choose + CARD_CHECK], provider_folder)
        == "['CardExecutionProvider', 'CPUExecutionProvider']\n"
    )


@pytest.mark.parametrize("module", ["roundhouse", "onnxruntime"])
def test_the_card_takes_empty_tensors(provider_folder, module):
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "xy"]
    nodes = [helper.make_node(op, [x], [y], y) for op, x, y in (("Relu", "x", "a"), ("Exp", "a", "b"), ("Relu", "b", "y"))]
    graph = helper.make_graph(nodes, "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), provider_folder / "rows.onnx")
    program = f"""
import os
import numpy as np
import {module} as ort
ort.register_execution_provider_library("card", os.path.abspath("card.so"))
options = ort.SessionOptions()
options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "CardExecutionProvider"], {{}})
session = ort.InferenceSession("rows.onnx", options)
session.disable_fallback()
for rows in (0, 3, 0, 2):
    print(session.run(None, {{"x": np.ones((rows, 4), np.float32)}})[0].shape, end=" ")
"""
    assert run([sys.executable, "-c", program], provider_folder).strip() == "(0, 4) (3, 4) (0, 4) (2, 4)"


def test_the_card_says_why_it_leaves_nodes(provider_folder):
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "cube")], "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), provider_folder / "cube.onnx")
    program = """
import os, roundhouse
roundhouse.register_execution_provider_library("card", os.path.abspath("card.so"))
[node] = roundhouse.InferenceSession("cube.onnx", providers=["CardExecutionProvider"]).placement()
print([(r["provider"], r["code"], r["reason"]) for r in node["refusals"]])
"""
    said = run([sys.executable, "-c", program], provider_folder)
    assert said == "[('CardExecutionProvider', 'shape', 'the card has two dimensions')]\n"


def test_values_in_memory_of_a_device(provider_folder):
    prepare = f"""
import numpy as np
import roundhouse as ort
ort.register_execution_provider_library("fake", {str(BUILD / "lib/roundhouse_provider_fake_device.so")!r})
array, vendor_id = np.array([[1, -2, 3], [-4, 5, -6]], np.float32), 0xFADE
session = ort.InferenceSession("relu.onnx", providers=["FakeDeviceExecutionProvider"])
"""
    check = """
np.testing.assert_array_equal(y.numpy(), np.maximum(array, 0))
assert session.statistics()["input_copies"] == session.statistics()["output_copies"] == 0
"""
    save_model(provider_folder / "relu.onnx", [helper.make_node("Relu", ["x"], ["y"])], "x")
    run([sys.executable, "-c", prepare + block(PROVIDER, "python", "io_binding") + check], provider_folder)


@pytest.mark.parametrize("command", [text for text in blocks(PROVIDER) if "my_provider.so" in text and not text.startswith("g++")])
def test_the_provider_passes_its_checks(provider_folder, command):
    for line in command.splitlines():
        words = shlex.split(line, comments=True)
        words[0] = {"python": sys.executable, "roundhouse": str(BUILD / "bin/roundhouse")}[words[0]]
        said = run([*words, "--only", "operators/*", "--only", "faults/*"], provider_folder)
        assert re.search(r"^pass  operators/Relu$", said, re.M) and ", 0 failed, " in said


def test_the_card_passes_its_checks(provider_folder):
    said = run([str(BUILD / "bin/roundhouse"), "check-provider", "card.so", "--only", "faults/*", "--only", "copies/*"], provider_folder)
    assert re.search(r"^pass  faults/", said, re.M) and ", 0 failed, " in said


@pytest.fixture(scope="module")
def vendor_folder(tmp_path_factory):
    """A folder with nothing but the page's code, built as the page says; and a model of which all but the last node is a region."""
    folder = tmp_path_factory.mktemp("vendor")
    for name, at in (("src", ROOT / "src"), ("include", ROOT / "include"), ("build/release", BUILD)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(at)
    (folder / "mine.cc").write_text("".join(blocks(VENDOR, "cpp")))
    [build] = [text for text in blocks(VENDOR) if text.startswith("g++")]
    run(shlex.split(build), folder)
    three = helper.make_tensor("t", TensorProto.FLOAT, [3, 3], [0.5, 0, 1, 1, -1, 0, 0, 2, 1])
    nodes = [("MatMul", "xt", "p"), ("Add", "pw", "s"), ("Mul", "sx", "m"), ("Relu", "m", "y")]
    save_model(folder / "model.onnx", [helper.make_node(op, list(inputs), [output], output) for op, inputs, output in nodes], "xw", [three])
    return folder


VENDOR_CHECK = """
import numpy as np
x, w = np.array([[1, -2, 3], [-4, 5, -6]], np.float32), np.full((2, 3), 0.5, np.float32)
plain = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
np.testing.assert_allclose(session.run(None, {"x": x, "w": w})[0], plain.run(None, {"x": x, "w": w})[0], rtol=1e-6)
print(session.get_providers())
"""


@pytest.mark.parametrize("module", ["roundhouse", "onnxruntime"])
def test_a_vendors_provider_runs_in_both_hosts(vendor_folder, module):
    text = block(VENDOR, "python").replace("import roundhouse as ort", f"import {module} as ort")
    library = str(BUILD / "lib/libsample_vendor.so")
    said = run([sys.executable, "-c", text + VENDOR_CHECK], vendor_folder, SAMPLE_VENDOR_LIBRARY=library)
    assert said == "['MineExecutionProvider', 'CPUExecutionProvider']\n"


def test_a_vendors_provider_says_what_it_leaves(vendor_folder):
    told = "for row in session.placement(): print(row['node'], row['provider'], [r['reason'] for r in row['refusals']])\n"
    library = str(BUILD / "lib/libsample_vendor.so")
    said = run([sys.executable, "-c", block(VENDOR, "python") + told], vendor_folder, SAMPLE_VENDOR_LIBRARY=library)
    rows = dict(line.split(" ", 1) for line in said.splitlines())
    assert {name for name, row in rows.items() if row == "MineExecutionProvider []"} == {"p", "s", "m"}
    assert rows["y"] == "CPUExecutionProvider ['it runs Add, Mul and MatMul']"


def test_a_vendors_provider_leaves_operands_with_an_axis(vendor_folder):
    two = helper.make_tensor("b", TensorProto.FLOAT, [2], [0.5, 3])
    save_model(vendor_folder / "axis.onnx", [helper.make_node("Mul", ["x", "b"], ["y"], "n", broadcast=1, axis=0)], "x", [two], [("", 6)])
    program = block(VENDOR, "python").replace("model.onnx", "axis.onnx") + "print(session.placement()[0]['refusals'][0]['reason'])\n"
    said = run([sys.executable, "-c", program], vendor_folder, SAMPLE_VENDOR_LIBRARY=str(BUILD / "lib/libsample_vendor.so"))
    assert said == "it runs Mul of opset 7 and newer\n"


def test_what_a_vendors_provider_costs():
    text = "".join(p.read_text() for p in sorted((ROOT / "src/providers/sample").iterdir()) if p.name != "class_executable.cc")
    [lines, options, functions] = [
        int(re.search(pattern, (ROOT / VENDOR).read_text())[1])
        for pattern in (r"files, (\d+) lines", r"each option \| (\d+) rows", r"library \| (\d+) rows")
    ]
    assert abs(lines - text.count("\n")) <= 20
    assert options == text.count("OptionRow::Type::")
    assert functions == text.count("library.function(")


@pytest.mark.parametrize("module", ["roundhouse", "onnxruntime"])
def test_a_custom_operator_runs_in_both_hosts(tmp_path, module):
    (tmp_path / "include").symlink_to(ROOT / "include")
    (tmp_path / "my_ops.cc").write_text(block(CUSTOM, "cpp"))
    [build] = [text for text in blocks(CUSTOM) if text.startswith("g++")]
    run(shlex.split(build), tmp_path)
    node = helper.make_node("ScaledSum", ["x", "w", "scale"], ["y"], domain="my.domain")
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [2.0])
    save_model(tmp_path / "model.onnx", [node], initializers=[scale], opsets=[("", 17), ("my.domain", 1)])
    text = block(CUSTOM, "python").replace("roundhouse.", f"{module}.")
    check = CHECK.replace("np.maximum(x + w, 0)", "x + 2 * w")
    run([sys.executable, "-c", f"import {module}\n" + text + check], tmp_path)
