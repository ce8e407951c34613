"""BatchNormalization of old converters beside ONNX Runtime: a pair of parameters for each element of an image."""

import numpy as np
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import roundhouse


def model(opset, shape, constant, relu):
    rng = np.random.default_rng(len(shape) + opset)
    each = shape[1:]
    parameters = {
        "scale": rng.normal(size=each),
        "shift": rng.normal(size=each),
        "mean": rng.normal(size=each),
        "var": rng.uniform(0.5, 2, each),
    }
    parameters = {name: np.asarray(value, np.float32) for name, value in parameters.items()}
    nodes = [helper.make_node("BatchNormalization", ["x", *parameters], ["n"], spatial=0, epsilon=1e-3)]
    nodes.append(helper.make_node("Relu" if relu else "Identity", ["n"], ["y"]))
    value = lambda name, dims: helper.make_tensor_value_info(name, 1, dims)  # noqa: E731
    inputs = [value("x", ["batch", *each])] + ([] if constant else [value(name, each) for name in parameters])
    weights = [numpy_helper.from_array(a, name) for name, a in parameters.items()] if constant else []
    graph = helper.make_graph(nodes, "g", inputs, [value("y", ["batch", *each])], weights)
    feeds = {"x": rng.normal(size=shape).astype(np.float32), **({} if constant else parameters)}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7).SerializeToString(), feeds


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (3, 2, 7), (2, 16, 1, 1), (2, 5), (1, 20, 3, 3)])
@pytest.mark.parametrize("opset", [7, 8])
def test_each_element_has_its_parameters(opset, shape, constant, relu):
    bytes_of, feeds = model(opset, shape, constant, relu)
    own, peer = (
        runtime.InferenceSession(bytes_of, providers=["CPUExecutionProvider"]).run(None, feeds)[0] for runtime in (roundhouse, onnxruntime)
    )
    np.testing.assert_allclose(own, peer, rtol=2e-5, atol=2e-5)
