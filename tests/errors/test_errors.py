"""Seeded failures, a row each: the exception that onnxruntime's users catch, and what the message must name: what was found, what was
expected, node, operator with its opset, tensors, the model's file, and what to do about it."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import roundhouse
from roundhouse import InferenceSession, OrtValue, SessionOptions

F, I64 = TensorProto.FLOAT, TensorProto.INT64
X = np.zeros((2, 3), np.float32)
FILE = "model.onnx"


def port(name, dtype=F, shape=("N", 3)):
    return helper.make_tensor_value_info(name, dtype, shape)


def open_port(name, dtype=F):
    return port(name, dtype, None)


def model(node, inputs=(), outputs=(), initializers=(), opset=17, ir_version=10):
    nodes = node if isinstance(node, list) else [node]
    graph = helper.make_graph(nodes, "g", list(inputs) or [port("x")], list(outputs) or [open_port("y")], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def node(op_type, inputs="x", outputs="y", domain="", **attributes):
    return helper.make_node(op_type, inputs.split(), outputs.split(), name="the_node", domain=domain, **attributes)


def weight(**fields):
    tensor = TensorProto(name="w", data_type=F, dims=[3])
    for name, value in fields.items():
        if name == "location":
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=value)
        elif name == "dims":
            tensor.dims[:] = value
        else:
            setattr(tensor, name, value)
    return tensor


def with_weight(**fields):
    return model(node("Add", "x w"), initializers=[weight(**fields)])


def config(key, value):
    options = SessionOptions()
    options.add_session_config_entry(key, value)
    return {"sess_options": options}


def initializer(name, value):
    options = SessionOptions()
    options.add_initializer(name, OrtValue.ortvalue_from_numpy(value))
    return {"sess_options": options}


RELU = model(node("Relu"))
GATHER = model(node("Gather", "x i"), [port("x"), port("i", I64, ("K",))])
AND = "the_node"

# name: (model or bytes, exception class, parts of the message)
LOAD = {
    "empty file": (b"", "InvalidArgument", ["no graph", "empty, truncated or not an ONNX model", FILE]),
    "truncated": (RELU.SerializeToString()[:-7], "InvalidProtobuf", ["Protobuf parsing failed", "truncated", FILE]),
    "another format": (b"PK\x03\x04 a zip archive", "InvalidProtobuf", ["Protobuf parsing failed", "not an ONNX", FILE]),
    "a damaged file of the ORT format": (
        b"\x0c\0\0\0ORTM" + bytes(4) + b"\xff\xff\xff\x7f",
        "Fail",
        ["in the ORT format", "truncated or damaged", FILE],
    ),
    "opset too new": (model(node("Relu"), opset=99), "Fail", ["opset 99", "newest supported one is", "convert the model", FILE]),
    "IR too new": (model(node("Relu"), ir_version=99), "Fail", ["Unsupported model IR version: 99", "expected 1 to 14", FILE]),
    "unknown operator": (
        model(node("Rellu")),
        "InvalidGraph",
        ["Rellu(17) is not known", "the nearest is Relu", "CPUExecutionProvider", AND, FILE],
    ),
    "domain not imported": (
        model(node("Relu", domain="my.domain")),
        "InvalidGraph",
        ["'my.domain'", "expected an opset import of it", AND, "my.domain::Relu", FILE],
    ),
    "attribute of another kind": (
        model(node("Softmax", axis="one")),
        "InvalidGraph",
        ["attribute 'axis' is a string, expected an integer", AND, "Softmax(17)", "'x' tensor(float)[N, 3]", "correct the node", FILE],
    ),
    "unknown attribute": (
        model(node("Softmax", axes=1)),
        "InvalidGraph",
        ["attribute 'axes' is not one of this operator", "expected one of: axis", "nearest is 'axis'", AND, "Softmax(17)", FILE],
    ),
    "attribute out of range": (
        model(node("Softmax", axis=5)),
        "Fail",
        ["axis is 5", "[-2, 1] for rank 2", AND, "Softmax(17)", "'x' tensor(float)[N, 3]", FILE],
    ),
    "attribute missing": (
        model(node("Concat", "x x")),
        "InvalidGraph",
        ["attribute 'axis' is missing, expected an integer", AND, "Concat(17)", "'x'", FILE],
    ),
    "input missing": (model(node("Add")), "InvalidGraph", ["1 inputs, expected 2", AND, "Add(17)", "'x' tensor(float)", FILE]),
    "input left out": (
        model(helper.make_node("Add", ["", "x"], ["y"], name="the_node")),
        "InvalidGraph",
        ["input 0 (A) is left out, expected a value", AND, "Add(17)", FILE],
    ),
    "edge from nowhere": (
        model(node("Add", "x nothing")),
        "InvalidArgument",
        ["input 1 is 'nothing', which nothing gives", "expected the name of", AND, "Add(17)", "tensor nothing", FILE],
    ),
    "types that differ": (
        model(node("Add", "x z"), [port("x"), port("z", I64)]),
        "Fail",
        ["tensor(float) and tensor(int64), expected the same type", AND, "Add(17)", "'x' tensor(float)", "'z' tensor(int64)", FILE],
    ),
    "type not allowed": (
        model(node("Sqrt"), [port("x", I64)], [port("y", I64)]),
        "InvalidGraph",
        ["input 0 (X) is tensor(int64), expected one of tensor(float)", AND, "Sqrt(17)", FILE],
    ),
    "shapes that do not fit": (
        model(node("MatMul", "x z"), [port("x", F, (2, 3)), port("z", F, (4, 5))]),
        "Fail",
        ["[2, 3] and [4, 5] cannot be multiplied", "3 columns against 4 rows", AND, "MatMul(17)", "'z' tensor(float)[4, 5]", FILE],
    ),
    "output of another type": (
        model(node("Relu"), outputs=[port("y", I64)]),
        "Fail",
        ["'y' is declared with element type int64 but its operator gives float", AND, "Relu(17)", FILE],
    ),
    "cycle": (
        model([node("Add", "x b", "a"), node("Relu", "a", "b")], outputs=[open_port("b")]),
        "Fail",
        ["cycle", AND, "Add(17)", FILE],
    ),
    "name given twice": (
        model([node("Relu"), node("Neg")]),
        "Fail",
        ["value 'y' is given more than once", "expected one producer", AND, "Neg(17)", "tensor y", FILE],
    ),
    "output from nowhere": (
        model(node("Relu"), outputs=[port("q")]),
        "Fail",
        ["output 'q'", "given by nothing", "expected an input", "tensor q", FILE],
    ),
    "external data missing": (
        with_weight(location="w.bin"),
        "NoSuchFile",
        ["'w.bin' does not exist", "put it beside the model", "tensor w", FILE],
    ),
    "external data outside": (
        with_weight(location="/w.bin"),
        "Fail",
        ["external data is '/w.bin'", "expected a path relative to the model's folder", "tensor w", FILE],
    ),
    "weights of another size": (
        with_weight(raw_data=b"12345678"),
        "Fail",
        ["raw_data has 8 bytes, expected 12 for float[3]", "tensor w", FILE],
    ),
    "weights of a negative size": (
        with_weight(dims=[-3], raw_data=b""),
        "Fail",
        ["the shape is [-3], expected dimensions of at least 0", "tensor w", FILE],
    ),
}

# name: (keywords of the session, exception class, parts)
SESSION = {
    "unknown key": (
        config("roundhouse.precison", "strict"),
        "InvalidArgument",
        ["'roundhouse.precison'", "expected one of", "nearest is 'roundhouse.precision'"],
    ),
    "unknown value": (config("roundhouse.precision", "strikt"), "InvalidArgument", ["'strikt'", "strict, fp32", "nearest is 'strict'"]),
    "no number": (
        config("session.intra_op_num_threads", "many"),
        "InvalidArgument",
        ["'session.intra_op_num_threads' is 'many', expected an integer"],
    ),
    "no number of bytes": (
        config("roundhouse.memory.max_tensor_bytes", "-1"),
        "InvalidArgument",
        ["'roundhouse.memory.max_tensor_bytes' is '-1', expected a number of bytes"],
    ),
    "initializer of another type": (
        initializer("w", X.astype(np.int64)),
        "InvalidArgument",
        ["initializer 'w' was given with another type than the model's, expected tensor(float)", FILE],
    ),
}

# name: (model, wanted outputs, feed, exception class, parts)
RUN = {
    "wrong name": (RELU, None, {"xx": X}, ValueError, ["'x'", "'xx'", "missing"]),
    "missing input": (model(node("Add", "x z"), [port("x"), port("z")]), None, {"x": X}, ValueError, ["'z'", "missing"]),
    "extra input": (RELU, None, {"x": X, "w": X}, "InvalidArgument", ["no input 'w', expected: 'x'", FILE]),
    "wrong type": (
        RELU,
        None,
        {"x": X.astype(np.float64)},
        "InvalidArgument",
        ["Unexpected input data type", "input 'x' is tensor(double), expected tensor(float)", FILE],
    ),
    "wrong rank": (
        RELU,
        None,
        {"x": X[0]},
        "InvalidArgument",
        ["Invalid rank for input", "input 'x' has shape [3] of rank 1, expected [N, 3] of rank 2", FILE],
    ),
    "wrong dimension": (
        RELU,
        None,
        {"x": np.zeros((2, 4), np.float32)},
        "InvalidArgument",
        ["Got invalid dimensions for input", "input 'x' has shape [2, 4], expected [N, 3]", "dimension 1 is 4, expected 3", FILE],
    ),
    "unknown output": (RELU, ["yy"], {"x": X}, "InvalidArgument", ["no output 'yy', expected: 'y'", FILE]),
    "index out of range": (
        GATHER,
        None,
        {"x": X, "i": np.array([7])},
        "InvalidArgument",
        ["indices is 7, expected a value in [-2, 1]", AND, "Gather(17)", "'x' float[2, 3], 'i' int64[1]", FILE],
    ),
    "index into nothing": (
        GATHER,
        None,
        {"x": X[:0], "i": np.array([0])},
        "InvalidArgument",
        ["indices is 0", "no elements to choose from", AND, "Gather(17)", "'x' float[0, 3]", FILE],
    ),
    "shapes that do not broadcast": (
        model(node("Add", "x z"), [port("x", F, ("N", "M")), port("z", F, ("K", "L"))]),
        None,
        {"x": X, "z": np.zeros((2, 4), np.float32)},
        "Fail",
        ["[2, 3] and [2, 4] cannot be broadcast", AND, "Add(17)", "'z' float[2, 4]", FILE],
    ),
    "shape that does not fit": (
        model(node("Reshape", "x s"), [port("x"), port("s", I64, (2,))]),
        None,
        {"x": X, "s": np.array([4, 2])},
        "Fail",
        ["shape [4, 2] does not fit input [2, 3] with 6 elements", AND, "Reshape(17)", "'s' int64[2]", FILE],
    ),
    "more than there is memory for": (
        model(node("ConstantOfShape", "s"), [port("s", I64, (2,))]),
        None,
        {"s": np.array([2**24, 2**24])},
        "RuntimeException",
        [
            "float[16777216, 16777216]",
            "1125899906842624 bytes, expected at most",
            "roundhouse.memory.max_tensor_bytes",
            AND,
            "'s' int64[2]",
            FILE,
        ],
    ),
    "a number of elements that overflows": (
        model(node("Expand", "x s"), [port("x", F, (1,)), port("s", I64, (2,))]),
        None,
        {"x": np.zeros(1, np.float32), "s": np.array([2**40, 2**40])},
        "InvalidArgument",
        ["[1099511627776, 1099511627776] has too many elements", AND, "Expand(17)", FILE],
    ),
    "more than there are": (
        model(node("TopK", "x k", "y i"), [port("x"), port("k", I64, (1,))], [open_port("y"), open_port("i", I64)]),
        None,
        {"x": X, "k": np.array([9])},
        "Fail",
        ["k is 9, expected 0 to 3", AND, "TopK(17)", "'k' int64[1]", FILE],
    ),
    "element of an empty sequence": (
        model([node("SequenceEmpty", "", "s"), node("SequenceAt", "s i")], [port("i", I64, ())]),
        None,
        {"i": np.array(0)},
        "InvalidArgument",
        ["position is 0", "no elements", AND, "SequenceAt(17)", "'s' a sequence of 0", FILE],
    ),
}


def exception(kind):
    return kind if isinstance(kind, type) else getattr(roundhouse, kind)


@pytest.fixture
def save(tmp_path):
    def write(made):
        path = tmp_path / FILE
        path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
        return str(path)

    return write


def expect(kind, parts, action):
    with pytest.raises(exception(kind)) as caught:
        action()
    missing = [part for part in parts if part not in str(caught.value)]
    assert not missing, f"{caught.value}\nmisses {missing}"


@pytest.mark.parametrize("name", LOAD)
def test_load(name, save):
    made, kind, parts = LOAD[name]
    path = save(made)
    expect(kind, parts, lambda: InferenceSession(path, providers=["CPUExecutionProvider"]))


def test_load_of_no_file(tmp_path):
    path = str(tmp_path / "nothing.onnx")
    expect("NoSuchFile", [path, "File doesn't exist"], lambda: InferenceSession(path))
    expect("Fail", [str(tmp_path), "a folder, expected a regular file"], lambda: InferenceSession(str(tmp_path)))


@pytest.mark.parametrize("name", SESSION)
def test_session(name, save):
    keywords, kind, parts = SESSION[name]
    path = save(with_weight(raw_data=bytes(12)))
    expect(kind, parts, lambda: InferenceSession(path, providers=["CPUExecutionProvider"], **keywords))


def test_unknown_provider(save):
    wanted = "'CUDAExecutionProvide'; the nearest name is 'CUDAExecutionProvider'; available: .*CPUExecutionProvider"
    with pytest.raises(roundhouse.InvalidArgument, match=wanted):
        InferenceSession(save(RELU), providers=["CUDAExecutionProvide"])


@pytest.mark.parametrize("name", RUN)
def test_run(name, save):
    made, outputs, feed, kind, parts = RUN[name]
    session = InferenceSession(save(made), providers=["CPUExecutionProvider"])
    expect(kind, parts, lambda: session.run(outputs, feed))


def test_there_are_enough_rows():
    assert len(LOAD) + len(SESSION) + len(RUN) + 3 >= 40
