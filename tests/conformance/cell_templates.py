"""Models for the cells that no official case is a template for: subgraphs, sequences, optionals, older forms, outputs whose type an
attribute names, ai.onnx.ml.

A row: the operator, the type variable that `$T` stands for, the oldest and newest version, and the graph. Inputs are made from their
declared types; an integer input may be given as `name=[...]`.
"""

import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "differential"))
from ml_recipes import ML_RECIPES  # noqa: E402
from recipe import Recipe, Row  # noqa: E402
from values import array  # noqa: E402

MARK = TensorProto.COMPLEX128  # stands for the type while the text is read
NEWEST = 1000
X = "$T[2,3] x"
REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
IDENTITY = "body ($T e) => ($T f) { f = Identity (e) }"

TEXTS = [
    (
        "If",
        "V",
        1,
        NEWEST,
        f"(bool c, {X}) => ($T[2,3] y) {{ y = If (c) <then_branch = a () => ($T[2,3] f) {{ f = Identity (x) }}, "
        f"else_branch = b () => ($T[2,3] g) {{ g = Identity (x) }}> }}",
    ),
    (
        "Loop",
        "V",
        1,
        NEWEST,
        f"(int64 n, bool c, {X}) => ($T[2,3] y) {{ y = Loop (n, c, x) <body = b (int64 i, bool k, $T[2,3] v) => "
        "(bool l, $T[2,3] w) { l = Identity (k) w = Identity (v) }> }",
    ),
    ("Scan", "V", 8, 8, f'($T[1,2,3] x) => ($T[1,2,3] y) {{ y = Scan ("", x) <num_scan_inputs = 1, body = {IDENTITY}> }}'),
    ("Scan", "V", 9, NEWEST, f"({X}) => ($T[2,3] y) {{ y = Scan (x) <num_scan_inputs = 1, body = {IDENTITY}> }}"),
    ("Optional", "V", 15, NEWEST, f"({X}) => ($T y) {{ o = Optional (x) y = OptionalGetElement (o) }}"),
    ("OptionalGetElement", "V", 15, NEWEST, f"({X}) => ($T y) {{ o = Optional (x) y = OptionalGetElement (o) }}"),
    ("OptionalGetElement", "O", 18, NEWEST, f"({X}) => ($T y) {{ y = OptionalGetElement (x) }}"),
    ("OptionalHasElement", "O", 15, NEWEST, f"({X}) => (bool y) {{ o = Optional (x) y = OptionalHasElement (o) }}"),
    ("OptionalHasElement", "O", 18, NEWEST, f"({X}) => (bool y) {{ y = OptionalHasElement (x) }}"),
    ("RandomNormalLike", "T1", 1, NEWEST, f"({X}) => (float y) {{ y = RandomNormalLike <dtype = 1> (x) }}"),
    ("RandomUniformLike", "T1", 1, NEWEST, f"({X}) => (float y) {{ y = RandomUniformLike <dtype = 1> (x) }}"),
    ("RandomNormalLike", "T2", 1, NEWEST, "(float[2] x) => ($T y) { y = RandomNormalLike <dtype = $N> (x) }"),
    ("RandomUniformLike", "T2", 1, NEWEST, "(float[2] x) => ($T y) { y = RandomUniformLike <dtype = $N> (x) }"),
    ("RandomNormal", "T", 1, NEWEST, "() => ($T y) { y = RandomNormal <dtype = $N, shape = [2, 3]> () }"),
    ("RandomUniform", "T", 1, NEWEST, "() => ($T y) { y = RandomUniform <dtype = $N, shape = [2, 3]> () }"),
    ("Multinomial", "T1", 7, NEWEST, f"({X}) => (int32 y) {{ y = Multinomial <sample_size = 2> (x) }}"),
    ("Multinomial", "T2", 7, NEWEST, "(float[2,3] x) => ($T y) { y = Multinomial <dtype = $N, sample_size = 2> (x) }"),
    ("Resize", "T", 10, 10, "($T[1,1,2,2] x) => ($T y) <float[4] s = {1, 1, 2, 2}> { y = Resize (x, s) }"),
    (
        "Resize",
        "T1",
        11,
        11,
        "($T[1,1,2,2] x) => ($T y) <float[8] r = {0, 0, 0, 0, 1, 1, 1, 1}, float[4] s = {1, 1, 2, 2}> { y = Resize (x, r, s) }",
    ),
    ("Resize", "T2", 11, 11, "(float[1,1,2,2] x, $T[8] r) => (float y) <float[4] s = {1, 1, 2, 2}> { y = Resize (x, r, s) }"),
    ("Upsample", "T", 7, 7, "($T[1,1,2,2] x) => ($T y) { y = Upsample <scales = [1.0, 1.0, 2.0, 2.0]> (x) }"),
    ("DepthToSpace", "T", 1, 1, "($T[1,4,2,2] x) => ($T y) { y = DepthToSpace <blocksize = 2> (x) }"),
    ("Squeeze", "T", 1, 11, "($T[2,1] x) => ($T y) { y = Squeeze <axes = [1]> (x) }"),
    ("Unsqueeze", "T", 1, 11, "($T[2] x) => ($T y) { y = Unsqueeze <axes = [1]> (x) }"),
    ("Slice", "T", 1, 1, f"({X}) => ($T y) {{ y = Slice <starts = [0], ends = [2], axes = [1]> (x) }}"),
    ("Pad", "T", 2, 2, f"({X}) => ($T y) {{ y = Pad <pads = [0, 1, 1, 0]> (x) }}"),
    ("Clip", "T", 6, 6, f"({X}) => ($T y) {{ y = Clip <min = -1.0, max = 1.0> (x) }}"),
    ("TopK", "T", 1, 1, f"({X}) => ($T y, int64 i) {{ y, i = TopK <k = 2> (x) }}"),
    ("GlobalLpPool", "T", 2, NEWEST, "($T[1,2,3,3] x) => ($T y) { y = GlobalLpPool (x) }"),
    (
        "MaxRoiPool",
        "T",
        1,
        NEWEST,
        "($T[1,2,4,4] x, $T[1,5] r) => ($T y) { y = MaxRoiPool <pooled_shape = [2, 2]> (x, r) } r=[[0,0,0,3,3]]",
    ),
    ("RoiAlign", "T1", 10, 10, "($T[1,2,4,4] x, $T[1,4] r, int64[1] b) => ($T y) { y = RoiAlign (x, r, b) } b=[0]"),
    ("RoiAlign", "T2", 10, 10, "(float[1,2,4,4] x, float[1,4] r, $T[1] b) => (float y) { y = RoiAlign (x, r, b) } b=[0]"),
    ("DFT", "T2", 17, 17, "(float[1,4,1] x, $T n) => (float y) { y = DFT <axis = 1> (x, n) } n=4"),
    ("DFT", "T2", 20, NEWEST, "(float[1,4,1] x, $T n, int64 a) => (float y) { y = DFT (x, n, a) } n=4 a=1"),
    (
        "QLinearConv",
        "T4",
        10,
        NEWEST,
        "(uint8[1,1,3,3] x, float s, uint8 z, uint8[1,1,2,2] w, $T[1] b) => (uint8 y) "
        "{ y = QLinearConv (x, s, z, w, s, z, s, z, b) } s=1 z=0",
    ),
    ("SequenceConstruct", "T", 11, NEWEST, f"({X}) => (seq($T) y) {{ y = SequenceConstruct (x, x) }}"),
    ("SequenceInsert", "T", 11, NEWEST, f"({X}) => (seq($T) y) {{ s = SequenceConstruct (x) y = SequenceInsert (s, x) }}"),
    (
        "SequenceInsert",
        "I",
        11,
        NEWEST,
        "(float[2] x, $T p) => (seq(float) y) { s = SequenceConstruct (x) y = SequenceInsert (s, x, p) } p=0",
    ),
    ("SequenceAt", "T", 11, NEWEST, f"({X}, int64 p) => ($T y) {{ s = SequenceConstruct (x, x) y = SequenceAt (s, p) }} p=1"),
    ("SequenceAt", "I", 11, NEWEST, "(float[2] x, $T p) => (float y) { s = SequenceConstruct (x, x) y = SequenceAt (s, p) } p=1"),
    (
        "SequenceErase",
        "I",
        11,
        NEWEST,
        "(float[2] x, $T p) => (seq(float) y) { s = SequenceConstruct (x, x) y = SequenceErase (s, p) } p=1",
    ),
    ("SequenceErase", "S", 11, NEWEST, f"({X}) => (seq($T) y) {{ s = SequenceConstruct (x, x) y = SequenceErase (s) }}"),
    ("SequenceLength", "S", 11, NEWEST, f"({X}) => (int64 y) {{ s = SequenceConstruct (x, x) y = SequenceLength (s) }}"),
    ("SequenceLength", "I", 11, NEWEST, "(float[2] x) => ($T y) { s = SequenceConstruct (x, x) y = SequenceLength (s) }"),
    ("SequenceAt", "S", 11, NEWEST, f"({X}, int64 p) => ($T y) {{ s = SequenceConstruct (x, x) y = SequenceAt (s, p) }} p=1"),
    ("SequenceInsert", "S", 11, NEWEST, f"({X}) => (seq($T) y) {{ s = SequenceConstruct (x) y = SequenceInsert (s, x) }}"),
    ("SequenceConstruct", "S", 11, NEWEST, f"({X}) => (seq($T) y) {{ y = SequenceConstruct (x, x) }}"),
    ("ConcatFromSequence", "T", 11, NEWEST, f"({X}) => ($T y) {{ s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }}"),
    ("ConcatFromSequence", "S", 11, NEWEST, f"({X}) => ($T y) {{ s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }}"),
    ("SplitToSequence", "S", 11, NEWEST, f"({X}) => (seq($T) y) {{ y = SplitToSequence (x) }}"),
    ("SequenceMap", "V", 17, NEWEST, f"({X}) => (seq($T) y) {{ s = SequenceConstruct (x, x) y = SequenceMap (s) <body = {IDENTITY}> }}"),
    ("SequenceMap", "S", 17, NEWEST, f"({X}) => (seq($T) y) {{ s = SequenceConstruct (x, x) y = SequenceMap (s) <body = {IDENTITY}> }}"),
    ("SequenceEmpty", "S", 11, NEWEST, "() => (seq($T) y) { y = SequenceEmpty <dtype = $N> () }"),
    ("Cast", "T1", 6, NEWEST, "(float[2] x) => (float y) { n = Cast <to = $N> (x) y = Cast <to = 1> (n) }"),
    ("DequantizeLinear", "T3", 23, NEWEST, "(uint8[2] x, float s) => ($T y) { y = DequantizeLinear <output_dtype = $N> (x, s) }"),
    ("DequantizeLinear", "T1", 28, NEWEST, "(float[2] x, float s) => (float y) { n = Cast <to = $N> (x) y = DequantizeLinear (n, s) }"),
    (
        "LayerNormalization",
        "U",
        17,
        NEWEST,
        "(float[2,3] x, float[3] s) => (float y, $T m) { y, m = LayerNormalization <stash_type = $N> (x, s) }",
    ),
    *((op, "T", 1, 17, f"({X}) => ($T y) {{ y = {op} <axes = [1]> (x) }}") for op in REDUCTIONS.split()),
    *(
        (op, "T2", 17, NEWEST, f"() => ($T y) <int64 n = {{4}}> {{ y = {op} <output_datatype = $N> (n) }}")
        for op in ("BlackmanWindow", "HammingWindow", "HannWindow")
    ),
    (
        "MelWeightMatrix",
        "T3",
        17,
        NEWEST,
        "() => ($T y) <int64 b = {4}, int64 l = {8}, int64 r = {8000}, float f = {0}, float t = {4000}> "
        "{ y = MelWeightMatrix <output_datatype = $N> (b, l, r, f, t) }",
    ),
    *(
        (
            op,
            "T1",
            7,
            NEWEST,
            f"(float[3,1,2] x, float[1,{n},2] w, float[1,{n},2] r, $T[1] l) => (float y) {{ y = {op} <hidden_size = 2> "
            '(x, w, r, "", l) } l=[3]',
        )
        for op, n in (("RNN", 2), ("GRU", 6), ("LSTM", 8))
    ),
]


def retyped(message, number: int) -> None:
    """Puts the type in the place of the mark, in all graphs."""
    for field, value in message.ListFields():
        if field.name == "elem_type" and value == MARK:
            message.elem_type = number
        elif field.message_type and hasattr(value, "ListFields"):
            retyped(value, number)
        elif field.message_type:
            for item in value:
                retyped(item, number)


def without_shapes(graph, nested: bool) -> None:
    """Results may have any shape, and so may what subgraphs take."""
    for port in [*graph.output, *(graph.input if nested else [])]:
        kind = port.type
        while kind.HasField("sequence_type"):
            kind = kind.sequence_type.elem_type
        if kind.HasField("tensor_type") and (not nested or not kind.tensor_type.shape.dim):
            kind.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                without_shapes(attribute.g, True)


def cast_inputs(model, number: int) -> None:
    """No array can be given in the type: the model makes it of floats."""
    casts = []
    for port in model.graph.input:
        if port.type.tensor_type.elem_type == number:
            casts.append(helper.make_node("Cast", [f"{port.name}_wide"], [port.name], to=number))
            port.name, port.type.tensor_type.elem_type = f"{port.name}_wide", TensorProto.FLOAT
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def from_text(text: str, version: int, number: int):
    """The model and its inputs."""
    body, _, given = text.rpartition("}")
    body = (body + "}").replace("$T", "complex128").replace("$N", str(number))
    values = dict(re.findall(r"(\w)=(\S+)", given))
    model = onnx.parser.parse_model(f'<ir_version: 11, opset_import: ["": {max(version, 7)}]> cell {body}')
    retyped(model.graph, number)
    without_shapes(model.graph, False)
    feeds, rng = {}, np.random.default_rng(1)
    if number in (TensorProto.FLOAT6E2M3, TensorProto.FLOAT6E3M2):
        cast_inputs(model, number)
    for port in model.graph.input:
        tensor = port.type.tensor_type
        shape = [d.dim_value for d in tensor.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        known = values.get(port.name)
        feeds[port.name] = np.array(eval(known), dtype) if known else array(tensor.elem_type, shape, rng, 1, 3)  # noqa: S307
    return model, feeds


def constant(op: str, version: int, number: int):
    """Constant and ConstantOfShape, whose type their attribute has."""
    value = numpy_helper.from_array(array(number, [1], np.random.default_rng(1), 1, 3), "value")
    names = ["n"] if op == "ConstantOfShape" else []
    node = helper.make_node(op, names, ["y"], value=value)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in names]
    graph = helper.make_graph([node], "cell", inputs, [helper.make_tensor_value_info("y", number, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(version, 7))], ir_version=11)
    return model, {name: np.array([3]) for name in names}


def bit_cast(version: int, number: int):
    """From the unsigned type of the same width, or bool's from bytes."""
    bits = {1: "UINT8", 2: "UINT16", 4: "UINT32", 8: "UINT64", 16: "COMPLEX128"}
    names = {"INT4": "UINT4", "UINT4": "INT4", "FLOAT4E2M1": "UINT4", "INT2": "UINT2", "UINT2": "INT2"}
    name = TensorProto.DataType.Name(number)
    source = names.get(name) or bits[helper.tensor_dtype_to_np_dtype(number).itemsize]
    return from_text(f"({source.lower()}[2] x) => ($T y) {{ y = BitCast <to = $N> (x) }}", version, number)


def from_recipes(key, schema, parameter: str, number: int):
    """Of ai.onnx.ml: a generated model of that version in which the parameter has the type."""
    ports = [(i, p) for i, p in enumerate([*schema.inputs, *schema.outputs]) if p.type_str == parameter]
    row = next((row for row in ML_RECIPES if (row.domain, row.op) == key), None)
    if row is None or not ports:
        return None
    index = ports[0][0] - len(schema.inputs)
    types = None if index >= 0 else [number]
    for seed in range(60):
        try:
            made = Recipe(Row(row.op, row.make, row.low, row.high, row.domain, types or row.types), seed)
        except KeyError:  # no such keys in the table
            return None
        version = next(o.version for o in made.model.opset_import if o.domain == key[0])
        if defs.get_schema(key[1], version, key[0]).since_version != schema.since_version:
            continue
        if index < 0 or made.model.graph.output[index].type.tensor_type.elem_type == number:
            return made.model, made.feeds
    return None


def label_encoder(parameter: str, number: int):
    """The form with tensors as attributes."""
    keys, values = (number, TensorProto.FLOAT) if parameter == "T1" else (TensorProto.FLOAT, number)
    tensor = lambda kind, count: numpy_helper.from_array(array(kind, [count], np.random.default_rng(1), 1, 3))  # noqa: E731
    attributes = {"keys_tensor": tensor(keys, 3), "values_tensor": tensor(values, 3), "default_tensor": tensor(values, 1)}
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    inputs = [helper.make_tensor_value_info("x", keys, [2])]
    graph = helper.make_graph([node], "cell", inputs, [helper.make_tensor_value_info("y", values, None)])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 4)]
    return helper.make_model(graph, opset_imports=imports, ir_version=11), {"x": array(keys, [2], np.random.default_rng(2), 1, 3)}


def from_map(op: str, number: int):
    """CastMap and DictVectorizer: the type is that of the values that come out."""
    name = TensorProto.DataType.Name(number)
    of_floats = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    of_results = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(number, []))
    of_words = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(number, []))
    if op == "CastMap":
        kind, given, attributes = of_floats, {1: 2.0, 3: 4.5}, {"cast_to": f"TO_{name}"}
    elif number == TensorProto.STRING:
        kind, given, attributes = of_results, {1: "a"}, {"int64_vocabulary": [1, 2]}
    else:
        kind, given, attributes = of_words, {"a": 2 if number == TensorProto.INT64 else 2.0}, {"string_vocabulary": ["a", "b"]}
    node = helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "cell", [helper.make_value_info("x", kind)], [helper.make_tensor_value_info("y", number, None)])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=11), {"x": given}


def template(key, schema, parameter: str, number: int):
    """(model, inputs) for a cell, or None where there is none."""
    op, version = key[1], schema.since_version
    if op == "LabelEncoder" and version == 4:
        return label_encoder(parameter, number)
    if op in ("CastMap", "DictVectorizer"):
        return from_map(op, number)
    if key[0] == "ai.onnx.ml":
        return from_recipes(key, schema, parameter, number)
    if op in ("Constant", "ConstantOfShape"):
        return constant(op, version, number)
    if op == "BitCast":
        return bit_cast(version, number)
    rows = [row for row in TEXTS if row[0] == op and row[2] <= version <= row[3]]
    for _, variable, _, _, text in rows:
        if variable == parameter:
            return from_text(text, version, number)
    only = next(c for c in schema.type_constraints if c.type_param_str == parameter)
    if rows and len(only.allowed_type_strs) == 1:  # the only type there is
        return from_text(rows[0][-1], version, TensorProto.FLOAT)
    return None
