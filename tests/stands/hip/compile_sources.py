#!/usr/bin/env python3
"""Compiles kernels by the real hiprtc, for each architecture: compile_sources.py FOLDER ARCHITECTURE... [--counts FILE]

FOLDER has programs as the stand's compiler was given them (RH_STAND_SOURCES). What they have in common, the files of
src/providers/gpu/kernels, comes once in a program here, and each of their kernels in one program. ROUNDHOUSE_HIPRTC_LIBRARY names hiprtc.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
KERNELS = ROOT / "src/providers/gpu/kernels"
AT_ONCE = 40  # kernels in a program
KERNEL = re.compile(r'^extern "C" __global__ void (\w+)\(.*\n', re.M)


def files():
    """The texts of all files with kernels, each behind those that it needs."""
    rows = dict(re.findall(r'^RH_SOURCE\((\w+), "([^"]*)"\)', (KERNELS / "source_list.inc").read_text(), re.M))
    texts = {}

    def add(name):
        if name not in texts:
            for needed in rows[name].split():
                add(needed)
            texts[name] = (KERNELS / f"{name}.cuh").read_text()

    for name in ("arguments", "device", *rows):
        add(name)
    return texts


def kernels_of(folder, shared):
    """The kernels of the programs, by name, and the texts that are theirs alone, in their order."""
    kernels, definitions = {}, {}
    for path in sorted(folder.glob("*.cu")):
        rest = path.read_text()
        for text in shared:
            rest = rest.replace(text, "", 1)
        while rest.strip():
            rest = rest.lstrip("\n")
            found = KERNEL.match(rest)
            if found:
                kernels[found[1]] = found[0]
                rest = rest[found.end() :]
                continue
            end = rest.find("\n}\n", 0)
            if not rest.startswith("namespace rh {") or end < 0:
                sys.exit(f"{path}: expected a kernel or a definition at {rest[:80]!r}")
            following = re.search(r'^(extern "C" __global__|namespace rh \{)', rest[1:], re.M)
            at = following.start() + 1 if following else len(rest)
            definitions[rest[:at]] = None
            rest = rest[at:]
    return kernels, list(definitions)


class Compiler:
    def __init__(self):
        self.library = ctypes.CDLL(os.environ["ROUNDHOUSE_HIPRTC_LIBRARY"])

    def version(self):
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.hiprtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}.{minor.value}"

    def compile(self, source, architecture):
        """The bytes of code, and what the compiler says where there are none."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        if self.library.hiprtcCreateProgram(ctypes.byref(program), source.encode(), b"roundhouse.cu", 0, None, None):
            return 0, "no program"
        options = [f"--offload-arch={architecture}".encode(), b"-std=c++17", b"-O3"]
        if self.library.hiprtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            self.library.hiprtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value + 1)
            self.library.hiprtcGetProgramLog(program, log)
            size.value, said = 0, log.value.decode(errors="replace")
        else:
            self.library.hiprtcGetCodeSize(program, ctypes.byref(size))
            said = ""
        self.library.hiprtcDestroyProgram(ctypes.byref(program))
        return size.value, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("architectures", nargs="+")
    parser.add_argument("--counts", type=pathlib.Path)
    arguments = parser.parse_args()
    shared = files()
    kernels, definitions = kernels_of(arguments.folder, sorted(shared.values(), key=len, reverse=True))
    if not kernels:
        sys.exit(f"{arguments.folder} has no programs: run tests on the stand with RH_STAND_SOURCES={arguments.folder}")
    compiler = Compiler()
    lines, passed, failed = list(kernels.values()), 0, []
    for architecture in arguments.architectures:
        start, code = time.time(), 0
        for first in range(0, len(lines), AT_ONCE):
            part = lines[first : first + AT_ONCE]
            size, said = compiler.compile("\n".join([*shared.values(), *definitions, *part]), architecture)
            code += size
            passed += len(part) if size else 0
            if not size:
                failed.append(f"{architecture}, kernels {first} to {first + len(part) - 1}")
                print(f"{failed[-1]}: {said[:3000]}")
        print(f"hiprtc {compiler.version()} {architecture}: {len(lines)} kernels, {code} bytes of code, {time.time() - start:.0f} s")
    if arguments.counts:
        arguments.counts.write_text(json.dumps({"passed": passed, "failed": len(failed)}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
