"""A float32 model rewritten to compute in bfloat16."""

import numpy as np
import onnx
from onnx import TensorProto, helper


def to_bfloat16(tensor):
    """A float32 tensor rounded to nearest even; others as they are."""
    if tensor.data_type != TensorProto.FLOAT:
        return tensor
    words = onnx.numpy_helper.to_array(tensor).astype(np.float32).view(np.uint32)
    rounded = ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)
    return helper.make_tensor(tensor.name, TensorProto.BFLOAT16, tensor.dims, rounded.tobytes(), raw=True)


def convert_model(model):
    """Weights, constants and everything between are bfloat16; inputs and outputs keep float32, with one Cast each."""
    graph = model.graph
    for tensor in graph.initializer:
        tensor.CopyFrom(to_bfloat16(tensor))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                attribute.t.CopyFrom(to_bfloat16(attribute.t))
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.BFLOAT16
    inputs = {i.name: f"{i.name}_bfloat16" for i in graph.input if i.type.tensor_type.elem_type == TensorProto.FLOAT}
    outputs = {o.name: f"{o.name}_bfloat16" for o in graph.output if o.type.tensor_type.elem_type == TensorProto.FLOAT}
    for node in graph.node:
        node.input[:] = [inputs.get(name, outputs.get(name, name)) for name in node.input]
        node.output[:] = [outputs.get(name, name) for name in node.output]
    before = [helper.make_node("Cast", [name], [narrow], to=TensorProto.BFLOAT16) for name, narrow in inputs.items()]
    after = [helper.make_node("Cast", [narrow], [name], to=TensorProto.FLOAT) for name, narrow in outputs.items()]
    nodes = [*before, *graph.node, *after]
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    return model
