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
OLD_NAME = re.compile(r'^RH_OLD_PASS\("(\w+)", "([\w,]+)"\)$', re.MULTILINE)
KEYS = ("Pattern", "Replacement", "Not")
LISTS = {
    "standard": "Before placement",
    "cpu": "After placement, over the nodes that no other provider has",
    "vendor": "For providers that ask for them",
}
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


def page():
    rows = ROW.findall((PASSES / "pass_list.inc").read_text(encoding="utf-8"))
    check_rows(rows)
    meanings, told = settings(), set()
    parts = [INTRODUCTION.rstrip()]
    for provider in LISTS:
        parts += section(provider, [row for row in rows if row[3] == provider], meanings, told)
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
