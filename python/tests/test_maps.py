"""Maps from and to dicts, and texts."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import roundhouse

ML = "ai.onnx.ml"


def pair(node, kind, output=TensorProto.FLOAT):
    """Sessions of both runtimes over one node of ai.onnx.ml from x to y."""
    outputs = [helper.make_tensor_value_info("y", output, None)] if output else [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph([node], "graph", [helper.make_value_info("x", kind)], outputs)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    return [m.InferenceSession(model, providers=["CPUExecutionProvider"]) for m in (roundhouse, onnxruntime)]


def vectorizer(element=TensorProto.FLOAT, **vocabulary):
    key = TensorProto.STRING if "string_vocabulary" in vocabulary else TensorProto.INT64
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(element, []))
    return pair(helper.make_node("DictVectorizer", ["x"], ["y"], domain=ML, **vocabulary), kind, element)


def zip_map(**labels):
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    return pair(helper.make_node("ZipMap", ["x"], ["y"], domain=ML, **labels), kind, None)


INTEGER_DICTS = {
    "in order": {4: 1.5, 7: -2.0},
    "another order": {7: 1.5, 9: 3.0, 4: 2.5},
    "unknown keys": {1: 1.0, -3: 2.0},
    "floats of numpy": {4: np.float64(0.1), 7: 0.25},
    "a large key": {2**63 - 1: 1.0, 4: 2.0},
}


@pytest.mark.parametrize("numbers", INTEGER_DICTS.values(), ids=INTEGER_DICTS)
def test_a_dict_from_integers_is_a_map(numbers):
    own, stock = (s.run(None, {"x": numbers})[0] for s in vectorizer(int64_vocabulary=[7, 4, 5, 2**63 - 1]))
    np.testing.assert_array_equal(own, stock)


NUMBERS = {
    "integers": ({7: 2, 4: 2**60 + 1}, [2.0, 2.0**60]),
    "both": ({7: 2, 4: 0.5}, [2.0, 0.5]),
    "single scalars of numpy": ({np.int64(7): np.float32(0.5)}, [0.5, 0.0]),
    "truth values": ({7: True, 4: 3}, [1.0, 3.0]),
}


@pytest.mark.parametrize("element", [TensorProto.FLOAT, TensorProto.DOUBLE], ids=["float", "double"])
@pytest.mark.parametrize(("numbers", "expected"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_any_kind_get_the_declared_type(numbers, expected, element):
    session, _ = vectorizer(element, int64_vocabulary=[7, 4])
    (y,) = session.run(None, {"x": numbers})
    assert y.dtype == (np.float32 if element == TensorProto.FLOAT else np.float64)
    np.testing.assert_array_equal(y, np.array([expected], y.dtype))


def test_integers_stay_integers():
    session, _ = vectorizer(TensorProto.INT64, string_vocabulary=["b", "ä€", ""])
    (y,) = session.run(None, {"x": {"ä€": 2**62 + 1, "": -1, "c": 5}})
    assert y.tolist() == [[0, 2**62 + 1, -1]]


def test_values_may_be_texts():
    session, _ = vectorizer(TensorProto.STRING, int64_vocabulary=[7, 4])
    (y,) = session.run(None, {"x": {4: "first \U0001f600", 7: ""}})
    assert y.tolist() == [["", "first \U0001f600"]]


@pytest.mark.parametrize(
    "wrong",
    [{2**63: 1.0}, {4: "text", 7: 1.0}, {4: None}, {4: [1.0]}, {None: 1.0}, {1.5: 1.0}, {"a": 1.0}],
    ids=["an integer too large", "texts and numbers", "None", "a list", "None as key", "a float as key", "texts as keys"],
)
def test_other_dicts_are_refused(wrong):
    session, _ = vectorizer(int64_vocabulary=[4, 7])
    with pytest.raises((RuntimeError, ValueError, OverflowError, TypeError)):
        session.run(None, {"x": wrong})


LABELS = [{"classlabels_int64s": [3, -1, 2**40]}, {"classlabels_strings": ["red", "ä€", ""]}]


@pytest.mark.parametrize("labels", LABELS, ids=["integers", "texts"])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (50, 3), (0, 3)])
def test_maps_are_dicts_of_their_own(labels, shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    own, stock = (s.run(None, {"x": x})[0] for s in zip_map(**labels))
    assert own == stock
    assert [list(row) for row in own] == [list(next(iter(labels.values())))] * len(own)
    if len(own) > 1:
        last = dict(own[-1])
        own[0].clear()
        assert own[-1] == last


@pytest.mark.parametrize("distinct", [1, 7, 5000])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 5000])
def test_texts_that_come_again_stay_what_they_are(count, distinct):
    names = [f"ä€ word {i % distinct}" * (1 + i % 3) if i % 5 else "" for i in range(count)]
    known = {"cats_int64s": list(range(count + 1)), "cats_strings": [*names, "of no element"]}
    node = helper.make_node("CategoryMapper", ["x"], ["y"], domain=ML, **known)
    session, _ = pair(node, helper.make_tensor_type_proto(TensorProto.INT64, None), TensorProto.STRING)
    assert session.run(None, {"x": np.arange(count)})[0].tolist() == names
