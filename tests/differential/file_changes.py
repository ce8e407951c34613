"""Changes of a model file's fields: each takes a model, and gives the bytes of one that is changed, or None where it has nothing to change.

What a converter, an editor of protobuf messages or a merge of files may leave: fields given twice, left out, spelled out, or of another
form. Functions that begin with `own_` change what differs between the two values that they write, so that it shows which of them counts.
"""

import tempfile

import onnx
from backend_cases.cases import walk
from onnx import TensorProto, helper

CHANGES = []


def change(function):
    """A change of a copy, which goes on as bytes where it gives none itself; False says that there is nothing to change."""

    def changed(model: onnx.ModelProto, chance) -> bytes | None:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        result = function(copy, chance)
        return None if result is False else result if isinstance(result, bytes) else copy.SerializeToString()

    changed.__name__ = function.__name__
    CHANGES.append(changed)
    return changed


def a_node(model, chance, test=lambda node: True):
    nodes = [node for node in walk(model.graph.node) if test(node)]
    return chance.choice(nodes) if nodes else None


def an_initializer(model, chance, test=lambda tensor: True):
    found = [tensor for tensor in model.graph.initializer if test(tensor)]
    return chance.choice(found) if found else None


def schema_of(model, node):
    version = next((o.version for o in model.opset_import if o.domain == node.domain), None)
    try:
        return onnx.defs.get_schema(node.op_type, version, node.domain)
    except (onnx.defs.SchemaError, TypeError):
        return None


# The model.


@change
def unknown_fields(model, chance):
    return model.SerializeToString() + bytes.fromhex("fa3e0568656c6c6f")  # field 1007: "hello"


@change
def graph_in_two_parts(model, chance):
    """A message that stands twice is one message with the fields of both."""
    first, second = onnx.ModelProto(), onnx.ModelProto()
    first.CopyFrom(model)
    second.graph.CopyFrom(model.graph)
    half = len(model.graph.node) // 2
    del first.graph.node[half:]
    for field in ("initializer", "input", "output", "value_info", "sparse_initializer"):
        first.graph.ClearField(field)
    del second.graph.node[:half]
    return first.SerializeToString() + second.SerializeToString()


@change
def opset_twice(model, chance):
    model.opset_import.append(model.opset_import[0])


@change
def own_opset_twice(model, chance):
    older = model.opset_import.add()
    older.CopyFrom(model.opset_import[0])
    older.version = max(1, older.version - 1)


@change
def opset_named(model, chance):
    for entry in model.opset_import:
        if entry.domain == "":
            entry.domain = "ai.onnx"


@change
def own_opset_left_out(model, chance):
    """Of a domain beside the standard's: its nodes are of the newest version then."""
    others = [o for o in model.opset_import if o.domain not in ("", "ai.onnx")]
    if not others:
        return False
    model.opset_import.remove(chance.choice(others))


@change
def opset_zero_before(model, chance):
    """The last import of a domain counts, whatever the others say."""
    model.opset_import.insert(0, onnx.OperatorSetIdProto(domain=model.opset_import[0].domain, version=0))


@change
def opset_of_others(model, chance):
    for domain, version in (("ai.onnx.ml", 3), ("ai.onnx.training", 1), ("com.microsoft", 1), ("com.example", 77)):
        if all(o.domain != domain for o in model.opset_import):
            model.opset_import.add(domain=domain, version=version)


@change
def opset_of_nobody(model, chance):
    model.opset_import.add()


@change
def version_left_out(model, chance):
    model.ClearField("ir_version")


@change
def old_ir_version(model, chance):
    model.ir_version = 3


@change
def new_ir_version(model, chance):
    model.ir_version = 12


@change
def metadata_twice(model, chance):
    for value in ("1", "2"):
        model.metadata_props.add(key="key", value=value)
    model.metadata_props.add()


@change
def training_info(model, chance):
    model.training_info.add().algorithm.name = "step"


@change
def descriptions(model, chance):
    model.doc_string = model.graph.doc_string = model.producer_name = model.domain = "\u00e9\u4e2d \n" * 3
    model.model_version = -5
    for node in walk(model.graph.node):
        node.doc_string = "doc"
        for attribute in node.attribute:
            attribute.doc_string = "doc"


@change
def function_twice(model, chance):
    """The last one takes its input as it is."""
    node = model.graph.node[0]
    if len(node.input) < 1 or not node.input[0] or len(node.output) != 1 or node.domain:
        return False
    for op in ("Neg", "Identity"):
        function = model.functions.add(name="Own", domain="own", input=["a"], output=["b"], node=[helper.make_node(op, ["a"], ["b"])])
        function.opset_import.append(next(o for o in model.opset_import if o.domain == ""))
    model.opset_import.add(domain="own", version=1)
    own = helper.make_node("Own", [node.input[0]], ["own_of_it"], domain="own")
    node.input[0] = "own_of_it"
    model.graph.node.insert(0, own)


@change
def ort_format(model, chance):
    """As ONNX Runtime writes it: with all defaults spelled out."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.optimized_model_filepath = f"{folder}/model.ort"
        options.add_session_config_entry("session.save_model_format", "ORT")
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception:
            return False
        with open(options.optimized_model_filepath, "rb") as file:
            return file.read()


# The graph.


@change
def graph_without_name(model, chance):
    model.graph.ClearField("name")


@change
def quantization_annotation(model, chance):
    note = model.graph.quantization_annotation.add(tensor_name="x")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="nowhere")


@change
def notes_on_parts(model, chance):
    model.graph.metadata_props.add(key="a", value="b")
    for node in model.graph.node:
        node.metadata_props.add(key="a", value="b")


@change
def value_info_twice(model, chance):
    """Of inputs, outputs and values between, without and with a type."""
    names = [*(i.name for i in model.graph.input), *(o for n in model.graph.node for o in n.output if o)]
    for name in names:
        model.graph.value_info.add(name=name)
    for port in [*model.graph.input, *model.graph.output]:
        model.graph.value_info.add().CopyFrom(port)


@change
def value_info_of_nothing(model, chance):
    model.graph.value_info.append(helper.make_tensor_value_info("nowhere", TensorProto.FLOAT, [1]))
    model.graph.value_info.add()


@change
def wrong_sizes_between(model, chance):
    for node in model.graph.node[:-1]:
        for name in node.output:
            model.graph.value_info.append(onnx.ValueInfoProto(name=name))
    types = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
    found = False
    for info in model.graph.value_info:
        if info.name in types and types[info.name].type.tensor_type.HasField("shape"):
            info.CopyFrom(types[info.name])
            for dim in info.type.tensor_type.shape.dim:
                dim.dim_value, found = 1, True
    return found


@change
def input_twice(model, chance):
    if not model.graph.input:
        return False
    model.graph.input.append(model.graph.input[0])


@change
def output_twice(model, chance):
    model.graph.output.append(model.graph.output[0])


@change
def output_without_type(model, chance):
    model.graph.output[0].ClearField("type")


@change
def output_without_element_type(model, chance):
    kind = model.graph.output[0].type
    if kind.WhichOneof("value") != "tensor_type":
        return False
    kind.tensor_type.ClearField("elem_type")


@change
def output_without_shape(model, chance):
    for port in model.graph.output:
        if port.type.WhichOneof("value") == "tensor_type":
            port.type.tensor_type.ClearField("shape")


@change
def output_sizes_wrong(model, chance):
    found = False
    for port in model.graph.output:
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.dim_value, found = 77, True
    return found


@change
def output_rank_wrong(model, chance):
    port = model.graph.output[0]
    if port.type.WhichOneof("value") != "tensor_type":
        return False
    port.type.tensor_type.shape.dim.add().dim_value = 3


@change
def output_of_another_type(model, chance):
    kind = model.graph.output[0].type
    if kind.WhichOneof("value") != "tensor_type":
        return False
    kind.tensor_type.elem_type = TensorProto.INT32 if kind.tensor_type.elem_type == TensorProto.FLOAT else TensorProto.FLOAT


@change
def input_without_shape(model, chance):
    for port in model.graph.input:
        if port.type.WhichOneof("value") == "tensor_type":
            port.type.tensor_type.ClearField("shape")


@change
def input_sizes_open(model, chance):
    for port in model.graph.input:
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.Clear()


@change
def input_sizes_negative(model, chance):
    for port in model.graph.input:
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.dim_value = -1


@change
def input_sizes_zero(model, chance):
    for port in model.graph.input:
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.dim_value = 0


@change
def input_sizes_named_alike(model, chance):
    for port in model.graph.input:
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.dim_param = "N"


@change
def input_sizes_without_a_name(model, chance):
    for port in model.graph.input:
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.dim_param = ""


@change
def denotations(model, chance):
    for port in model.graph.input:
        port.type.denotation = "TENSOR"
        for dim in port.type.tensor_type.shape.dim if port.type.WhichOneof("value") == "tensor_type" else ():
            dim.denotation = "DATA_BATCH"


@change
def input_without_a_use(model, chance):
    model.graph.input.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, [0]))


@change
def output_is_an_input(model, chance):
    if not model.graph.input:
        return False
    model.graph.output.append(model.graph.input[0])
