#!/usr/bin/env python3
"""Writes docs/passes.md from src/passes/pass_list.inc and the contract with which each pass opens its file.

generate_passes_page.py          writes the page
generate_passes_page.py --check  fails where the committed page differs
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PASSES = ROOT / "src/passes"
PAGE = ROOT / "docs/passes.md"
WIDTH = 160
ROW = re.compile(r"^RH_PASS\((\w+), (\w+), (\w+), (\w+), (.+)\)$", re.MULTILINE)
SETTING = re.compile(r"^  bool (\w+) = \w+; +///< (.+)$", re.MULTILINE)
OPTIMIZER = re.compile(r'^RH_OPTIMIZER\("(\w+)", (\w+), "([\w,]+)"\)$', re.MULTILINE)
OLD_NAME = re.compile(r'^RH_OLD_PASS\("(\w+)", "([\w,]+)"\)$', re.MULTILINE)
KEYS = ("Pattern", "Replacement", "Not")
LISTS = {
    "standard": "Before placement",
    "cpu": "After placement, over the nodes that no other provider has",
    "vendor": "For providers that ask for them",
}
#: Passes of the basic level that no optimizer of ONNX Runtime's stands for, and yet touch files of that level.
ALONE = {
    "convert_constants_to_initializers": "its reader of models does so",
    "convert_early_opsets": "it has no kernels for them",
    "eliminate_dead_nodes": "each of its optimizers removes what it left behind",
}
LEVELS = """\
## Beside ONNX Runtime's levels

What does the same in ONNX Runtime (`src/passes/optimizer_list.inc`), with the level from which on it runs there; "none" where the CPU of
its packages does not have it. Tools look for patterns in the model that a session wrote at the basic level
(`session.optimized_model_filepath`). No pass changes such a file that has no counterpart of that level there; "in part" means that the
pass does no more there than ONNX Runtime's optimizer ([tests](../python/tests/test_saved_for_tools.py)), but for two things: sizes that
`Slice` takes from a `Shape` are folded into the shape of a `Reshape`, and a graph input times or by 1, or less 0, is taken as it is.
What is left to do in these files is on [the page of bindings](bindings.md).
"""
INTRODUCTION = """\
# Passes

What rewrites the graph, in order. Each list runs until nothing changes, at most eight times. A pass runs from its optimisation level on,
and not where `optimization.disable_specified_optimizers` names it ([options](options.md)). [Add a pass](add_a_pass.md) says how they are
written.

`scripts/generate_passes_page.py` makes this page of `src/passes/pass_list.inc` and the contracts at the head of the passes.
"""


def fail(message):
    sys.exit(f"error: {message}")


def contract(path):
    """What the comment that opens the file says under each key."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        key, _, text = line.removeprefix("// ").partition(": ")
        if line.startswith("// ") and key in KEYS:
            found[key] = text
        elif line.startswith("//   ") and found:
            found[list(found)[-1]] += " " + line[2:].strip()
        else:
            break
    if tuple(found) != KEYS:
        fail(f"{path.relative_to(ROOT)} opens with {list(found) or 'no contract'}, expected {', '.join(KEYS)}: see docs/add_a_pass.md")
    return found


def settings():
    """What each field of RewriteSettings means."""
    text = (PASSES / "driver/rewrite_settings.h").read_text(encoding="utf-8")
    return dict(SETTING.findall(text))


def condition_text(condition, meanings):
    if condition == "always":
        return []
    terms = {"": [], "!": []}
    for term in condition.split(" && "):
        match = re.fullmatch(r"(!?)settings\.(\w+)", term)
        if not match or match[2] not in meanings:
            fail(f"pass_list.inc: condition '{condition}', expected fields of RewriteSettings, joined by &&: add what it needs there")
        terms[match[1]].append(meanings[match[2]])
    ways = {"only where ": terms[""], "never where ": terms["!"]}
    return ["Settings: " + "; ".join(way + ", and ".join(texts) for way, texts in ways.items() if texts) + "."]


def bullet(text):
    return textwrap.fill("- " + text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def section(provider, rows, meanings, told):
    parts = [f"## {LISTS[provider]}"]
    for room, name, level, _, condition in rows:
        head = f"**`{name}`** · {room} · {level}"
        if name in told:
            parts.append(head + ": as above.")
            continue
        told.add(name)
        lines = [f"{key}: {text}" for key, text in contract(PASSES / room / f"{name}.cc").items()]
        parts.append("\n".join([head, "", *map(bullet, lines + condition_text(condition, meanings))]))
    return parts


def check_rows(rows):
    """Every pass has a row."""
    listed = {(room, name) for room, name, *_ in rows}
    for path in sorted(PASSES.glob("*/*.cc")):
        for name in re.findall(r"^Edit (\w+)\(const Graph& graph, PassContext& context\)", path.read_text(encoding="utf-8"), re.MULTILINE):
            if (path.parent.name, name) not in listed or path.stem != name:
                fail(f"{path.relative_to(ROOT)} has the pass {name}, expected a row in pass_list.inc of this room and a file of its name")


def in_basic_file(room, name, level, condition):
    """Whether the pass touches the model that is written at the basic level."""
    if level not in ("required", "basic") or "!settings.basic_file" in condition:
        return "no"
    if "settings.basic_file" in condition:
        return "there alone"
    return "in part" if "for_tools" in (PASSES / room / f"{name}.cc").read_text(encoding="utf-8") else "yes"


def levels(rows):
    """A row for each pass: what stands for it in ONNX Runtime, and whether it touches a file of the basic level."""
    optimizers = OPTIMIZER.findall((PASSES / "optimizer_list.inc").read_text(encoding="utf-8"))
    lines, told = ["| pass | level | ONNX Runtime's | in a file of the basic level |", "| --- | --- | --- | --- |"], set()
    for room, name, level, _, condition in rows:
        if name in told:
            continue
        told.add(name)
        own = [(optimizer, their) for optimizer, their, passes in optimizers if name in passes.split(",")]
        touches = in_basic_file(room, name, level, condition)
        if touches != "no" and name not in ALONE and "basic" not in [their for _, their in own]:
            fail(f"{name} would change models written at the basic level, where ONNX Runtime has nothing that does so: see docs/passes.md")
        text = ", ".join(f"{optimizer} ({their})" for optimizer, their in own) or ALONE.get(name, "")
        lines.append(f"| `{name}` | {level} | {text} | {touches} |")
    return "\n".join(lines)


def page():
    rows = ROW.findall((PASSES / "pass_list.inc").read_text(encoding="utf-8"))
    check_rows(rows)
    meanings, told = settings(), set()
    parts = [INTRODUCTION.rstrip()]
    for provider in LISTS:
        parts += section(provider, [row for row in rows if row[3] == provider], meanings, told)
    parts += [LEVELS.rstrip(), levels(rows)]
    old = OLD_NAME.findall((PASSES / "old_pass_names.inc").read_text(encoding="utf-8"))
    table = [f"| `{name}` | {', '.join(f'`{new}`' for new in passes.split(','))} |" for name, passes in old]
    parts += [
        "## Names of before",
        "Options take them; each stands for the passes beside it.",
        "\n".join(["| name | passes |", "| --- | --- |", *table]),
    ]
    return "\n\n".join(parts) + "\n"


def main():
    made = page()
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(made, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != made:
        fail("docs/passes.md is not what the passes say: scripts/generate_passes_page.py writes it")


if __name__ == "__main__":
    main()
