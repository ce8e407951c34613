"""The cells of bench/sweep_operators.py: the same for a seed, bounded, each a valid model that Roundhouse loads."""

import sys

import onnx
from common import BUILD

import roundhouse

sys.path.append(str(BUILD.parent / "bench"))

import sweep_operators


def test_cells_follow_from_the_seed():
    names = [cell.name for cell in sweep_operators.cells(0)]
    assert names == [cell.name for cell in sweep_operators.cells(0)]
    assert names != [cell.name for cell in sweep_operators.cells(1)]
    for first, second in zip(sweep_operators.cells(0)[::50], sweep_operators.cells(0)[::50], strict=True):
        (model, feeds), (other_model, other_feeds) = first.build(), second.build()
        assert model == other_model
        assert all((feeds[name] == other_feeds[name]).all() for name in feeds)


def test_cells_are_bounded():
    names = [cell.name for cell in sweep_operators.cells()]
    assert 2900 <= len(names) <= sweep_operators.MOST
    assert len(set(names)) == len(names)
    assert len(sweep_operators.cells(0, 300)) <= 300


def test_cells_are_models_that_load():
    options = roundhouse.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    for cell in sweep_operators.cells():
        model, feeds = cell.build()
        onnx.shape_inference.infer_shapes(onnx.load_from_string(model), check_type=True, strict_mode=True)
        session = roundhouse.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        assert {i.name for i in session.get_inputs()} == feeds.keys(), cell.name
        assert len(session.get_outputs()) == cell.outputs, cell.name


def test_differences_are_seen():
    values = sweep_operators.np.array([1, 2, 250], "uint8")
    assert sweep_operators.difference(values, values, 0) is None
    assert sweep_operators.difference(values, values - 1, 1) is None
    assert "first at [0]: 1, expected 0" in sweep_operators.difference(values, values - 1, 0)
    assert "expected int8[3]" in sweep_operators.difference(values, values.astype("int8"), 0)
    floats = values.astype("float32")
    assert sweep_operators.difference(floats, floats * sweep_operators.np.float32(1.1), 0) is not None
    assert sweep_operators.difference(floats, floats + sweep_operators.np.float32("nan"), 0) is not None
