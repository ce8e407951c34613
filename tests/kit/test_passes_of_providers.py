"""RhEpGetPasses: passes of the host over the nodes of a plugin, which is then asked about what they gave."""

import numpy as np
import onnx.parser
import pytest
from fake_device import counted
from hosts import FAKE, failure, floats, registered, session

import roundhouse

#: A Gelu written out, of which a pass makes one node, and a node before and after it.
GELU = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 8] x) => (float[N, 8] y)
<float root = {1.4142135}, float one = {1.0}, float half = {0.5}>
{
  a = Tanh (x)
  b = Div (a, root)
  c = Erf (b)
  d = Add (c, one)
  e = Mul (a, d)
  f = Mul (e, half)
  y = Neg (f)
}"""


def model():
    parsed = onnx.parser.parse_model(GELU)
    for node in parsed.graph.node:
        node.name = node.output[0]
    return parsed.SerializeToString()


@pytest.fixture(scope="module", autouse=True)
def the_device():
    with registered(roundhouse, FAKE):
        yield


def make(settings):
    return session(roundhouse, FAKE, model(), settings, optimize=True)


def test_the_passes_of_a_provider_run_over_its_nodes():
    x = floats(3, 8)
    with counted() as plainly:
        plain = make({"claim": "0:100"})
    with counted() as done:
        rewritten = make({"claim": "0:100", "passes": "recognise_activations"})
    assert {row.provider for row in rewritten.get_placement()} == {row.provider for row in plain.get_placement()} == {FAKE}
    assert (plainly["nodes"], done["nodes"]) == (7, 3)  # Tanh, Gelu, Neg
    np.testing.assert_allclose(rewritten.run(None, {"x": x})[0], plain.run(None, {"x": x})[0], rtol=1e-5, atol=1e-6)


def test_nodes_of_others_are_left_alone():
    x = floats(3, 8)
    made = make({"claim": "=a,c", "passes": "recognise_activations,fuse_elementwise"})
    owners = {row.name: row.provider for row in made.get_placement()}
    assert {name for name, owner in owners.items() if owner == FAKE} == {"a", "c"}
    plain = make({"claim": "=a,c"})
    np.testing.assert_allclose(made.run(None, {"x": x})[0], plain.run(None, {"x": x})[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("names", ["no_such_pass", "recognise_activations,,"])
def test_a_name_that_is_no_pass(names):
    said = failure(lambda: make({"claim": "0:100", "passes": names}))
    assert "RhEpGetPasses names '" in said and "expected passes of docs/passes.md" in said


#: A sum that is normalised and goes on beside, as in each layer of a transformer.
SKIPS = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, S, 8] x) => (float[N, S, 8] y)
<float[8] scale = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] shift = {8, 7, 6, 5, 4, 3, 2, 1}, float[8] bias = {0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1}>
{
  a = Tanh (x)
  b = Add (a, bias)
  c = Add (b, x)
  d = LayerNormalization <axis = -1> (c, scale, shift)
  e = Neg (d)
  y = Add (e, c)
}"""


def test_skip_connections_become_one_node_and_give_the_sum():
    x = floats(2, 3, 8)
    parsed = onnx.parser.parse_model(SKIPS)
    for node in parsed.graph.node:
        node.name = node.output[0]
    file = parsed.SerializeToString()
    with counted() as plainly:
        plain = session(roundhouse, FAKE, file, {"claim": "0:100"}, optimize=True)
    with counted() as done:
        rewritten = session(roundhouse, FAKE, file, {"claim": "0:100", "passes": "recognise_skip_normalizations"}, optimize=True)
    assert (plainly["nodes"], done["nodes"]) == (6, 4)  # Tanh, SkipLayerNormalization with the bias, Neg, Add
    np.testing.assert_allclose(rewritten.run(None, {"x": x})[0], plain.run(None, {"x": x})[0], rtol=1e-5, atol=1e-5)
