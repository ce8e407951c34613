"""Changes of the attributes of a model file's nodes; see file_changes.py."""

import onnx
from backend_cases.cases import walk
from file_changes import a_node, change, schema_of
from onnx import AttributeProto, helper


@change
def defaults_spelled_out(model, chance):
    found = False
    for node in walk(model.graph.node):
        schema = schema_of(model, node)
        given = {a.name for a in node.attribute}
        for name, attribute in schema.attributes.items() if schema else ():
            if name not in given and attribute.default_value.type:
                node.attribute.add().CopyFrom(attribute.default_value)
                found = True
    return found


@change
def lists_that_are_empty(model, chance):
    found = False
    kinds = {onnx.defs.OpSchema.AttrType.INTS: AttributeProto.INTS, onnx.defs.OpSchema.AttrType.FLOATS: AttributeProto.FLOATS}
    kinds[onnx.defs.OpSchema.AttrType.STRINGS] = AttributeProto.STRINGS
    for node in walk(model.graph.node):
        schema = schema_of(model, node)
        given = {a.name for a in node.attribute}
        for name, attribute in schema.attributes.items() if schema else ():
            if name not in given and not attribute.required and attribute.type in kinds:
                node.attribute.add(name=name, type=kinds[attribute.type])
                found = True
    return found


@change
def attribute_twice(model, chance):
    node = a_node(model, chance, lambda n: len(n.attribute) > 0)
    if not node:
        return False
    node.attribute.append(node.attribute[0])


@change
def own_attribute_twice(model, chance):
    """The first one has another number."""
    kinds = (AttributeProto.INT, AttributeProto.FLOAT)
    node = a_node(model, chance, lambda n: any(a.type in kinds for a in n.attribute))
    if not node:
        return False
    attribute = next(a for a in node.attribute if a.type in kinds)
    second = node.attribute.add()
    second.CopyFrom(attribute)
    attribute.i, attribute.f = (1 - attribute.i, 0.0) if attribute.type == AttributeProto.INT else (0, attribute.f + 1)
    attribute.ClearField("i" if attribute.type == AttributeProto.FLOAT else "f")


@change
def attribute_without_type(model, chance):
    found = False
    for node in walk(model.graph.node):
        for attribute in node.attribute:
            attribute.ClearField("type")
            found = True
    return found


@change
def attribute_without_value(model, chance):
    node = a_node(model, chance, lambda n: any(a.type == AttributeProto.INT and a.i == 0 for a in n.attribute))
    if not node:
        return False
    for attribute in node.attribute:
        if attribute.type == AttributeProto.INT and attribute.i == 0:
            attribute.ClearField("i")


@change
def number_for_a_list(model, chance):
    node = a_node(model, chance, lambda n: any(a.type == AttributeProto.INTS and len(a.ints) == 1 for a in n.attribute))
    if not node:
        return False
    for attribute in node.attribute:
        if attribute.type == AttributeProto.INTS and len(attribute.ints) == 1:
            attribute.i, attribute.type = attribute.ints[0], AttributeProto.INT
            attribute.ClearField("ints")


@change
def list_for_a_number(model, chance):
    node = a_node(model, chance, lambda n: any(a.type == AttributeProto.INT for a in n.attribute))
    if not node:
        return False
    for attribute in node.attribute:
        if attribute.type == AttributeProto.INT:
            attribute.ints.append(attribute.i)
            attribute.type = AttributeProto.INTS
            attribute.ClearField("i")


@change
def integer_for_a_float(model, chance):
    node = a_node(model, chance, lambda n: any(a.type == AttributeProto.FLOAT for a in n.attribute))
    if not node:
        return False
    for attribute in node.attribute:
        if attribute.type == AttributeProto.FLOAT:
            attribute.i, attribute.type = max(-(1 << 62), min(int(attribute.f), 1 << 62)), AttributeProto.INT
            attribute.ClearField("f")


@change
def both_of_two_forms(model, chance):
    """A number beside the list that the type names."""
    node = a_node(model, chance, lambda n: any(a.type == AttributeProto.INTS for a in n.attribute))
    if not node:
        return False
    for attribute in node.attribute:
        if attribute.type == AttributeProto.INTS:
            attribute.i, attribute.f = 3, 0.5


@change
def attribute_of_nobody(model, chance):
    a_node(model, chance).attribute.append(helper.make_attribute("of_nobody", 1))


@change
def attribute_without_name(model, chance):
    a_node(model, chance).attribute.append(AttributeProto(i=1, type=AttributeProto.INT))


@change
def reference_in_the_main_graph(model, chance):
    node = a_node(model, chance, lambda n: len(n.attribute) > 0)
    if not node:
        return False
    node.attribute[0].ref_attr_name = "elsewhere"


@change
def packed_otherwise(model, chance):
    """Lists of integers entry by entry, where they are packed, and the other way round."""
    node = a_node(model, chance, lambda n: any(len(a.ints) > 1 for a in n.attribute))
    if not node:
        return False
    attribute = next(a for a in node.attribute if len(a.ints) > 1)
    values = list(attribute.ints)
    attribute.ClearField("ints")
    body = attribute.SerializeToString()
    packed = b"".join(varint(v & (2**64 - 1)) for v in values)
    attribute.ParseFromString(body + b"\x42" + varint(len(packed)) + packed)  # field 8, packed


def varint(value: int) -> bytes:
    out = bytearray()
    while True:
        out.append((value & 0x7F) | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)
