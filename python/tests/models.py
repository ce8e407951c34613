"""Small models that the tests run."""

import onnx
from onnx import TensorProto, helper


def model(nodes, inputs, outputs, initializers=(), opset=18, **properties):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializer=list(initializers))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9, **properties)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def tensor(name, element=TensorProto.FLOAT, shape=("N",)):
    return helper.make_tensor_value_info(name, element, shape if shape is None else list(shape))


def sequence(name, element=TensorProto.FLOAT):
    return helper.make_tensor_sequence_value_info(name, element, None)


def optional(name, element=TensorProto.FLOAT):
    return helper.make_value_info(name, helper.make_optional_type_proto(helper.make_tensor_type_proto(element, ["N"])))


def add():
    """sum[N, 3] = a[N, 3] + b[3]"""
    return model(
        [helper.make_node("Add", ["a", "b"], ["sum"])],
        [tensor("a", shape=("N", 3)), tensor("b", shape=(3,))],
        [tensor("sum", shape=("N", 3))],
    )


def add_with_default():
    """sum[N, 3] = a[N, 3] + w[3], where w is [1, 2, 3] unless given"""
    return model(
        [helper.make_node("Add", ["a", "w"], ["sum"])],
        [tensor("a", shape=("N", 3)), tensor("w", shape=(3,))],
        [tensor("sum", shape=("N", 3))],
        [helper.make_tensor("w", TensorProto.FLOAT, [3], [1, 2, 3])],
    )


def identity(element=TensorProto.FLOAT, shape=("N",), opset=18):
    return model([helper.make_node("Identity", ["x"], ["y"])], [tensor("x", element, shape)], [tensor("y", element, shape)], opset=opset)


def identity_sequence(element=TensorProto.FLOAT):
    return model([helper.make_node("Identity", ["x"], ["y"])], [sequence("x", element)], [sequence("y", element)])


def sequence_length():
    return model([helper.make_node("SequenceLength", ["x"], ["n"])], [sequence("x")], [tensor("n", TensorProto.INT64, ())])


def has_element():
    return model([helper.make_node("OptionalHasElement", ["x"], ["y"])], [optional("x")], [tensor("y", TensorProto.BOOL, ())])


def matrix_powers(count):
    """y = x w w ... w: work that takes a while and cannot be folded."""
    nodes = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"]) for i in range(count)]
    square = ("N", "N")
    return model(nodes, [tensor("x0", shape=square), tensor("w", shape=square)], [tensor(f"x{count}", shape=square)])


def endless_products():
    """y = x w w ..., for days: a run that only ends when it is stopped."""
    square = ("N", "N")
    body = helper.make_graph(
        [helper.make_node("MatMul", ["v", "w"], ["product"]), helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [tensor("i", TensorProto.INT64, ()), tensor("go", TensorProto.BOOL, ()), tensor("v", shape=square)],
        [tensor("on", TensorProto.BOOL, ()), tensor("product", shape=square)],
    )
    nodes = [
        helper.make_node("Constant", [], ["trips"], value=helper.make_tensor("trips", TensorProto.INT64, [], [10**12])),
        helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body),
    ]
    return model(nodes, [tensor("x", shape=square), tensor("w", shape=square)], [tensor("y", shape=square)])
