#!/usr/bin/env python3
"""Writes C++ that compiles only if the ABI headers agree with the table: generate_abi_layout_checks.py abi.json OUT.cc"""

import json
import pathlib
import sys


def main():
    abi = json.loads(pathlib.Path(sys.argv[1]).read_text())
    out = [
        "#include <cstddef>",
        "#include <type_traits>",
        "",
        '#include "roundhouse/onnxruntime_c_api.h"',
        "",
        f"static_assert(ORT_API_VERSION == {abi['api_version']});",
        '#define SLOT(table, name, where) static_assert(offsetof(table, name) == where, #table "." #name)',
        '#define FUNCTION(table, name, ...) static_assert(std::is_same_v<decltype(table::name), __VA_ARGS__>, #table "." #name)',
        "#if defined(__LP64__)",
    ]
    for name, table in abi["tables"].items():
        out.append(f"static_assert(sizeof({name}) == {table['sizeof']});")
        for slot in table["slots"]:
            out.append(f"SLOT({name}, {slot['name']}, {slot['offset']});")
            if "returns" in slot:
                kinds = ", ".join(p[0] for p in slot["params"])
                out.append(f"FUNCTION({name}, {slot['name']}, {slot['returns']}(ORT_API_CALL*)({kinds}));")
    for name, struct in abi["structs"].items():
        out.append(f"static_assert(sizeof({name}) == {struct['sizeof']});")
        for field in struct["fields"]:
            out.append(f"SLOT({name}, {field['name']}, {field['offset']});")
            out.append(f"static_assert(sizeof({name}::{field['name']}) == {field['size']});")
    out.append("#endif")
    for name, function in abi["function_types"].items():
        kinds = ", ".join(p[0] for p in function["params"])
        out.append(f"static_assert(std::is_same_v<{name}, {function['returns']}(ORT_API_CALL*)({kinds})>);")
    for enum in abi["enums"].values():
        out += [f"static_assert({key} == {value});" for key, value in enum["values"]]
    pathlib.Path(sys.argv[2]).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
