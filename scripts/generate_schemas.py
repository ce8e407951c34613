#!/usr/bin/env python3
"""Writes src/ops/onnx_schemas.inc from the operator schemas of the installed `onnx` package and from src/ops/contrib_schemas.json (the
domain com.microsoft) and removed_schemas.json (what the standard had once), which scripts/collect_contrib_schemas.py writes.

generate_schemas.py [OUT]    writes the file
generate_schemas.py --check  fails where the committed file differs
"""

import json
import pathlib
import re
import sys
from types import SimpleNamespace

import onnx
from onnx import TensorProto, defs

OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "ops" / "onnx_schemas.inc"
CONTRIB = OUT.with_name("contrib_schemas.json")
REMOVED = OUT.with_name("removed_schemas.json")
CONTRIB_DOMAIN = "com.microsoft"
SOURCES = f"onnx {onnx.__version__}, {CONTRIB.name} and {REMOVED.name}"
UNBOUNDED = 2147483647
ELEMENT_NUMBERS = {name.lower(): number for name, number in TensorProto.DataType.items()}
FORMS = [
    ("tensor", r"tensor\((\w+)\)"),
    ("sequence", r"seq\(tensor\((\w+)\)\)"),
    ("optional", r"optional\(tensor\((\w+)\)\)"),
    ("optional_sequence", r"optional\(seq\(tensor\((\w+)\)\)\)"),
    ("map_int64", r"map\(int64, *(?:tensor\()?(\w+)\)?\)"),
    ("map_string", r"map\(string, *(?:tensor\()?(\w+)\)?\)"),
    ("sequence_map_int64", r"seq\(map\(int64, *(?:tensor\()?(\w+)\)?\)\)"),
    ("sequence_map_string", r"seq\(map\(string, *(?:tensor\()?(\w+)\)?\)\)"),
    ("sparse", r"sparse_tensor\((\w+)\)"),
]


def text(value):
    if isinstance(value, bytes):
        value = value.decode()
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def boolean(value):
    return "true" if value else "false"


def float_literal(value):
    literal = repr(float(f"{value:.9g}"))
    return literal + "f"


class Rows:
    """Sequences of rows laid end to end; a sequence that stands there already is not repeated."""

    def __init__(self):
        self.rows = []
        self.places = {}

    def add(self, sequence):
        key = tuple(sequence)
        if key not in self.places:
            self.places[key] = len(self.rows)
            self.rows.extend(key)
        return self.places[key]

    def span(self, name, sequence):
        return f"{{{name} + {self.add(sequence)}, {len(sequence)}}}" if sequence else "{}"


class Tables:
    def __init__(self):
        self.types = Rows()
        self.integers = Rows()
        self.strings = Rows()
        self.defaults = Rows()
        self.ports = Rows()
        self.attributes = Rows()
        self.parameters = Rows()

    def type_set(self, types):
        masks = dict.fromkeys((form for form, _ in FORMS), 0)
        for type_text in types:
            for form, pattern in FORMS:
                match = re.fullmatch(pattern, type_text)
                if match:
                    masks[form] |= 1 << ELEMENT_NUMBERS[match[1]]
                    break
            else:
                raise SystemExit(f"{type_text}: unknown form of type")
        set_fields = [f".{form} = {mask:#x}" for form, mask in masks.items() if mask]
        return f"&kTypeSets[{self.types.add(['{' + ', '.join(set_fields) + '}'])}]"

    def port(self, schema, port):
        constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        allowed = constraints.get(port.type_str, [port.type_str])
        option = port.option.name.lower()
        variadic = option == "variadic"
        homogeneous = boolean(not variadic or port.is_homogeneous)
        least = port.min_arity if variadic else int(option == "single")
        return f"{{{text(port.name)}, {text(port.type_str)}, {self.type_set(allowed)}, PortOption::{option}, {homogeneous}, {least}}}"

    def default(self, attribute):
        value = attribute.default_value
        kind = onnx.AttributeProto.AttributeType.Name(value.type)
        fields = {
            "UNDEFINED": lambda: None,
            "INT": lambda: f".integer = {value.i}",
            "FLOAT": lambda: f".floating = {float_literal(value.f)}",
            "STRING": lambda: f".string = {text(value.s)}",
            "INTS": lambda: f".integers = {self.integers.span('kIntegers', [str(i) for i in value.ints])}",
            "STRINGS": lambda: f".strings = {self.strings.span('kStrings', [text(s) for s in value.strings])}",
        }
        field = fields[kind]()
        return "nullptr" if field is None else f"&kDefaults[{self.defaults.add(['{' + field + '}'])}]"

    def attribute(self, attribute):
        kind = {"INT": "integer", "INTS": "integers", "FLOAT": "floating", "TYPE_PROTO": "type"}.get(
            attribute.type.name, attribute.type.name.lower()
        )
        return f"{{{text(attribute.name)}, AttributeKind::{kind}, {boolean(attribute.required)}, {self.default(attribute)}}}"

    def schema(self, schema):
        def count(value):
            return "kUnbounded" if value >= UNBOUNDED else str(value)

        inputs = self.ports.span("kPorts", [self.port(schema, p) for p in schema.inputs])
        outputs = self.ports.span("kPorts", [self.port(schema, p) for p in schema.outputs])
        named = sorted(schema.attributes.values(), key=lambda a: a.name)
        attributes = self.attributes.span("kAttributes", [self.attribute(a) for a in named])
        parameters = self.parameters.span(
            "kParameters", [f"{{{text(c.type_param_str)}, {self.type_set(c.allowed_type_strs)}}}" for c in schema.type_constraints]
        )
        function = boolean(schema.has_function or schema.has_context_dependent_function)
        return (
            f"{{{text(schema.domain)}, {text(schema.name)}, {schema.since_version}, {boolean(schema.deprecated)}, {function}, "
            f"{schema.min_input}, {count(schema.max_input)}, {schema.min_output}, {count(schema.max_output)}, "
            f"{inputs}, {outputs}, {attributes}, {parameters}}}"
        )


def named(value):
    """An object whose `name` is the value: what enumerators of the onnx package look like."""
    return SimpleNamespace(name=value)


def collected_schema(row, domain):
    """A row of contrib_schemas.json or removed_schemas.json in the form of onnx.defs.OpSchema."""

    def ports(rows, least):
        return [
            SimpleNamespace(
                name=p["name"],
                type_str=p["type"],
                option=named(p["option"]),
                is_homogeneous=p.get("homogeneous", True),
                min_arity=max(0, least - len(rows) + 1),
            )
            for p in rows
        ]

    def attribute(a):
        number = onnx.AttributeProto.AttributeType.Value(a["type"])
        default = onnx.AttributeProto() if "default" not in a else onnx.helper.make_attribute(a["name"], a["default"], attr_type=number)
        return SimpleNamespace(name=a["name"], type=named(a["type"]), required=a["required"], default_value=default)

    min_input, max_input, min_output, max_output = row["arity"]
    return SimpleNamespace(
        domain=domain,
        name=row["name"],
        since_version=row["since_version"],
        deprecated=row["deprecated"],
        has_function=False,
        has_context_dependent_function=False,
        min_input=min_input,
        max_input=max_input,
        min_output=min_output,
        max_output=max_output,
        inputs=ports(row["inputs"], min_input),
        outputs=ports(row["outputs"], min_output),
        attributes={a["name"]: attribute(a) for a in row["attributes"]},
        type_constraints=[SimpleNamespace(type_param_str=t, allowed_type_strs=types) for t, types in row["types"].items()],
    )


def all_schemas():
    files = ((CONTRIB, CONTRIB_DOMAIN), (REMOVED, ""))
    collected = [collected_schema(row, domain) for path, domain in files for row in json.loads(path.read_text())]
    return sorted(defs.get_all_schemas_with_history() + collected, key=lambda s: (s.domain.encode(), s.name.encode(), s.since_version))


def generate():
    schemas = all_schemas()
    tables = Tables()
    rows = [tables.schema(s) for s in schemas]
    domains = []
    for domain in sorted({s.domain for s in schemas}):
        newest = max(s.since_version for s in schemas if s.domain == domain)
        domains.append(f"{{{text(domain)}, {max(newest, defs.onnx_opset_version()) if domain == '' else newest}}}")

    lines = [f"// Written by scripts/generate_schemas.py from {SOURCES}.", "// clang-format off"]
    lines += ["struct DomainRow { std::string_view domain; int latest_opset; };"]

    def table(kind, name, entries):
        lines.append(f"constexpr {kind} {name}[] = {{")
        lines.extend(f"{entry}," for entry in entries)
        lines.append("};")

    table("DomainRow", "kDomains", domains)
    table("TypeSet", "kTypeSets", tables.types.rows)
    table("int64_t", "kIntegers", tables.integers.rows)
    table("std::string_view", "kStrings", tables.strings.rows)
    table("AttributeDefault", "kDefaults", tables.defaults.rows)
    table("Port", "kPorts", tables.ports.rows)
    table("SchemaAttribute", "kAttributes", tables.attributes.rows)
    table("TypeParameter", "kParameters", tables.parameters.rows)
    table("OpSchema", "kSchemas", rows)
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        if OUT.read_text() != generate():
            raise SystemExit(f"{OUT.name} is not what {SOURCES} give; run scripts/generate_schemas.py")
        return
    out = pathlib.Path(sys.argv[1]) if sys.argv[1:] else OUT
    out.write_text(generate())


if __name__ == "__main__":
    main()
