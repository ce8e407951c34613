"""ONNX Runtime's own tools on what a session writes at the basic level: the same fused operators as on ONNX Runtime's file."""

import collections
import importlib
import logging

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

onnxruntime = pytest.importorskip("onnxruntime")
if "roundhouse" in onnxruntime.__file__:
    pytest.skip("the stock library is not there", allow_module_level=True)
pytest.importorskip("sympy")

HIDDEN, HEADS, HEAD = 16, 2, 8
random = np.random.default_rng(5)


class Model:
    """A graph of x [b, s, 16], put together node by node."""

    def __init__(self, shape=("b", "s", HIDDEN), kind=TensorProto.FLOAT):
        self.nodes, self.weights, self.count = [], [], 0
        self.inputs = [helper.make_tensor_value_info("x", kind, list(shape))]

    def input(self, name, kind, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def weight(self, *shape):
        return self.constant((random.random(shape) - 0.5).astype(np.float32))

    def number(self, value):
        return self.constant(np.float32(value))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def index(self, value):
        return self.constant(np.int64(value))

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [f"v{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, list(inputs), names, f"{op}_{names[0]}", **attributes))
        return names[0] if outputs == 1 else names

    def finish(self, *results, opset=17):
        outputs = [onnx.ValueInfoProto(name=name) for name in results]
        for output in outputs:
            output.type.tensor_type.elem_type = TensorProto.FLOAT
        graph = helper.make_graph(self.nodes, "graph", self.inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)

    # Parts of models, as exporters write them.

    def norm(self, x):
        axes = {"axes": [-1]}
        difference = self("Sub", x, self("ReduceMean", x, **axes))
        square = self("Pow", difference, self.number(2))
        deviation = self("Sqrt", self("Add", self("ReduceMean", square, **axes), self.number(1e-5)))
        scaled = self("Mul", self("Div", difference, deviation), self.weight(HIDDEN))
        return self("Add", scaled, self.weight(HIDDEN))

    def rms_norm(self, x):
        mean = self("ReduceMean", self("Pow", x, self.number(2)), axes=[-1])
        root = self("Sqrt", self("Add", mean, self.number(1e-6)))
        return self("Mul", self.weight(HIDDEN), self("Mul", x, self("Reciprocal", root)))

    def divided_rms_norm(self, x):
        mean = self("ReduceMean", self("Pow", x, self.number(2)), axes=[-1], keepdims=1)  # the tool wants it spelled out
        root = self("Sqrt", self("Add", mean, self.number(1e-6)))
        return self("Mul", self("Mul", x, self("Div", self.number(1), root)), self.weight(HIDDEN))

    def linear(self, x, inner=HIDDEN, outer=HIDDEN, bias=True):
        product = self("MatMul", x, self.weight(inner, outer))
        return self("Add", product, self.weight(outer)) if bias else product

    def gelu(self, x, form=0):
        one, half = self.number(1), self.number(0.5)
        e = self("Add", self("Erf", self("Div", x, self.number(1.4142135))), one)
        if form == 0:
            return self("Mul", self("Mul", x, e), half)
        return self("Mul", x, self("Mul", half, e)) if form == 1 else self("Mul", self("Mul", x, half), e)

    def fast_gelu(self, x):
        cube = self("Mul", self("Pow", x, self.number(3)), self.number(0.044715))
        t = self("Tanh", self("Mul", self("Add", x, cube), self.number(0.7978845)))
        return self("Mul", self("Mul", x, self("Add", t, self.number(1))), self.number(0.5))

    def size(self, x, axis):
        return self("Gather", self("Shape", x), self.index(axis), axis=0)

    def at(self, size):
        return self("Unsqueeze", size, self.ints(0))

    def heads(self, x, perm=(0, 2, 1, 3)):
        target = self("Concat", self.at(self.size(x, 0)), self.at(self.size(x, 1)), self.ints(HEADS), self.ints(HEAD), axis=0)
        return self("Transpose", self("Reshape", x, target), perm=list(perm))

    def joined(self, context):
        context = self("Transpose", context, perm=[0, 2, 1, 3])
        target = self("Concat", self.at(self.size(context, 0)), self.at(self.size(context, 1)), self.ints(HIDDEN), axis=0)
        return self("Reshape", context, target)

    def attention(self, x, mask=None):
        q, k, v = self.heads(self.linear(x)), self.heads(self.linear(x), (0, 2, 3, 1)), self.heads(self.linear(x))
        scores = self("Div", self("MatMul", q, k), self.number(HEAD**0.5))
        if mask:
            scores = self("Add", scores, mask)
        return self.linear(self.joined(self("MatMul", self("Softmax", scores, axis=-1), v)))

    def mask(self):
        """[b, s] of 0 and 1 as what is added to scores."""
        given = self.input("mask", TensorProto.INT64, "b", "s")
        ones = self("Cast", self("Unsqueeze", self("Unsqueeze", given, self.ints(1)), self.ints(2)), to=1)
        return self("Mul", self("Sub", self.number(1), ones), self.number(-10000))

    def last(self, x, axis):
        """A size of x as one element, with the detours that PyTorch's exporter takes."""
        return self("Squeeze", self("Slice", self("Shape", x), self.ints(axis), self.ints(axis + 1), self.ints(0)), self.ints(0))

    def causal(self, scores):
        """The scores of earlier positions, out of a triangle of ones."""
        triangle = np.tril(np.ones((1, 1, 32, 32), bool))
        rows, columns = self.last(scores, 2), self.last(scores, 3)
        first = self.at(self("Sub", columns, rows))
        part = self("Slice", self.constant(triangle), first, self.at(columns), self.ints(2), self.ints(1))
        part = self("Slice", part, self.ints(0), self.at(columns), self.ints(3), self.ints(1))
        return self("Where", part, scores, self.number(-10000))

    def gpt_attention(self, x, past=None):
        projected = self("Reshape", x, self.ints(-1, HIDDEN))
        projected = self("Gemm", projected, self.weight(HIDDEN, 3 * HIDDEN), self.weight(3 * HIDDEN))
        target = self("Concat", self.at(self.size(x, 0)), self.at(self.size(x, 1)), self.ints(3 * HIDDEN), axis=0)
        q, k, v = self("Split", self("Reshape", projected, target), self.ints(*[HIDDEN] * 3), outputs=3, axis=2)
        q, k, v = self.heads(q), self.heads(k, (0, 2, 3, 1)), self.heads(v)
        present = None
        if past:
            past_k, past_v = (self("Gather", past, self.index(i), axis=0) for i in range(2))
            k = self("Concat", self("Transpose", past_k, perm=[0, 1, 3, 2]), k, axis=-1)
            v = self("Concat", past_v, v, axis=-2)
            back = self("Unsqueeze", self("Transpose", k, perm=[0, 1, 3, 2]), self.ints(0))
            present = self("Concat", back, self("Unsqueeze", v, self.ints(0)), axis=0)
        scores = self.causal(self("Div", self("MatMul", q, k), self.number(HEAD**0.5)))
        context = self.joined(self("MatMul", self("Softmax", scores, axis=-1), v))
        flat = self("Gemm", self("Reshape", context, self.ints(-1, HIDDEN)), self.weight(HIDDEN, HIDDEN), self.weight(HIDDEN))
        target = self("Concat", self.at(self.size(x, 0)), self.at(self.size(x, 1)), self.ints(HIDDEN), axis=0)
        return self("Reshape", flat, target), present

    def embedding(self, segments=True):
        ids = "x"
        words = self("Gather", self.weight(50, HIDDEN), ids, axis=0)
        length = self("Gather", self("Shape", ids), self.index(1), axis=0)
        whole = self("Slice", self.constant(np.arange(32, dtype=np.int64)[None]), self.ints(0), self.at(length), self.ints(1), self.ints(1))
        places = self("Gather", self.weight(32, HIDDEN), whole, axis=0)
        if not segments:
            return self.norm(self("Add", words, places))
        kinds = self("Gather", self.weight(2, HIDDEN), self.input("segments", TensorProto.INT64, "b", "s"), axis=0)
        return self.norm(self("Add", self("Add", words, kinds), places))


MODELS = {}
IDS = {"shape": ("b", "s"), "kind": TensorProto.INT64}


def add(name, make, model_type="bert", **made):
    """A row: the tool's type of the model, and the graph that the function puts together."""
    model = Model(**made)
    results = make(model)
    results = results if isinstance(results, tuple) else (results,)
    MODELS[name] = (model_type, model.finish(*[result for result in results if result]))


add("norm of powers", lambda m: m("Relu", m.norm("x")))
add("norm of a static shape", lambda m: m("Relu", m.norm("x")), shape=(2, 4, HIDDEN))
add("two norms", lambda m: m.norm(m("Relu", m.norm("x"))))
add("gelu", lambda m: m.gelu(m("Relu", "x")))
add("gelu, half inside", lambda m: m.gelu(m("Relu", "x"), 1))
add("gelu, half before", lambda m: m.gelu(m("Relu", "x"), 2))
add("fast gelu", lambda m: m.fast_gelu(m("Relu", "x")))
add("gelu of a sum with a bias", lambda m: m.gelu(m.linear("x")))
add("fast gelu of a sum with a bias", lambda m: m.fast_gelu(m.linear("x")), "gpt2")
add("fast gelu of a product", lambda m: m.fast_gelu(m.linear("x", bias=False)), "gpt2")
add("quick gelu", lambda m: m("Mul", m("Relu", "x"), m("Sigmoid", m("Mul", "v0", m.number(1.702)))), "clip")
add("norm of a sum", lambda m: m.norm(m("Add", "x", m("Relu", "x"))))
add("norm of a sum with a bias", lambda m: m.norm(m("Add", m.linear("x"), "x")))
add("a residual that goes on", lambda m: (m.norm(m("Add", "x", m("Relu", "x"))), m("Neg", "v1")))
add("root mean square", lambda m: m("Relu", m.rms_norm("x")), "gpt2")
add("root mean square of a sum", lambda m: m("Relu", m.rms_norm(m("Add", "x", m("Relu", "x")))), "gpt2")
add("root mean square by a division", lambda m: m("Relu", m.divided_rms_norm("x")), "gpt2")
add("root mean square by a division, of a sum", lambda m: m("Relu", m.divided_rms_norm(m("Add", "x", m("Relu", "x")))), "gpt2")
add("a feed-forward layer", lambda m: m.norm(m("Add", m.linear(m.gelu(m.linear("x", HIDDEN, 64)), 64, HIDDEN), "x")))
add("two products", lambda m: m("Add", m.linear(m.gelu(m.linear("x", HIDDEN, 64)), 64, HIDDEN), "x"))
add("two products of a static shape", lambda m: m("Add", m.linear(m("Relu", "x"), bias=False), "x"), shape=(2, 4, HIDDEN))
add("heads", lambda m: m("Relu", m.heads("x")))
add("embedding", lambda m: m("Relu", m.embedding()), **IDS)
add("embedding without segments", lambda m: m("Relu", m.embedding(False)), **IDS)
add("attention", lambda m: m.norm(m("Add", m.attention(m.norm("x")), "v8")))
add("attention with a mask", lambda m: m.norm(m("Add", m.attention(m.norm("x"), m.mask()), "v8")))
add("causal attention", lambda m: m.norm(m("Add", m.gpt_attention(m.norm("x"))[0], "v8")), "gpt2")


def cached(m):
    past = m.input("past", TensorProto.FLOAT, 2, "b", HEADS, "p", HEAD)
    first = m.norm("x")
    found, present = m.gpt_attention(first, past)
    return m.norm(m("Add", found, first)), present


add("causal attention with a past", cached, "gpt2")


def encoder(m):
    x = m.embedding()
    x = m.norm(m("Add", m.attention(x, m.mask()), x))
    return m.norm(m("Add", m.linear(m.gelu(m.linear(x, HIDDEN, 64)), 64, HIDDEN), x))


add("an encoder", encoder, **IDS)


def decoder(m):
    x = m("Add", m("Gather", m.weight(50, HIDDEN), "x", axis=0), m.weight(1, 1, HIDDEN))
    found, _ = m.gpt_attention(m.norm(x))
    x = m("Add", x, found)
    return m.norm(m("Add", x, m.linear(m.fast_gelu(m.linear(m.norm(x), HIDDEN, 64)), 64, HIDDEN)))


add("a decoder", decoder, "gpt2", **IDS)
add(
    "a normalised vector",
    lambda m: m("Div", "x", m("Expand", m("Clip", m("ReduceL2", "x", axes=[2], keepdims=1), m.number(1e-12)), m("Shape", "x"))),
)
add(
    "a chain of reshapes",
    lambda m: m("Relu", m("Reshape", m("Reshape", "x", m.ints(-1, HIDDEN)), m.ints(-1, 4, HIDDEN))),
    shape=(2, 4, HIDDEN),
)


def saved(host, model, folder):
    options = host.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = host.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folder / f"{host.__name__}.onnx")
    providers = {"providers": ["CPUExecutionProvider"], "disabled_optimizers": ["ConstantSharing"]}
    host.InferenceSession(model.SerializeToString(), options, **providers)  # as the tool does at opt_level 1
    assert not onnx.load(options.optimized_model_filepath).graph.value_info
    return options.optimized_model_filepath


def operators(model):
    return collections.Counter(entry.op_type for entry in model.graph.node)


def fused(host, name, folder):
    kind, model = MODELS[name]
    optimizer = importlib.import_module("onnxruntime.transformers.optimizer")
    return operators(optimizer.optimize_model(saved(host, model, folder), kind, HEADS, HIDDEN, opt_level=0).model)


def preprocessed(host, name, folder):
    path, out = saved(host, MODELS[name][1], folder), folder / f"{host.__name__}_out.onnx"
    qnn = importlib.import_module("onnxruntime.quantization.execution_providers.qnn")
    qnn.qnn_preprocess_model(path, out, fuse_layernorm=True)
    return operators(onnx.load(out if out.exists() else path)) - operators(onnx.load(path))


def quantized(host, name, folder):
    path, out = saved(host, MODELS[name][1], folder), folder / f"{host.__name__}_out.onnx"
    quantization = importlib.import_module("onnxruntime.quantization")
    quantization.quantize_dynamic(path, out)
    return operators(onnx.load(out)) - operators(onnx.load(path))


@pytest.mark.parametrize("name", MODELS)
def test_the_tool_finds_the_same(name, tmp_path):
    logging.disable(logging.ERROR)
    expected, given = (fused(host, name, tmp_path) for host in (onnxruntime, roundhouse))
    assert given == expected


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tool", [preprocessed, quantized])
def test_the_tools_of_quantisation_make_the_same(tool, name, tmp_path):
    """The operators that they add."""
    logging.disable(logging.ERROR)
    expected, given = (tool(host, name, tmp_path) for host in (onnxruntime, roundhouse))
    assert given == expected
