#!/usr/bin/env python3
"""Loads and runs every operator of the standard in every version from opset 7 on with every element type of every type parameter.

Each official node case of one node is a template: the parameter's inputs are given in the type, an attribute that names the output's
type is set. Where there is none, cell_templates.py has one. What a cell computes is held against the standard elsewhere; here it must run.
Exits 1 where one does not, or has no template and no reason why.

cells.py [--module roundhouse] [--op NAME]
"""

import argparse
import collections
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, defs, helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/roundhouse"))  # not the package: other runtimes run alone
from backend_cases.cases import collect, to_value  # noqa: E402
from backend_cases.runtime import Runtime  # noqa: E402
from cell_templates import template  # noqa: E402

FIRST_OPSET = 7
LATEST = defs.onnx_opset_version()
TYPES = {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()}
OPTIONS = defs.OpSchema.FormalParameterOption
# Complex numbers have no order to sort by; the pools of all templates are of integers.
WITHOUT = {("Unique", "complex64"), ("Unique", "complex128"), ("TfIdfVectorizer", "string")}


class NotApplicableError(Exception):
    """The case is no template for the cell."""


def formal(ports, i):
    if i < len(ports):
        return ports[i]
    if ports and ports[-1].option == OPTIONS.Variadic:
        return ports[-1]
    raise NotApplicableError


def schemas():
    """(domain, name) to the versions that opsets from FIRST_OPSET on use, oldest first."""
    history = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.ml", "ai.onnx.preview"):
            history[schema.domain, schema.name].append(schema)
    for key, versions in history.items():
        versions.sort(key=lambda s: s.since_version)
        used = [s for s, after in zip(versions, [*versions[1:], None]) if key[0] or not after or after.since_version > FIRST_OPSET]
        history[key] = [s for s in used if not s.deprecated]
    return history


def templates():
    cases = collections.defaultdict(list)
    for case in collect("^node/"):
        nodes = case.model.graph.node
        if len(nodes) == 1 and not case.model.graph.initializer and not any(a.HasField("g") for a in nodes[0].attribute):
            cases[nodes[0].domain, nodes[0].op_type].append(case)
    return cases


def cell_model(case, schema, parameter, number):
    """The case's node at the schema's version with the parameter in the type, and its feeds."""
    node, graph = onnx.NodeProto(), onnx.GraphProto()
    node.CopyFrom(case.model.graph.node[0])
    graph.CopyFrom(case.model.graph)
    inputs = case.data()[0][0]
    feeds = {name: to_value(value) for name, value in zip(case.input_names(len(inputs)), inputs)}
    types = {i.name: i.type for i in graph.input}
    left_out = [i for i, name in enumerate(node.input) if not name]
    if any(a.name not in schema.attributes for a in node.attribute) or any(
        formal(schema.inputs, i).option == OPTIONS.Single for i in left_out
    ):
        raise NotApplicableError
    ports = [(name, formal(schema.inputs, i)) for i, name in enumerate(node.input) if name]
    taken = [name for name, port in ports if port.type_str == parameter]
    for name in taken:
        set_type(feeds, types, name, number)
    names_output = [a for a in node.attribute if a.name in ("to", "dtype", "output_dtype")]
    if names_output and taken and node.op_type == "BitCast":
        names_output[0].i = number  # which must have as many bits
    elif names_output and not taken and node.op_type != "BitCast":
        names_output[0].i = number
    elif not taken and is_result(schema, parameter):
        pass  # whatever the inputs are, a result has the type
    elif not taken or not all(isinstance(feeds.get(name), np.ndarray) for name, _ in ports):
        raise NotApplicableError
    elif number == TensorProto.FLOAT8E8M0 and "output_dtype" in schema.attributes and not names_output:
        node.attribute.append(helper.make_attribute("output_dtype", TensorProto.FLOAT))
    imports = [helper.make_opsetid("", LATEST if node.domain else max(schema.since_version, FIRST_OPSET))]
    if node.domain:
        imports.append(helper.make_opsetid(node.domain, schema.since_version))
    for i in range(len(node.output)):
        formal(schema.outputs, i)
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "cell", [helper.make_value_info(name, types[name]) for name in feeds], outputs)
    return helper.make_model(graph, opset_imports=imports, ir_version=11), feeds


def is_result(schema, parameter) -> bool:
    """The parameter is the type of outputs only, and can be no other."""
    allowed = next(c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == parameter)
    return len(allowed) == 1 and all(p.type_str != parameter for p in schema.inputs)


def set_type(feeds, types, name, number):
    if name not in feeds or not types[name].HasField("tensor_type"):
        raise NotApplicableError
    if types[name].tensor_type.elem_type == number:
        return
    dtype = helper.tensor_dtype_to_np_dtype(number)
    if dtype.name.startswith("float6_"):  # no arrays of it can be given
        raise NotApplicableError
    if not isinstance(feeds[name], np.ndarray) or feeds[name].dtype.kind in "OUS":
        raise NotApplicableError
    try:
        feeds[name] = (
            feeds[name].astype(np.float64).astype(str).astype(object) if number == TensorProto.STRING else feeds[name].astype(dtype)
        )
    except TypeError as error:
        raise NotApplicableError from error
    types[name].tensor_type.elem_type = number


def cell_models(key, cases, schema, parameter, number):
    for case in cases:
        try:
            with np.errstate(all="ignore"):
                yield cell_model(case, schema, parameter, number)
        except NotApplicableError:
            continue
    made = template(key, schema, parameter, number)
    if made:
        yield made


def try_cell(runtime, key, cases, schema, parameter, number):
    """None where the cell runs, else why not; NotApplicableError where nothing is a template for it."""
    reasons = []
    for model, feeds in cell_models(key, cases, schema, parameter, number):
        try:
            session = runtime.load(model)
            if any(isinstance(value, dict) for value in feeds.values()):
                session.run(None, feeds)
            else:
                session.run_with_ort_values(None, {name: runtime.to_ort_value(value) for name, value in feeds.items()})
            return None
        except Exception as error:  # noqa: BLE001
            reasons.append(f"{type(error).__name__}: {' '.join(str(error).split())}")
    if not reasons:
        raise NotApplicableError
    return min(reasons, key=lambda reason: ("NotImplemented" not in reason, len(reason)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", default="roundhouse")
    parser.add_argument("--op")
    args = parser.parse_args()
    runtime, cases = Runtime(args.module, 1), templates()
    ran, untried, failures = 0, [], []
    for key, versions in sorted(schemas().items()):
        for schema in versions if args.op in (None, key[1]) else []:
            for constraint in schema.type_constraints:
                for text in constraint.allowed_type_strs:
                    name = text[7:-1]
                    if text not in TYPES or (key[1], name) in WITHOUT:
                        continue
                    try:
                        reason = try_cell(runtime, key, cases[key], schema, constraint.type_param_str, TYPES[text])
                        ran += reason is None
                        if reason:
                            failures.append(f"{key[1]}({schema.since_version}) {constraint.type_param_str} {name}: {reason}")
                    except NotApplicableError:
                        untried.append(f"{key[1]}({schema.since_version}) {constraint.type_param_str} {name}")
    for failure in failures:
        print(f"FAILED {failure}"[:240])
    for cell in untried:
        print(f"NO TEMPLATE {cell}")
    print(f"{args.module}: {ran} cells of operator, version and type run, {len(failures)} fail, {len(untried)} have no template")
    return 1 if failures or untried else 0


if __name__ == "__main__":
    sys.exit(main())
