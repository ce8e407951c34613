#!/usr/bin/env python3
"""Writes the table of options in docs/providers/NAME.md from the rows (kit::OptionRow) in src/providers/NAME, and those that it names of
the kit and of what GPUs share.

generate_provider_options.py          writes the tables
generate_provider_options.py --check  fails where a committed page differs, or a provider that programs name has no page
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES, PAGES = ROOT / "src/providers", ROOT / "docs/providers"
BEGIN, END = "<!-- options: made by scripts/generate_provider_options.py -->", "<!-- options: end -->"
FIELDS = ("name", "type", "otherwise", "effect", "least", "most", "choices", "is_in_key", "onnxruntime_name")
TOKEN = re.compile(r'//[^\n]*|"((?:[^"\\]|\\.)*)"|[{}(),;=]|[^\s{}(),;="]+')


def fail(message):
    sys.exit(f"error: {message}")


def tokens_of(text):
    """Strings as ('string', content), which stand for neighbours too, and the rest as ('word', text)."""
    found = []
    for match in TOKEN.finditer(text):
        if match[0].startswith("//"):
            continue
        kind = ("string", match[1].encode().decode("unicode_escape")) if match[1] is not None else ("word", match[0])
        if kind[0] == found[-1][0] == "string" if found else False:
            found[-1] = ("string", found[-1][1] + kind[1])
        else:
            found.append(kind)
    return found


def items_of(tokens, start):
    """The items between the brace at `start` and its end, each a list of tokens or, in braces, of items; and where that is."""
    items, item, at = [], [], start + 1
    while tokens[at] != ("word", "}"):
        if tokens[at] == ("word", "{"):
            inner, at = items_of(tokens, at)
            item.append(("braces", inner))
        elif tokens[at] == ("word", ","):
            items.append(item)
            item = []
        else:
            item.append(tokens[at])
        at += 1
    return items + ([item] if item else []), at


class Code:
    """Constants of a provider's folder and of those that it builds on, by name."""

    def __init__(self, folder):
        self.constants = {}
        for path in (path for part in ("kit", "gpu", folder) for path in sorted((SOURCES / part).rglob("*.[ch]*"))):
            text = path.read_text(encoding="utf-8")
            for match in re.finditer(r"constexpr [\w:<>]+ (k\w+)(?:\[\])? ?= ?", text):
                tokens = tokens_of(text[match.end() : text.index(";\n", match.end()) + 1])
                self.constants[match[1]] = items_of(tokens, 0)[0] if tokens[0] == ("word", "{") else tokens[:-1]

    def constant(self, name):
        name = name.removeprefix("kit::").removeprefix("gpu::")
        return self.constants[name] if name in self.constants else fail(f"no constant {name} of the options")

    def value(self, item):
        """A string, or the text of a number or a name."""
        if len(item) == 3 and item[1] == ("word", "<<"):
            return str(int(item[0][1]) << int(item[2][1]))
        [(kind, text)] = item if len(item) == 1 else fail(f"an option has {item}, expected one value")
        if kind == "word" and re.fullmatch(r"(kit::|gpu::)?k\w+", text):
            return self.value(self.constant(text))
        return text

    def rows(self):
        for item in self.constant("kOptions"):
            items = self.constant(item[0][1]) if item[0][0] == "word" else item[0][1]
            row = dict.fromkeys(FIELDS, "")
            for place, one in enumerate(items):
                named = one[0][1].startswith(".") if one[0][0] == "word" else False
                name, value = (one[0][1][1:], one[2:]) if named else (FIELDS[place], one)
                if name == "choices":
                    listed = value[0][1] if value[0][0] == "braces" else self.constant(value[0][1])
                    row[name] = [self.value(choice) for choice in listed]
                else:
                    row[name] = self.value(value)
            row["type"] = row["type"].rsplit("::", 1)[-1] or "text"
            yield row


def values_of(row):
    """What the option may be, its default first where it has one."""
    default = row["otherwise"]
    if row["type"] == "flag":
        return "`1`, default `0`" if default in ("0", "false") else "`0`, default `1`"
    if row["type"] == "choice":
        listed = ", ".join(f"`{choice}`" for choice in row["choices"] if choice and choice != default)
        return f"{listed}; default `{default}`" if default else listed
    if row["type"] == "integer":
        return f"{row['least']} to {row['most']}, default {default}"
    return ("a file" if row["type"] == "file" else "text") + (f", default `{default}`" if default else "")


def table(folder):
    lines = ["| option | values | effect |", "| --- | --- | --- |"]
    for row in Code(folder).rows():
        values = "none" if row["effect"].startswith("refused: ") else values_of(row)
        name = f"`{row['name']}`" + (f", in ONNX Runtime `{row['onnxruntime_name']}`" if row["onnxruntime_name"] else "")
        lines.append(f"| {name} | {values} | {row['effect']} |")
    return "\n".join(lines) + "\n"


def main():
    check = sys.argv[1:] == ["--check"]
    keys = re.findall(r'^RH_PROVIDER\("\w+", "\w+", "(\w+)"', (SOURCES / "known_providers.inc").read_text(encoding="utf-8"), re.MULTILINE)
    for folder in sorted({key for key in keys if (SOURCES / key).is_dir()}):
        page = PAGES / f"{folder}.md"
        text = page.read_text(encoding="utf-8") if page.is_file() else fail(f"{page.relative_to(ROOT)} is missing: a provider has a page")
        if text.count(BEGIN) != 1 or text.count(END) != 1:
            fail(f"{page.relative_to(ROOT)} has no place for the options: a line '{BEGIN}', and behind it '{END}'")
        before, after = text[: text.index(BEGIN)], text[text.index(END) :]
        made = f"{before}{BEGIN}\n\n{table(folder)}\n{after}"
        if not check:
            page.write_text(made, encoding="utf-8")
        elif made != text:
            fail(f"{page.relative_to(ROOT)} is not what the rows of options say: scripts/generate_provider_options.py writes it")


if __name__ == "__main__":
    main()
