#!/usr/bin/env python3
"""Checks what no formatter does: who includes whom, where the platform may be asked for, file lengths, left-over marks.

Prints one line a finding, "file:line: what", and exits 1 when there is any.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each layer may include itself, the layers named here and what those may include.
MAY_INCLUDE = {
    "base": [],
    "tensor": ["base"],
    "graph": ["tensor"],
    "ops": ["graph"],
    "abi": ["ops", "public"],
    "onnx": ["ops"],
    "passes/driver": ["ops"],
    "passes/pattern": ["passes/driver"],
    "passes/simplify": ["passes/pattern"],
    "passes/recognise": ["passes/pattern"],
    "passes/fold": ["passes/pattern"],
    "passes/fuse": ["passes/pattern"],
    "passes/layout": ["passes/pattern"],
    "passes/types": ["passes/simplify"],
    "passes/precision": ["ops"],
    "passes": ["passes/fold", "passes/fuse", "passes/layout", "passes/precision", "passes/recognise", "passes/types"],
    "providers": ["passes/driver", "abi"],
    "partition": ["providers"],
    "compute": ["tensor"],
    "providers/cpu": ["providers", "compute", "passes"],
    "settings": ["providers"],
    "providers/plugin": ["providers", "settings", "passes", "public"],
    "providers/kit": ["onnx", "passes/precision", "passes/recognise", "passes/simplify", "public"],
    "providers/sample": ["providers/kit"],
    "providers/openvino": ["providers/kit"],
    "providers/migraphx": ["providers/kit"],
    "providers/gpu": ["providers/kit"],
    "providers/cuda": ["providers/gpu"],
    "providers/rocm": ["providers/gpu"],
    "providers/coreml": ["providers/kit"],
    "providers/example": ["public"],
    "providers/fake_device": ["providers/kit"],
    "session": ["partition", "passes", "onnx", "providers/cpu", "providers/plugin", "settings"],
    "capi": ["session", "public"],
    "optional": ["base"],
    "public": [],
    "cli": ["public"],
    "python": ["public"],
}
# A layer that may be reached only by those that name it, not through them.
NOT_INHERITED = {"compute"}

PLATFORM = re.compile(
    r"^\s*#\s*(?:el)?if.*\b(?:__x86_64__|__i386__|__aarch64__|__arm__|__AVX\w*|__SSE\w*|__ARM_\w+|__wasm\w*|_WIN32|_MSC_VER|__linux__|__APPLE__)\b"
)
PASSES = re.compile(
    r"\b(?:" + "|".join(re.findall(r"^RH_PASS\(\w+, (\w+),", (ROOT / "src/passes/pass_list.inc").read_text(), re.M)) + r")\b"
)
MARKS = re.compile(r"\b(?:TODO|FIXME|HACK|XXX)\b|\bfor now\b|\bnot implemented yet\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
MAX_LINES = 800
LONG_BY_NATURE = re.compile(r"^include/roundhouse/onnxruntime_\w+\.h$|\.inc$")
SOURCES = ("*.cc", "*.h", "*.hpp", "*.inc", "*.py")


def allowed_layers(layer):
    direct = MAY_INCLUDE[layer]
    found = {layer, *direct}
    for other in direct:
        found |= allowed_layers(other) - NOT_INHERITED
    return found


def layer_of(path):
    """The layer of a file, given its path from the root of the repository."""
    parts = path.split("/")
    if parts[0] == "include":
        return "public"
    if parts[0] in ("cli", "python"):
        return parts[0]
    if parts[0] != "src" or len(parts) < 3:
        return None
    if parts[1] in ("passes", "providers") and len(parts) > 3:
        return f"{parts[1]}/{parts[2]}"
    return parts[1]


def resolve(include, includer):
    """The repository path that an include names."""
    candidates = [f"src/{include}", f"include/{include}", f"tests/{include}", str(pathlib.PurePosixPath(includer).parent / include)]
    return next((c for c in candidates if (ROOT / c).is_file()), None)


def include_findings(path, line):
    match = INCLUDE.match(line)
    layer = layer_of(path)
    if not match or layer not in MAY_INCLUDE:  # a folder of src without a row is a finding of its own
        return
    target = resolve(match[1], path)
    if target is None:
        yield f'"{match[1]}" is no file of this repository (includes are written from src/)'
        return
    other = layer_of(target)
    if other is None or other not in allowed_layers(layer):
        yield f'{layer} may not include "{match[1]}" of {other or target}'


def findings(path):
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    if len(lines) > MAX_LINES and not LONG_BY_NATURE.search(path):
        yield 1, f"{len(lines)} lines, more than {MAX_LINES}: split the file by idea"
    if path.startswith("src/") and layer_of(path) is not None and layer_of(path) not in MAY_INCLUDE:
        yield 1, f"folder {layer_of(path)} has no row in MAY_INCLUDE: say there what it may include"
    is_cpp = not path.endswith(".py")
    portable = path.startswith("src/") and layer_of(path) not in ("base", "compute")
    for number, line in enumerate(lines, 1):
        if MARKS.search(line) and path != "scripts/check_sources.py":
            yield number, "left-over mark"
        if is_cpp:
            if path.startswith("src/session/") and PASSES.search(line):
                yield number, "names a pass: src/passes/pass_list.inc says under which settings one runs"
            yield from ((number, what) for what in include_findings(path, line))
            if portable and PLATFORM.match(line):
                yield number, "#if for a platform or instruction set outside base/ and compute/"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SOURCES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [p for p in listed.stdout.split() if (ROOT / p).is_file() and not p.startswith("demo/files/")]
    found = [f"{path}:{number}: {what}" for path in paths for number, what in findings(path)]
    print("\n".join(found) or f"{len(paths)} source files checked")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
