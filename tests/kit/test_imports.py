"""What the kit imports of a model is the same graph in both hosts."""

import re

import onnx
import pytest
from common import MODELS, model_path
from graphs import RandomGraph
from hosts import DUMP, HOSTS, branches, dense, registered, session


def load(model):
    return onnx.ModelProto.FromString(model) if isinstance(model, bytes) else onnx.load(model, load_external_data=False)


def imported(host, model, folder):
    """The main graph as the provider was shown it, with its bodies, line by line: independent nodes stand in an order of each host's own,
    on which the numbers of symbols that inference makes depend."""
    path = folder / f"{host.__name__}.txt"
    with registered(host, DUMP):
        session(host, DUMP, model, {"file": str(path)})
    graphs = re.sub(r"\b_s\d+\b|\b_input\d+_\d+\b", "?", path.read_text()).split("== graph\n")
    heading = re.compile(rf'<.*>\n"?{re.escape(load(model).graph.name)}"? \(')
    main = next(graph for graph in graphs if heading.match(graph))
    return sorted(line.strip().rstrip(",") for line in main.splitlines())


def assert_equal_imports(model, folder):
    if any(node.op_type == "DequantizeLinear" for node in load(model).graph.node):
        pytest.skip("ONNX Runtime gives each consumer a DequantizeLinear of its own before it asks providers")
    theirs, ours = (imported(host, model, folder) for host in HOSTS)
    assert ours == theirs


@pytest.mark.parametrize("make", [dense, branches])
def test_of_small_models(make, tmp_path):
    assert_equal_imports(make(), tmp_path)


@pytest.mark.parametrize("seed", range(24))
def test_of_generated_models(seed, tmp_path):
    assert_equal_imports(RandomGraph(seed).model().SerializeToString(), tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_of_models(name, tmp_path):
    assert_equal_imports(model_path(name), tmp_path)
