"""`compare` finds the first node that differs, on models into which one fault was put."""

import numpy as np
import onnx
import pytest
from command import answer, constant, roundhouse, stock_library, value, write_model, write_network
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "network.onnx"
    write_network(path)
    return path


def after(model, node, operators):
    """Puts operators between a node and those who take its first output: [(op, constant inputs, attributes)]."""
    name = node.output[0]
    node.output[0] = source = name + "_before_fault"
    at = list(model.graph.node).index(node)
    for k, (op, constants, attributes) in enumerate(operators):
        target = name if k == len(operators) - 1 else f"{name}_fault{k}"
        inputs = [source]
        for c, array in enumerate(constants):
            inputs.append(f"{name}_fault{k}_{c}")
            model.graph.initializer.append(constant(inputs[-1], array))
        model.graph.node.insert(at + 1 + k, helper.make_node(op, inputs, [target], f"fault{k}", **attributes))
        source = target


def weight_of(model, node, index):
    [tensor] = [t for t in model.graph.initializer if t.name == node.input[index]]
    return tensor


def scale_largest_weight(model, node, index):
    tensor = weight_of(model, node, index)
    array = numpy_helper.to_array(tensor).copy()
    array.ravel()[np.abs(array).argmax()] *= 1.1
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def set_attribute(node, **attributes):
    for name, given in attributes.items():
        kept = [a for a in node.attribute if a.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(name, given)])


def one_at(shape, index, amount):
    array = np.zeros(shape, "f4")
    array.ravel()[index] = amount
    return array


def flip(model, node, name, flipped):
    """Another tensor, the reverse of one, for a kernel that reads its input backwards."""
    for suffix, array in (("starts", [-1]), ("ends", [-(2**31)]), ("axes", [1]), ("steps", [-1])):
        model.graph.initializer.append(constant(f"flip_{suffix}", np.array(array)))
    inputs = [name, "flip_starts", "flip_ends", "flip_axes", "flip_steps"]
    model.graph.node.insert(list(model.graph.node).index(node), helper.make_node("Slice", inputs, [flipped], "fault"))


# Node, and what goes wrong in it: as kernels go wrong, by a factor, an offset, a rounding, a wrong weight, a wrong attribute.
FAULTS = [
    ("conv1", lambda m, n: scale_largest_weight(m, n, 1)),
    ("conv1", lambda m, n: set_attribute(n, pads=[0, 0, 2, 2])),
    ("norm1", lambda m, n: set_attribute(n, epsilon=1e-2)),
    ("relu1", lambda m, n: setattr(n, "op_type", "Elu")),
    ("conv2", lambda m, n: after(m, n, [("Mul", [np.float32(1.001)], {})])),
    ("swish2", lambda m, n: setattr(n, "op_type", "Sigmoid")),
    ("conv3", lambda m, n: scale_largest_weight(m, n, 1)),
    ("residual3", lambda m, n: after(m, n, [("Cast", [], {"to": TensorProto.BFLOAT16}), ("Cast", [], {"to": TensorProto.FLOAT})])),
    ("pool3", lambda m, n: setattr(n, "op_type", "AveragePool")),
    ("channels_last", lambda m, n: after(m, n, [("Mul", [np.eye(1, 8, 3, dtype="f4") * 1e-3 + 1], {})])),
    ("norm2", lambda m, n: after(m, n, [("Add", [np.float32(1e-3)], {})])),
    ("query", lambda m, n: scale_largest_weight(m, n, 1)),
    ("key", lambda m, n: after(m, n, [("Clip", [np.float32(-0.8), np.float32(0.8)], {})])),
    ("scores", lambda m, n: n.input.__setitem__(1, "k_flipped") or flip(m, n, "kt", "k_flipped")),
    ("scaled", lambda m, n: after(m, n, [("Cast", [], {"to": TensorProto.FLOAT16}), ("Cast", [], {"to": TensorProto.FLOAT})])),
    ("attention", lambda m, n: set_attribute(n, axis=1)),
    ("mixed", lambda m, n: after(m, n, [("Add", [one_at([1, 16, 8], 77, 0.01)], {})])),
    ("gate", lambda m, n: setattr(n, "op_type", "HardSigmoid")),
    ("pooled", lambda m, n: setattr(n, "op_type", "ReduceMax")),
    ("classifier", lambda m, n: set_attribute(n, alpha=1.001)),
]


@pytest.mark.parametrize(("name", "fault"), FAULTS, ids=[f"{k}-{name}" for k, (name, _) in enumerate(FAULTS)])
def test_names_the_node_with_the_fault(name, fault, network, tmp_path):
    model = onnx.load(network)
    [node] = [n for n in model.graph.node if n.name == name]
    fault(model, node)
    onnx.save(model, tmp_path / "faulty.onnx")
    report = answer("compare", network, tmp_path / "faulty.onnx", code=3)
    assert "-O 1" in report["tested"]["settings"]
    assert name in [original["name"] for original in report["first"]["reference"]["originals"]]
    assert report["first"]["exceeds"] and report["exceeding"] >= 1
    assert all(error["relative"] <= 1e-4 for error in report["first"]["inputs"])


def test_the_same_model_is_within_the_bound(network):
    for other in (["--other-optimization", "0"], ["--other-threads", "1"], ["--peer", stock_library()], []):
        report = answer("compare", network, *other)
        assert "-O 99" in report["tested"]["settings"] or "--other-optimization" in other
        assert report["first"] is None and report["exceeding"] == 0, other
        assert report["values"]["compared"] >= 14, other
        assert len(report["worst"]) == 10 and report["worst"][0]["relative"] <= 1e-4
        assert all(row["cosine"] > 0.9999 for row in report["worst"])


def test_text(network, tmp_path):
    model = onnx.load(network)
    [node] = [n for n in model.graph.node if n.name == "gate"]
    node.op_type = "HardSigmoid"
    onnx.save(model, tmp_path / "faulty.onnx")
    command = ["compare", network, tmp_path / "faulty.onnx"]
    done = roundhouse(*command, "--color", "always")
    assert (done.returncode, done.stderr) == (3, "")
    assert "\x1b[31mfirst node off: gate (HardSigmoid)\x1b[0m" in done.stdout
    assert "worst at" in done.stdout and "worst values" in done.stdout
    plain = roundhouse(*command).stdout
    assert "\x1b" not in plain and "first node off: gate (HardSigmoid)" in plain
    strict = roundhouse(*command, "--bound", "10")
    assert strict.returncode == 0 and "every value is within the bound" in strict.stdout


def test_shapes_that_differ(tmp_path):
    for name, axes in (("a", 0), ("b", 1)):
        node = helper.make_node("Flatten", ["x"], ["f"], "flat", axis=axes)
        write_model(
            tmp_path / f"{name}.onnx", [node, helper.make_node("Relu", ["f"], ["y"], "relu")], [value("x", [2, 3, 4])], [value("y", None)]
        )
    first = answer("compare", "a.onnx", "b.onnx", cwd=tmp_path, code=3)["first"]
    assert (first["value"], first["shape"], first["reference"]["shape"]) == ("f", [2, 12], [1, 24]) and first["relative"] is None


def test_loops_are_compared_by_iteration(tmp_path):
    def loop(factor):
        body = helper.make_graph(
            [
                helper.make_node("Mul", ["state", "factor"], ["state_out"], "grow"),
                helper.make_node("Identity", ["go"], ["go_out"], "again"),
            ],
            "body",
            [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("state", [2])],
            [value("go_out", [], TensorProto.BOOL), value("state_out", [2])],
            [constant("factor", np.float32(factor))],
        )
        return [helper.make_node("Loop", ["n", "", "x"], ["y"], "loop", body=body)]

    for name, factor in (("a", 2), ("b", 2.01)):
        write_model(tmp_path / f"{name}.onnx", loop(factor), [value("x", [2])], [value("y", [2])], [constant("n", np.int64(3))])
    report = answer("compare", "a.onnx", "b.onnx", cwd=tmp_path, code=3)
    assert report["first"]["node"] == "grow"
    assert {"state_out", "state_out (time 3)", "y"} <= {row["value"] for row in report["worst"]}


def test_nothing_in_common(tmp_path):
    for name in "ab":
        node = helper.make_node("Relu", ["x"], ["y" + name])
        write_model(tmp_path / f"{name}.onnx", [node], [value("x", [2])], [value("y" + name, [2])])
    done = roundhouse("compare", "a.onnx", "b.onnx", cwd=tmp_path)
    assert done.returncode == 1 and "nothing can be compared" in done.stderr


@pytest.fixture
def logarithm(tmp_path):
    nodes = [
        helper.make_node("Sub", ["x", "three"], ["d"], "difference"),
        helper.make_node("Log", ["d"], ["l"], "logarithm"),
        helper.make_node("Add", ["l", "x"], ["y"], "sum"),
    ]
    write_model(tmp_path / "log.onnx", nodes, [value("x", [4])], [value("y", [4])], [constant("three", np.float32(3))])
    np.save(tmp_path / "x.npy", np.array([1, 5, 6, 7], "f4"))
    np.save(tmp_path / "zero.npy", np.array([3, 5, 6, 7], "f4"))
    np.save(tmp_path / "good.npy", np.array([4, 5, 6, 7], "f4"))
    np.save(tmp_path / "nan.npy", np.array([4, 5, 6, np.nan], "f4"))
    return tmp_path


@pytest.mark.parametrize(("command", "key"), [(["compare", "log.onnx", "--nan"], None), (["run", "log.onnx", "--check-finite"], "finite")])
def test_names_the_node_that_makes_a_nan(command, key, logarithm):
    def check(file, code):
        report = answer(*command, "-i", file, cwd=logarithm, code=code)
        return report[key] if key else report

    [source] = check("x.npy", 3)["sources"]
    assert (source["node"], source["operator"]) == ("logarithm", "Log")
    assert (source["output"]["nan"], source["output"]["infinite"]) == (1, 0)
    [given] = source["inputs"]
    assert (given["name"], given["min"], given["max"], given["nan"]) == ("d", -2, 4, 0)
    [source] = check("zero.npy", 3)["sources"]
    assert (source["node"], source["output"]["infinite"]) == ("logarithm", 1)
    assert check("good.npy", 0)["passed"]
    found = check("nan.npy", 3)
    assert found["inputs"] == ["x"] and found["sources"] == []
    text = roundhouse(*command, "-i", "x.npy", cwd=logarithm)
    assert text.returncode == 3 and "NaN first made by node logarithm (Log)" in text.stdout and "min -2" in text.stdout
