"""Changes of the tensors of a model file; see file_changes.py."""

import numpy as np
from file_changes import an_initializer, change
from onnx import TensorProto, helper, numpy_helper


@change
def initializer_twice(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor:
        return False
    model.graph.initializer.append(tensor)


@change
def own_initializer_twice(model, chance):
    """The first one has other numbers."""
    tensor = an_initializer(model, chance, lambda t: t.data_type == TensorProto.FLOAT)
    if not tensor:
        return False
    model.graph.initializer.append(tensor)
    tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) + 1, tensor.name))


@change
def own_initializer_of_another_shape_twice(model, chance):
    tensor = an_initializer(model, chance, lambda t: t.data_type == TensorProto.FLOAT)
    if not tensor:
        return False
    model.graph.initializer.append(tensor)
    tensor.CopyFrom(numpy_helper.from_array(np.zeros([2, 2, 2], np.float32), tensor.name))


def as_constant(tensor, **attributes):
    return helper.make_node("Constant", [], [tensor.name], **(attributes or {"value": tensor}))


@change
def own_initializer_as_constants(model, chance):
    """Two Constants of one name in its place, of which the last counts."""
    tensor = an_initializer(model, chance, lambda t: t.data_type == TensorProto.FLOAT)
    if not tensor or any(i.name == tensor.name for i in model.graph.input):
        return False
    other = numpy_helper.from_array(numpy_helper.to_array(tensor) + 1, tensor.name)
    for node in (as_constant(tensor), as_constant(other)):
        model.graph.node.insert(0, node)
    model.graph.initializer.remove(tensor)


@change
def own_constant_beside_an_initializer(model, chance):
    """The Constant counts."""
    tensor = an_initializer(model, chance, lambda t: t.data_type == TensorProto.FLOAT)
    if not tensor or any(i.name == tensor.name for i in model.graph.input):
        return False
    model.graph.node.insert(0, as_constant(numpy_helper.from_array(numpy_helper.to_array(tensor) + 1, tensor.name)))


@change
def plain_numbers_as_constant(model, chance):
    """`value` holds what is no tensor."""
    tensor = an_initializer(model, chance, lambda t: t.data_type == TensorProto.FLOAT and len(t.dims) < 2)
    if not tensor or any(i.name == tensor.name for i in model.graph.input):
        return False
    numbers = numpy_helper.to_array(tensor)
    if numbers.size == 0:
        return False
    node = as_constant(tensor, value=numbers.tolist())
    model.graph.initializer.remove(tensor)
    model.graph.node.insert(0, node)


@change
def initializer_without_a_use(model, chance):
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.float32), "unused"))


@change
def initializer_without_name(model, chance):
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.float32)))


@change
def initializer_is_an_input(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor or any(i.name == tensor.name for i in model.graph.input):
        return False
    model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))


@change
def initializer_is_an_input_of_open_sizes(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor or any(i.name == tensor.name for i in model.graph.input):
        return False
    model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, [None] * len(tensor.dims)))


@change
def initializer_is_an_output(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor:
        return False
    model.graph.output.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))


@change
def initializers_described(model, chance):
    for tensor in model.graph.initializer:
        tensor.doc_string = "doc"
        tensor.data_location = TensorProto.DEFAULT
        tensor.metadata_props.add(key="a", value="b")


TYPED = {
    TensorProto.FLOAT: "float_data",
    TensorProto.INT32: "int32_data",
    TensorProto.INT8: "int32_data",
    TensorProto.UINT8: "int32_data",
    TensorProto.INT16: "int32_data",
    TensorProto.UINT16: "int32_data",
    TensorProto.BOOL: "int32_data",
    TensorProto.INT64: "int64_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.UINT64: "uint64_data",
    TensorProto.UINT32: "uint64_data",
}


def raw_tensor(model, chance, test=lambda t: True):
    return an_initializer(model, chance, lambda t: t.data_type in TYPED and t.HasField("raw_data") and test(t))


def typed(tensor, values=None):
    """The tensor's elements in its typed field."""
    values = [v + 0 for v in numpy_helper.to_array(tensor).ravel().tolist()] if values is None else values  # True becomes 1
    getattr(tensor, TYPED[tensor.data_type]).extend(values)


@change
def typed_data(model, chance):
    tensor = raw_tensor(model, chance)
    if not tensor:
        return False
    typed(tensor)
    tensor.ClearField("raw_data")


@change
def raw_beside_typed_data(model, chance):
    tensor = raw_tensor(model, chance)
    if not tensor:
        return False
    typed(tensor)


@change
def own_raw_beside_typed_data(model, chance):
    tensor = raw_tensor(model, chance)
    if not tensor:
        return False
    typed(tensor, [1] * len(numpy_helper.to_array(tensor).ravel()))


@change
def empty_raw_beside_typed_data(model, chance):
    tensor = raw_tensor(model, chance, lambda t: len(t.raw_data) > 0)
    if not tensor:
        return False
    typed(tensor)
    tensor.raw_data = b""


@change
def raw_beside_a_field_of_another_type(model, chance):
    tensor = raw_tensor(model, chance, lambda t: t.data_type != TensorProto.DOUBLE)
    if not tensor:
        return False
    tensor.double_data.extend([1.0])


@change
def raw_data_too_short(model, chance):
    tensor = raw_tensor(model, chance, lambda t: len(t.raw_data) > 1)
    if not tensor:
        return False
    tensor.raw_data = tensor.raw_data[:-1]


@change
def raw_data_too_long(model, chance):
    tensor = raw_tensor(model, chance)
    if not tensor:
        return False
    tensor.raw_data = tensor.raw_data + b"\0"


@change
def typed_data_too_short(model, chance):
    tensor = raw_tensor(model, chance, lambda t: len(t.raw_data) > 1)
    if not tensor:
        return False
    typed(tensor, [v + 0 for v in numpy_helper.to_array(tensor).ravel().tolist()[:-1]])
    tensor.ClearField("raw_data")


@change
def typed_data_too_long(model, chance):
    tensor = raw_tensor(model, chance)
    if not tensor:
        return False
    typed(tensor)
    typed(tensor, [0])
    tensor.ClearField("raw_data")


@change
def bytes_as_other_numbers(model, chance):
    """255 for the int8 -1, and -1 for the uint8 255, in int32_data."""
    kinds = {TensorProto.INT8: 256, TensorProto.UINT8: -256, TensorProto.INT16: 65536, TensorProto.UINT16: -65536}
    tensor = raw_tensor(model, chance, lambda t: t.data_type in kinds)
    if not tensor:
        return False
    values = numpy_helper.to_array(tensor).ravel().tolist()
    step = kinds[tensor.data_type]
    typed(tensor, [v + step if (v < 0) == (step > 0) else v for v in values])
    tensor.ClearField("raw_data")


@change
def truth_as_two(model, chance):
    tensor = raw_tensor(model, chance, lambda t: t.data_type == TensorProto.BOOL)
    if not tensor:
        return False
    typed(tensor, [2 * int(v) for v in numpy_helper.to_array(tensor).ravel()])
    tensor.ClearField("raw_data")


@change
def dims_negative(model, chance):
    tensor = an_initializer(model, chance, lambda t: len(t.dims) > 0)
    if not tensor:
        return False
    tensor.dims[0] = -1


@change
def segment(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor:
        return False
    tensor.segment.begin = 0


@change
def external_entries_of_data_that_is_here(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor:
        return False
    tensor.external_data.add(key="location", value="nowhere.bin")


@change
def external_data_that_is_nowhere(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor:
        return False
    tensor.external_data.add(key="location", value="nowhere.bin")
    tensor.data_location = TensorProto.EXTERNAL


@change
def initializer_of_no_type(model, chance):
    tensor = an_initializer(model, chance)
    if not tensor:
        return False
    tensor.ClearField("data_type")
