#!/usr/bin/env python3
"""generate_unicode_case.py: writes src/base/unicode_case.inc, Unicode's simple case mappings as ranges, from Python's character data.

A range maps every `step`-th character from `first` to `last` to itself plus `delta`.
"""

import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "base" / "unicode_case.inc"


def ranges(change):
    pairs = [(c, ord(change(chr(c))) - c) for c in range(128, sys.maxunicode + 1) if len(change(chr(c))) == 1 and change(chr(c)) != chr(c)]
    found = []
    for character, delta in pairs:
        if found:
            last = found[-1]
            step = character - last["last"]
            if last["delta"] == delta and step in (1, 2) and last["step"] in (0, step):
                last.update(last=character, step=step)
                continue
        found.append({"first": character, "last": character, "step": 0, "delta": delta})
    return found


def main():
    lines = ["// Made by scripts/generate_unicode_case.py."]
    for name, change in (("kToLower", str.lower), ("kToUpper", str.upper)):
        lines.append(f"constexpr CaseRange {name}[] = {{")
        lines += [f"{{0x{r['first']:x}, 0x{r['last']:x}, {max(1, r['step'])}, {r['delta']}}}," for r in ranges(change)]
        lines.append("};")
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
