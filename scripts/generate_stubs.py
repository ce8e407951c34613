#!/usr/bin/env python3
"""Writes python/roundhouse/_native.pyi, the types of the native module, from the module that was built; --check compares.

nanobind's stub generator does it, but for the classes of errors, which the module makes for the package: it would import them from there.
Results whose type depends on the value are Any, not object, so that programs may use them.
"""

import argparse
import pathlib
import re
import sys

from nanobind.stubgen import StubGen

import roundhouse._native as native

TARGET = pathlib.Path(__file__).resolve().parents[1] / "python/roundhouse/_native.pyi"


def stub():
    generator = StubGen(native, include_private=True)
    generator.put(native)
    text = generator.get()
    found = re.search(r"^from roundhouse import \((.*?)\)\n", text, re.S | re.M)
    assert found, "the generator imports no classes of errors"
    names = re.findall(r"(\w+) as \w+", found[1])
    errors = "".join(f'\n\nclass {name}(RuntimeError):\n    """{getattr(native, name).__doc__}"""\n' for name in names)
    text = text.replace("-> object:", "-> Any:").replace("from typing import overload", "from typing import Any, overload")
    arguments = dict.fromkeys(("list", "Sequence", "Iterator"), "Any") | {"dict": "str, Any", "tuple": "Any, ...", "PathLike": "str"}
    arguments["Callable"] = "..., Any"
    text = re.sub(rf"(?<=[ (.\[])({'|'.join(arguments)})(?=[,)|: \]])", lambda m: f"{m[1]}[{arguments[m[1]]}]", text)
    imported = re.search(r"^from collections\.abc import (\(.*?\)|[^\n]*)\n", text, re.S | re.M)
    kinds = re.findall(r"\w+", re.sub(r"\[.*?\]", "", imported[1]))
    text = text.replace(imported[0], f"from collections.abc import {', '.join(kinds)}\n")
    text = text.replace("**kwargs)", "**kwargs: Any)")
    found = re.search(r"^from roundhouse import \((.*?)\)\n", text, re.S | re.M)
    return (
        '"""Types of the native module, written by scripts/generate_stubs.py."""\n\n'
        + text[: found.start()].lstrip()
        + errors.lstrip("\n")
        + text[found.end() :]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    text = stub()
    if not check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit(f"{TARGET.name} is not what the module has: run scripts/generate_stubs.py on a build")


if __name__ == "__main__":
    main()
