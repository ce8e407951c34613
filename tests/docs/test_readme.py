"""The examples of README.md do what they say, word for word."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", ROOT / "build/release/lib")).parent


def example(language):
    found = re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(found) == 1, f"README.md has {len(found)} {language} examples, expected 1"
    return found[0]


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


def run(command, folder, **variables):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


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
