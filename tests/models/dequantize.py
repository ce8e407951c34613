"""The float model that a quantised one stands for: weights dequantised, activations not rounded (but kept within what their quantised form
can hold, which is where quantisers leave a Relu).
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}


def per_axis(values, rank, axis):
    """Scales or zero points in a shape that broadcasts: one a tensor or one an index of the axis."""
    if values.size == 1:
        return values.reshape(())
    shape = [1] * rank
    shape[axis] = -1
    return values.reshape(shape)


def nbits_weights(node, constants):
    """[K, N] weights of a MatMulNBits, in float64."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    n, k, bits, block = attributes["N"], attributes["K"], attributes.get("bits", 4), attributes["block_size"]
    blocks = (k + block - 1) // block

    def codes(packed, count):
        packed = packed.reshape(n, -1)
        return np.stack([packed >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1).reshape(n, -1)[:, :count].astype("f8")

    zero = codes(constants[node.input[3]], blocks) if len(node.input) > 3 and node.input[3] else np.full((n, blocks), float(1 << bits - 1))
    scale = constants[node.input[2]].reshape(n, blocks).astype("f8")
    weights = codes(constants[node.input[1]], blocks * block).reshape(n, blocks, block)
    return ((weights - zero[..., None]) * scale[..., None]).reshape(n, -1)[:, :k].T


class Dequantizer:
    """Floats of the result have the type `dtype`, float32 or float64."""

    def __init__(self, model, dtype):
        self.model = model
        self.dtype = np.dtype(dtype)
        self.number = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self.producers = {o: n for n in model.graph.node for o in n.output}
        self.nodes = []
        self.added = []

    def constant(self, array, like):
        return self.add(f"{like}/constant", array)

    def add(self, name, array):
        self.added.append(numpy_helper.from_array(np.asarray(array, self.dtype, "C"), name))
        return name

    def converted(self, tensor):
        """The tensor in the wanted type where it holds floats, else itself."""
        if tensor.data_type not in FLOATS:
            return tensor
        return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(self.dtype), tensor.name)

    def clipped(self, quantize, y):
        """y is what QuantizeLinear was given, within the range of its result."""
        scale, zero = (self.constants[i] for i in quantize.input[1:3])
        limits = np.iinfo(zero.dtype)
        low, high = ((limit - zero.astype("f8")) * scale for limit in (limits.min, limits.max))
        self.nodes.append(
            helper.make_node("Clip", [quantize.input[0], self.constant(low, y + "/low"), self.constant(high, y + "/high")], [y])
        )

    def dequantized(self, node, x):
        """x less its zero point, scaled, as an array; x is known."""
        axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
        scale = per_axis(self.constants[node.input[1]].astype("f8"), x.ndim, axis)
        zero = per_axis(self.constants[node.input[2]].astype("f8"), x.ndim, axis) if len(node.input) > 2 and node.input[2] else 0.0
        return (x.astype("f8") - zero) * scale

    def dequantize_linear(self, node):
        x, y = node.input[0], node.output[0]
        if x in self.constants:
            self.add(y, self.dequantized(node, self.constants[x]))
        elif x in self.producers and self.producers[x].op_type == "QuantizeLinear":
            self.clipped(self.producers[x], y)
        else:  # quantised numbers that came another way, such as rows of an embedding
            scale = self.constant(self.constants[node.input[1]], y + "/scale")
            zero = self.constant(self.constants[node.input[2]], y + "/zero")
            self.nodes += [
                helper.make_node("Cast", [x], [y + "/wide"], to=self.number),
                helper.make_node("Sub", [y + "/wide", zero], [y + "/centred"]),
                helper.make_node("Mul", [y + "/centred", scale], [y]),
            ]

    def node(self, node):
        if node.op_type == "DequantizeLinear":
            self.dequantize_linear(node)
        elif node.op_type == "QuantizeLinear":
            pass  # only dequantisation takes it
        elif node.op_type == "DynamicQuantizeLinear":
            self.nodes.append(helper.make_node("Identity", [node.input[0]], [node.output[0]]))
            self.add(node.output[1], 1.0)
        elif node.op_type == "MatMulInteger":
            weights = self.constants[node.input[1]].astype("f8")
            if len(node.input) > 3 and node.input[3]:
                weights = weights - self.constants[node.input[3]].astype("f8")
            self.nodes.append(helper.make_node("MatMul", [node.input[0], self.constant(weights, node.output[0])], node.output))
        elif node.op_type == "MatMulNBits":
            weights = self.constant(nbits_weights(node, self.constants), node.output[0])
            self.nodes.append(helper.make_node("MatMul", [node.input[0], weights], node.output))
        else:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.TENSOR:
                    attribute.t.CopyFrom(self.converted(attribute.t))
                if node.op_type == "Cast" and attribute.i in FLOATS:
                    attribute.i = self.number
            self.nodes.append(node)

    def run(self):
        graph = self.model.graph
        for node in list(graph.node):
            self.node(node)
        used = {i for n in self.nodes for i in n.input}
        initializers = [self.converted(t) for t in graph.initializer if t.name in used] + self.added
        nodes = self.nodes
        for value in (*graph.input, *graph.output):
            if value.type.tensor_type.elem_type in FLOATS:
                value.type.tensor_type.elem_type = self.number
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(nodes)
        graph.initializer.extend(initializers)
        return self.model


def dequantized_model(path, dtype="f8"):
    return Dequantizer(onnx.load(path), dtype).run()


def root_mean_square(x):
    return float(np.sqrt(np.mean(np.square(np.asarray(x, "f8")))))
