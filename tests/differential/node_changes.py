"""Changes of the nodes of a model file; see file_changes.py."""

from backend_cases.cases import walk
from file_changes import change, schema_of
from onnx import helper


@change
def nodes_in_reverse(model, chance):
    if len(model.graph.node) < 2:
        return False
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))


@change
def nodes_of_one_name(model, chance):
    for node in walk(model.graph.node):
        node.name = "same"


@change
def nodes_without_names(model, chance):
    for node in walk(model.graph.node):
        node.ClearField("name")


@change
def domain_spelled_out(model, chance):
    for node in walk(model.graph.node):
        if node.domain == "":
            node.domain = "ai.onnx"


@change
def inputs_left_out_at_the_end(model, chance):
    for node in walk(model.graph.node):
        schema = schema_of(model, node)
        if schema and len(node.input) < schema.max_input:
            node.input.append("")


@change
def more_inputs_left_out(model, chance):
    for node in walk(model.graph.node):
        node.input.extend(["", ""])


@change
def outputs_left_out_at_the_end(model, chance):
    for node in walk(model.graph.node):
        schema = schema_of(model, node)
        if schema and len(node.output) < schema.max_output:
            node.output.append("")


@change
def more_outputs_left_out(model, chance):
    for node in walk(model.graph.node):
        node.output.extend(["", ""])


@change
def outputs_that_nobody_takes(model, chance):
    found = False
    for i, node in enumerate(model.graph.node):
        schema = schema_of(model, node)
        while schema and len(node.output) < min(schema.max_output, 8):
            node.output.append(f"nobody{i}_{len(node.output)}")
            found = True
    return found


@change
def overload_of_an_operator(model, chance):
    for node in walk(model.graph.node):
        node.overload = ""


@change
def output_given_twice(model, chance):
    copy = model.graph.node.add()
    copy.CopyFrom(model.graph.node[0])


@change
def node_without_an_end(model, chance):
    """A node that nothing needs."""
    name = next((i.name for i in model.graph.input), None)
    if not name:
        return False
    model.graph.node.append(helper.make_node("Identity", [name], ["nobody"]))
