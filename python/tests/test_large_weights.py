"""An optimised model whose weights one message does not hold."""

import os
import shutil

import numpy as np
import onnx
import pytest
from models import tensor
from onnx import TensorProto, helper

import roundhouse

GIB = 1 << 30
WIDTH = 1 << 20
ROWS = 2 * GIB // WIDTH + 16


@pytest.fixture
def large(tmp_path):
    """y = w[i], of 2 GiB and a little, in a file with holes."""
    if shutil.disk_usage(tmp_path).free < 6 * GIB:
        pytest.skip("needs 6 GiB of disk")
    with open(tmp_path / "w.bin", "wb") as file:
        file.truncate(ROWS * WIDTH)
        file.seek((ROWS - 1) * WIDTH)
        file.write(b"\x07" * WIDTH)
    weights = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[ROWS, WIDTH], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="w.bin")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["w", "i"], ["y"])],
        "g",
        [tensor("i", TensorProto.INT64, (1,))],
        [tensor("y", TensorProto.UINT8, (1, WIDTH))],
        [weights],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_weights_beyond_a_message_go_to_a_file(large):
    options = roundhouse.SessionOptions()
    options.optimized_model_filepath = str(large / "written.onnx")
    roundhouse.InferenceSession(large / "model.onnx", options)
    os.unlink(large / "w.bin")
    assert (large / "written.onnx").stat().st_size < 10000
    assert (large / "written.onnx.data").stat().st_size >= ROWS * WIDTH
    [row] = roundhouse.InferenceSession(large / "written.onnx").run(None, {"i": np.array([ROWS - 1])})
    assert np.all(row == 7)
