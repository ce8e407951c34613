#!/usr/bin/env python3
"""Writes include/roundhouse/onnxruntime_c_api.h and onnxruntime_ep_c_api.h from tests/data/abi.json. --check compares instead."""

import argparse
import json
import pathlib
import sys

from abi_header_text import GROUPS, NOTES, TABLES

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAIN, EP = "onnxruntime_c_api.h", "onnxruntime_ep_c_api.h"
WIDTH = 140


def parameter(type_name, name, annotation=""):
    prefix = annotation + " " if annotation else ""
    if "(*)" in type_name:
        return prefix + type_name.replace("(*)", f"(*{name})")
    return f"{prefix}{type_name} {name}".rstrip()


def wrap(head, items, tail, indent):
    """`head(items)tail` on one line, or with the items below each other's first."""
    line = f"{indent}{head}({', '.join(items) or 'void'}){tail}"
    if len(line) <= WIDTH:
        return [line]
    lines, current, pad = [f"{indent}{head}("], "", indent + "    "
    for i, item in enumerate(items):
        piece = item + (", " if i + 1 < len(items) else "")
        if current and len(pad + current + piece.rstrip()) + len(tail) + 1 > WIDTH:
            lines.append(pad + current.rstrip())
            current = ""
        current += piece
    lines.append(pad + current + ")" + tail)
    return lines


def slot_lines(table, slot):
    if "type" in slot:
        text = [f"  {slot['type']} {slot['name']};"]
    else:
        text = wrap(f"{slot['returns']}(ORT_API_CALL* {slot['name']})", [parameter(*p) for p in slot["params"]], ";", "  ")
    note = NOTES.get(f"{table}.{slot['name']}")
    if note:
        if len(text) == 1 and len(text[0]) + len(note) + 6 <= WIDTH:
            text[0] += f"  ///< {note}"
        else:
            text.insert(0, f"  /// {note}")
    return text


def table_text(name, table):
    lines = [f"/// {TABLES[name]}", f"struct {name} {{"]
    since = None
    for index, slot in enumerate(table["slots"]):
        heading = GROUPS.get(name, {}).get(slot["name"])
        if heading:
            lines += ([""] if index else []) + [f"  // {heading}"]
        if slot.get("since", since) != since:
            since = slot["since"]
            lines.append(f"  /* since version {since} */")
        lines += slot_lines(name, slot)
    return lines + ["};", ""]


def enum_text(name, enum):
    lines = [f"typedef enum {name} {{"]
    for key, value in enum["values"]:
        lines.append(f"  {key} = {value if value < 2**31 else hex(value)},")
    return lines + [f"}} {name};", ""]


def struct_text(name, struct):
    lines = [f"typedef struct {name} {{"]
    if name in CONSTRUCTED:
        lines += ["#ifdef __cplusplus", f"  {name}() {{"]
        lines += [f"    {f['name']} = {cpp_default(f)};" for f in struct["fields"]]
        lines += ["  }", "#endif"]
    for field in struct["fields"]:
        kind = field["type"]
        lines.append(f"  {kind} {field['name']};")
    return lines + [f"}} {name};", ""]


CONSTRUCTED = ("OrtCUDAProviderOptions", "OrtROCMProviderOptions", "OrtOpenVINOProviderOptions")


def cpp_default(field):
    value = field.get("default", "0")
    if "*" in field["type"]:
        return "NULL"
    return {"false": "0", "true": "1"}.get(value, value)


def function_type_text(name, function):
    return wrap(f"typedef {function['returns']}(ORT_API_CALL* {name})", [parameter(*p) for p in function["params"]], ";", "")


def of_header(group, header):
    return {name: item for name, item in group.items() if item["header"] == header}


PROLOGUE = (pathlib.Path(__file__).parent / "abi_header_prologue.h").read_text()


def main_header(abi):
    out = PROLOGUE.replace("@API_VERSION@", str(abi["api_version"])).splitlines()
    out += ["// Opaque handles", ""]
    out += [f"ORT_RUNTIME_CLASS({name[3:]});" for name in abi["opaque_types"]] + [""]
    out += ["// Tables and structs filled in by their makers", ""]
    out += [f"ORT_RUNTIME_CLASS({name[3:]});" for name in abi["tables"]]
    out += [
        "typedef OrtStatus* OrtStatusPtr;",
        "/// A thread made by the caller's functions.",
        "typedef const struct OrtCustomHandleType* OrtCustomThreadHandle;",
        "",
    ]
    out += ["// Enumerations", ""]
    for name, enum in of_header(abi["enums"], MAIN).items():
        out += enum_text(name, enum)
    out += ["// Function types", ""]
    for name, function in of_header(abi["function_types"], MAIN).items():
        out += function_type_text(name, function)
    out += ["", "// Plain structs", ""]
    for name, struct in of_header(abi["structs"], MAIN).items():
        out += struct_text(name, struct)
    for name, table in of_header(abi["tables"], MAIN).items():
        out += table_text(name, table)
    out += ["// Exported functions", ""]
    for function in abi["exported_functions"]:
        out += wrap(
            f"ORT_EXPORT {function['returns']} ORT_API_CALL {function['name']}", [parameter(*p) for p in function["params"]], ";", ""
        )
    out += ["", "#ifdef __cplusplus", "}", "#endif", "", f'#include "{EP}"', ""]
    return "\n".join(out)


def ep_header(abi):
    out = [
        "// The part of the ABI that providers in shared libraries (plugins) speak.",
        "// Written by scripts/generate_abi_headers.py from tests/data/abi.json.",
        "// clang-format off",
        "#pragma once",
        "",
        f'#include "{MAIN}"',
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "// Enumerations",
        "",
    ]
    for name, enum in of_header(abi["enums"], EP).items():
        out += enum_text(name, enum)
    out += ["// Plain structs", ""]
    for name, struct in of_header(abi["structs"], EP).items():
        out += struct_text(name, struct)
    out += ["// Function types. A plugin library exports CreateEpFactories and ReleaseEpFactory of the last two types", ""]
    for name, function in of_header(abi["function_types"], EP).items():
        out += function_type_text(name, function)
    out.append("")
    for name, table in of_header(abi["tables"], EP).items():
        out += table_text(name, table)
    return "\n".join(out + ["#ifdef __cplusplus", "}", "#endif", ""])


def check_words(abi):
    """Every heading and note must belong to a slot that exists."""
    slots = {f"{table}.{slot['name']}" for table, content in abi["tables"].items() for slot in content["slots"]}
    words = set(NOTES) | {f"{table}.{slot}" for table, group in GROUPS.items() for slot in group}
    if words - slots:
        sys.exit(f"no such slot: {', '.join(sorted(words - slots))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the committed headers differ")
    arguments = parser.parse_args()
    abi = json.loads((ROOT / "tests/data/abi.json").read_text())
    check_words(abi)
    stale = []
    for name, text in ((MAIN, main_header(abi)), (EP, ep_header(abi))):
        path = ROOT / "include/roundhouse" / name
        if arguments.check:
            if not path.exists() or path.read_text() != text:
                stale.append(str(path.relative_to(ROOT)))
        else:
            path.write_text(text)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run scripts/generate_abi_headers.py")


if __name__ == "__main__":
    main()
