#!/usr/bin/env python3
"""Writes src/ops/contrib_schemas.json, names, types, arities and defaults of the operators of the domain com.microsoft, as the installed
`onnxruntime` package declares them, and src/ops/removed_schemas.json, the same of operators of the standard that the `onnx` package no
longer has. Run it when that package is raised; generate_schemas.py reads the files.
"""

import json
import pathlib

import onnx
import onnxruntime.capi.onnxruntime_pybind11_state as native

OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "ops" / "contrib_schemas.json"
DOMAIN = "com.microsoft"
REMOVED = OUT.with_name("removed_schemas.json")
UNBOUNDED = 2147483647


def default_of(attribute):
    """The default in a form that JSON holds; None where there is none."""
    value = onnx.AttributeProto.FromString(attribute._default_value)
    if value.type == onnx.AttributeProto.UNDEFINED:
        return None
    value = onnx.helper.get_attribute_value(value)
    decode = lambda v: v.decode() if isinstance(v, bytes) else v  # noqa: E731
    return [decode(v) for v in value] if isinstance(value, list) else decode(value)


def port(p):
    row = {"name": p.name, "type": p.typeStr, "option": p.option.name.lower()}
    if row["option"] == "variadic" and not p.isHomogeneous:
        row["homogeneous"] = False
    return row


def attribute(a):
    row = {"name": a.name, "type": a.type.name, "required": a.required}
    default = None if a.required else default_of(a)
    if default is not None:
        row["default"] = default
    return row


def schema(s):
    return {
        "name": s.name,
        "since_version": s.since_version,
        "deprecated": s.deprecated,
        "arity": [min(n, UNBOUNDED) for n in (s.min_input, s.max_input, s.min_output, s.max_output)],
        "inputs": [port(p) for p in s.inputs],
        "outputs": [port(p) for p in s.outputs],
        "attributes": sorted((attribute(a) for a in s.attributes.values()), key=lambda a: a["name"]),
        "types": {c.type_param_str: list(c.allowed_type_strs) for c in s.type_constraints},
    }


def write(path, schemas):
    rows = sorted((schema(s) for s in schemas), key=lambda r: (r["name"], r["since_version"]))
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


def main():
    standard = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""]
    known, names = {(s.name, s.since_version) for s in standard}, {s.name for s in standard}
    every = native.get_all_operator_schema()
    write(OUT, [s for s in every if s.domain == DOMAIN])
    own = [s for s in every if s.domain == "" and (s.name, s.since_version) not in known]
    removed = names | {s.name for s in own if s.deprecated}
    write(REMOVED, [s for s in own if s.name in removed and not s.deprecated])


if __name__ == "__main__":
    main()
