"""Chains of sequence operators whose elements the graph tells, beside the stock runtime and beside themselves without optimisation."""

import models
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse


class Chain:
    """A graph of random sequence operators over x[4, 6] and z[2, 6], of which `sizes` says whether the model tells the sizes."""

    def __init__(self, seed, sizes):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.outputs = [], [], []
        self.sequences = []  # names, with the least number of elements
        self.shapes = {"x": [4, 6], "z": [2, 6]} if sizes else {"x": ["A", "B"], "z": ["C", "B"]}
        for _ in range(self.random.integers(3, 10)):
            self.add()
        self.take()

    def node(self, op_type, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, "i8"), name))
        return name

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def add(self):
        kind = self.pick("construct", "empty", "split", "insert", "erase", "take") if self.sequences else self.pick("construct", "split")
        if kind == "construct":
            names = [self.pick("x", "z") for _ in range(self.random.integers(1, 4))]
            self.sequences.append((self.node("SequenceConstruct", names), len(names)))
        elif kind == "empty":
            self.sequences.append((self.node("SequenceEmpty", [], dtype=TensorProto.FLOAT), 0))
        elif kind == "split":
            self.split()
        elif kind == "take":
            self.take()
        else:
            name, count = self.pick(*self.sequences)
            if kind == "insert":
                at = self.constant(self.random.integers(-count, count + 1))
                inputs = [name, self.pick("x", "z"), *([at] if self.pick(True, False) else [])]
                self.sequences.append((self.node("SequenceInsert", inputs), count + 1))
            elif count > 0:
                at = self.constant(self.random.integers(-count, count))
                self.sequences.append((self.node("SequenceErase", [name, *([at] if self.pick(True, False) else [])]), count - 1))

    def split(self):
        axis = int(self.pick(0, 1, -1))
        size = 6 if axis else 4
        form = self.pick("each", "dropped", "equal", "sizes")
        if form == "sizes":
            cut = int(self.random.integers(0, size + 1))
            parts = [cut, size - cut]
            self.sequences.append((self.node("SplitToSequence", ["x", self.constant(parts)], axis=axis), 2))
        elif form == "equal":
            each = int(self.random.integers(1, size + 1))
            self.sequences.append((self.node("SplitToSequence", ["x", self.constant(each)], axis=axis), -(-size // each)))
        else:
            self.sequences.append((self.node("SplitToSequence", ["x"], axis=axis, keepdims=int(form == "each")), size))

    def take(self):
        name, count = self.pick(*self.sequences)
        kind = self.pick("at", "length", "join", "stack")
        if kind == "length":
            self.outputs.append((self.node("SequenceLength", [name]), TensorProto.INT64))
        elif kind == "at" and count > 0:
            at = self.constant(self.random.integers(-count, count))
            self.outputs.append((self.node("SequenceAt", [name, at]), TensorProto.FLOAT))
        elif count > 0:
            taken = self.node("ConcatFromSequence", [name], axis=int(self.pick(0, -1)), new_axis=int(kind == "stack"))
            self.outputs.append((taken, TensorProto.FLOAT))

    def model(self, output, opset):
        """Of one output and what it needs: elements that do not fit together are an error of that alone."""
        name, element = output
        nodes, needed = [], {name}
        for node in reversed(self.nodes):
            if node.output[0] in needed:
                nodes.insert(0, node)
                needed.update(node.input)
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in self.shapes.items()]
        graph = helper.make_graph(nodes, "chain", inputs, [helper.make_tensor_value_info(name, element, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def result(module, model, feeds, optimised=True):
    """The output, or None where the runtime refuses."""
    options = module.SessionOptions()
    options.log_severity_level = 4
    if not optimised:
        options.graph_optimization_level = module.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return module.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    except Exception:
        return None


@pytest.mark.parametrize("sizes", [True, False], ids=["sizes known", "sizes open"])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_chains_of_sequences_give_what_the_stock_runtime_gives(opset, sizes):
    random = np.random.default_rng(opset)
    feeds = {"x": random.standard_normal((4, 6)).astype("f4"), "z": random.standard_normal((2, 6)).astype("f4")}
    results = 0
    for seed in range(60):
        chain = Chain(seed, sizes)
        for output in chain.outputs:
            model = chain.model(output, opset)
            own, plain, stock = result(roundhouse, model, feeds), result(roundhouse, model, feeds, False), result(onnxruntime, model, feeds)
            assert (own is None) == (plain is None), (seed, output)
            if own is not None:
                assert own.shape == plain.shape
                np.testing.assert_array_equal(own, plain)
            if own is not None and stock is not None:
                np.testing.assert_array_equal(own, stock, err_msg=f"{seed} {output}")
                results += 1
    assert results > 60


OPTIONALS = {"a tensor": "x", "an input of the session": "o"}


@pytest.mark.parametrize("name", OPTIONALS.values(), ids=OPTIONALS)
@pytest.mark.parametrize("given", [True, False], ids=["given", "left out"])
def test_optionals_hold_what_they_are_given(name, given):
    if name == "x" and not given:
        pytest.skip("tensors are always given")
    made = [helper.make_node("Optional", ["x"], ["made"])]
    nodes = [*made, helper.make_node("OptionalHasElement", ["made" if name == "x" else name], ["has"])]
    model = models.model(nodes, [models.tensor("x"), models.optional("o")], [models.tensor("has", TensorProto.BOOL, ())])
    feeds = {"x": np.ones(2, "f4"), "o": np.ones(2, "f4") if given else None}
    assert roundhouse.InferenceSession(model).run(None, feeds)[0].item() is given
