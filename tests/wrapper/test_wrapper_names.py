"""The C++ interface whole: programs that use its names, compiled as C++17 and C++20, with exceptions and without, and run on this library
and on ONNX Runtime's."""

import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / "include" / "roundhouse"
LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", ROOT / "build" / "release" / "lib"))
COMPILER = os.environ.get("CXX", "c++")

#: Of the namespace detail, or of macros.
HELPERS = {"AllocatedFree", "Base", "Fetch", "FetchList", "FetchText", "Handle", "HasShapeFunction", "NAME", "OrtArenaExtendStrategy"}
HELPERS |= {"OrtRelease", "Read", "ShapeView", "StatusOf", "ThrowStatus", "Unowned", "UpdateOptions", "Utf8"}

MEMBER = re.compile(
    r"^ {0,2}(?:static |inline |constexpr |explicit )*[\w:<>,*& ]+[ *&]([A-Z]\w+)\([^;]*\)(?: const)?(?: noexcept)? \{", re.M
)

pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason="there is no compiler")


def compile_to(program, standard, exceptions, *sources, flags=()):
    if not program.exists():
        kind = [f"-std=c++{standard}", "-O0", "-Wall", "-Wextra", "-Werror", *([] if exceptions else ["-fno-exceptions"]), *flags]
        files = [str(HERE / source) for source in sources]
        command = [COMPILER, *kind, f"-I{HEADERS}", "-o", str(program), *files, f"-L{LIBRARIES}", "-lonnxruntime", "-pthread"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    return program


def node(op, inputs, outputs, name, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name, **attributes)


def tensor(name, shape=(2, 3), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, nodes, inputs, weights=(), elsewhere=None, **metadata):
    """`elsewhere`: the file that the weight w is said to be in."""
    graph = helper.make_graph(nodes, "graph", inputs, [tensor("y")], [numpy_helper.from_array(value, name) for name, value in weights])
    graph.doc_string = "what the graph is"
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("a.domain", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, **metadata)
    for weight in model.graph.initializer:
        if weight.name != "w" or not elsewhere:
            continue
        if elsewhere == "model.bin":
            path.with_name(elsewhere).write_bytes(weight.raw_data)
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        for key, value in {"location": elsewhere, "offset": "0", "length": "24"}.items():
            weight.external_data.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())


def make_models(folder):
    two, three = np.full((2, 3), 2, np.float32), np.ones(3, np.float32)
    then = helper.make_graph([node("Mul", "l w", "t", "inner")], "then", [], [tensor("t")])
    other = helper.make_graph([node("Relu", "l", "e", "relu")], "else", [], [tensor("e")])
    nodes = [
        node("ConstantOfShape", "s", "f", "fill", value=numpy_helper.from_array(np.array([2], np.float32))),
        node("Mul", "x w", "m", "mul"),
        node("LeakyRelu", "m", "l", "leaky", alpha=0.25),
        node("If", "c", "b", "choice", then_branch=then, else_branch=other),
        node("Add", "b f", "a", "add"),
        node("Transpose", "a", "y", "turn", perm=[0, 1]),
    ]
    inputs = [tensor("x"), tensor("c", (), TensorProto.BOOL), tensor("o", (3,))]
    weights = [("w", two), ("o", three), ("s", np.array([2, 3], np.int64))]
    facts = {"doc_string": "what it is", "domain": "of.mine", "model_version": 7}
    save(folder / "model.onnx", nodes, inputs, weights, "model.bin", **facts)
    save(folder / "elsewhere.onnx", [node("Mul", "x w", "y", "mul")], [tensor("x")], [("w", two)], "nowhere.bin")
    save(folder / "product.onnx", [node("Mul", "x w", "y", "mul")], [tensor("x")], [("w", two)])
    save(folder / "relu_add.onnx", [node("Relu", "x", "h", "relu"), node("Add", "h v", "y", "add")], [tensor("x")], [("v", two)])
    relu = helper.make_graph([node("Relu", "x", "h", "relu")], "graph", [tensor("x")], [tensor("h")])
    relu = helper.make_model(relu, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(relu, {"ep_compatibility_info.CPUExecutionProvider": "of the CPU"})
    (folder / "relu.onnx").write_bytes(relu.SerializeToString())
    attributes = {"f": 1.5, "i": 3, "s": "text", "fs": [1.0, 2.0], "is": [4, 5], "ss": ["a", "bc"]}
    attributes["t"] = numpy_helper.from_array(np.array([8, 9], np.float32))
    rich = node("Rich", "x v", "y", "rich", domain="a.domain", **attributes)
    save(folder / "rich.onnx", [rich], [tensor("x")], [("v", np.full((2, 3), 10, np.float32))])
    adapter = onnxruntime.AdapterFormat()
    adapter.set_adapter_version(1)
    adapter.set_model_version(1)
    adapter.set_parameters({"v": onnxruntime.OrtValue.ortvalue_from_numpy(two)})
    adapter.export_adapter(str(folder / "adapter.bin"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("wrapper")


@pytest.fixture(scope="module")
def stock(folder):
    """A folder where ONNX Runtime's library has the name that programs are linked with."""
    (library,) = (pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    (folder / "stock").mkdir()
    (folder / "stock" / "libonnxruntime.so.1").symlink_to(library)
    return folder / "stock"


@pytest.mark.parametrize("exceptions", [True, False], ids=["exceptions", "no_exceptions"])
@pytest.mark.parametrize("standard", [17, 20])
def test_every_name_works(standard, exceptions, folder, stock, tmp_path):
    program = compile_to(tmp_path / "every_name", standard, exceptions, "every_name.cc", "more_names.cc")
    compile_to(tmp_path / "names_provider.so", standard, exceptions, "names_provider.cc", flags=["-shared", "-fPIC"])
    make_models(tmp_path)
    for libraries in (LIBRARIES, stock):
        done = subprocess.run([program, tmp_path], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "every name works\n"), (libraries, done.stderr)


@pytest.mark.parametrize("exceptions", [True, False], ids=["exceptions", "no_exceptions"])
def test_functions_are_found_by_name(exceptions, folder, stock):
    program = compile_to(folder / f"experimental_{exceptions}", 17, exceptions, "experimental.cc")
    for libraries in (LIBRARIES, stock):
        done = subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "functions are found by name\n"), (libraries, done.stderr)


def listed():
    """The names of names.txt with what is said of those that the program leaves out."""
    names = {}
    for line in (HERE / "names.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            names[name] = reason
    return names


def test_the_list_is_that_of_the_programs():
    program = "".join(path.read_text() for path in [*HERE.glob("*.cc"), *HERE.glob("*.h")])
    headers = "".join(path.read_text() for path in [*HEADERS.glob("*.h"), *(HEADERS / "cxx").glob("*.h")])
    for name, reason in listed().items():
        word = re.compile(rf"\b{re.escape(name.split('::')[-1])}\b")
        assert (HEADERS / name).exists() if name.endswith(".h") else word.search(headers), f"{name} is in no header"
        assert bool(word.search(program)) != bool(reason), f"{name}: {'the program uses it' if reason else 'no program uses it'}"


def test_each_class_and_member_of_the_headers_is_listed():
    """Of the classes that programs name; those of the namespace detail are written without it."""
    known = {name.split("::")[-1] for name in listed()}
    for path in sorted((HEADERS / "cxx").glob("*.h")):
        text = re.sub(r"\bprivate:.*?\n};", "", path.read_text(), flags=re.S)
        found = MEMBER.findall(text)
        found += re.findall(r"^(?:struct|class) (\w+)[^;{]*\{", text, re.M)
        missing = {name for name in found if name not in known and not name.endswith(("Impl", "Api")) and name not in HELPERS}
        assert not missing, f"{path.name}: {missing}"
