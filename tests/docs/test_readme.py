"""The examples of README.md do what they say, word for word."""

import shlex
import sys

import numpy as np
import onnx
import pytest
from examples import BUILD, ROOT, block, run
from onnx import TensorProto, helper, numpy_helper


def example(language):
    return block("README.md", language)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model.onnx that scores an image."""
    weights = np.random.default_rng(3).standard_normal((10, 3)).astype(np.float32)
    nodes = [helper.make_node("GlobalAveragePool", ["image"], ["pooled"]), helper.make_node("Flatten", ["pooled"], ["features"])]
    nodes.append(helper.make_node("Gemm", ["features", "weights"], ["scores"], transB=1))
    graph = helper.make_graph(
        nodes,
        "scores",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(weights, "weights")],
    )
    made = tmp_path_factory.mktemp("readme")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), made / "model.onnx")
    return made


def test_python(folder):
    assert run([sys.executable, "-c", example("python")], folder).startswith("(1, 10) ")


def test_cpp(folder):
    (folder / "example.cc").write_text(example("cpp"))
    library = BUILD / "lib"
    run(["c++", "-std=c++17", "example.cc", f"-I{ROOT}/include/roundhouse", f"-L{library}", "-lroundhouse", "-o", "example"], folder)
    assert run(["./example"], folder, LD_LIBRARY_PATH=str(library)) == "10 scores\n"


@pytest.mark.parametrize("line", example("sh").splitlines())
def test_command_line(folder, line):
    words = shlex.split(line, comments=True)
    assert words[0] == "roundhouse"
    assert run([BUILD / "bin" / "roundhouse", *words[1:]], folder)
