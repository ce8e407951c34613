#!/usr/bin/env python3
"""portable_link.py BUILD STUBS OUT [TARGET...]: links what the build BUILD has compiled once more, for systems with an older C library.

STUBS has what a program is linked with there: libraries that hold symbols alone, and where a program begins. What the objects ask of
newer ones is in cmake/glibc_2.28.c; libstdc++ and the other libraries that are used become part of each file, but libgcc_s, which belongs
to its system. OUT gets the files of the package roundhouse, names/libonnxruntime.so.1, the library as others look for it, and
python_modules/<tag>/_native.so of each TARGET.
"""

import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OF_LIBTIFF = ["webp", "lzma", "zstd", "deflate", "Lerc", "jpeg", "z"]


def output(command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


def compiler_file(name):
    """A file of the compiler's, or of a library that is installed as an archive."""
    path = output(["c++", f"-print-file-name={name}"]).strip()
    if path == name:
        sys.exit(f"{name} was not found: scripts/setup installs what has it")
    return path


class Linker:
    def __init__(self, build, stubs, out):
        self.build, self.stubs, self.out = build, stubs, out
        self.shim = self.compile("glibc_2.28")
        self.for_archives = [self.compile("standard_streams"), self.compile("without_jbig")]

    def compile(self, name):
        made = self.out / f"{name}.o"
        subprocess.run(["cc", "-O2", "-fPIC", "-c", ROOT / f"cmake/{name}.c", "-o", made], check=True)
        return made

    def words(self, target):
        """Of the command that links a target."""
        plan = output(["ninja", "-C", self.build, "-t", "commands", target])
        [line] = [
            line for line in plan.splitlines() if re.search(r" -o (lib|bin|python|python_modules)/\S+ ", line) and " -c " not in line
        ][-1:]
        return shlex.split(line)

    def link(self, target, path, *archives, program=False):
        """The objects and own archives of a target, with more of these names, as OUT/path."""
        words = self.words(target)
        objects = [word for word in words if word.endswith(".o")]
        own = [word for word in words if word.endswith(".a") and not word.startswith("/usr/")]
        kept = [word for word in words if word.startswith(("-Wl,--version-script", "-Wl,-z,nodelete"))]
        (self.out / path).parent.mkdir(parents=True, exist_ok=True)
        linked = "libroundhouse.so.1" in " ".join(words) and target != "roundhouse"  # a user of the library
        command = ["c++", "-fuse-ld=mold", "-nostartfiles", "-nodefaultlibs", "-o", self.out / path, *kept]
        command += ["-pie"] if program else ["-shared"]
        command += ["-Wl,-s", "-Wl,--gc-sections", "-Wl,--icf=all", "-Wl,--as-needed", *([] if "_native" in path.name else ["-Wl,-z,defs"])]
        command += [f"-Wl,-soname,{path.name}"] if path.name.endswith(".so.1") else []
        command += ["-Wl,-rpath,$ORIGIN/.." if program else "-Wl,-rpath,$ORIGIN"] if linked else []
        command += [self.stubs / "Scrt1.o"] if program else []
        command += [compiler_file("crti.o"), compiler_file("crtbeginS.o"), *objects, self.shim, *own]
        command += [self.out / "roundhouse/libroundhouse.so.1"] if linked else []
        command += [name if "/" in str(name) else compiler_file(f"lib{name}.a") for name in archives]
        command += self.for_archives if archives and not program else []
        command += [compiler_file("libstdc++.a"), *sorted(self.stubs.glob("lib*.so.*")), self.stubs / "libc_nonshared.a"]
        command += [compiler_file("libgcc_s.so.1"), compiler_file("libgcc.a"), compiler_file("crtendS.o"), compiler_file("crtn.o")]
        done = subprocess.run([str(word) for word in command], cwd=self.build, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{path} was not linked:\n{done.stderr[:4000]}")


def main():
    build, stubs, out = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    package = out / "roundhouse"
    package.mkdir(parents=True, exist_ok=True)
    linker = Linker(build, stubs, out)
    linker.link("roundhouse", package / "libroundhouse.so.1")
    linker.link("onnxruntime_alias", out / "names/libonnxruntime.so.1")
    for vendor in ("openvino", "migraphx", "cuda", "rocm"):
        linker.link(f"provider_{vendor}", package / f"roundhouse_provider_{vendor}.so")
    linker.link("optional_regex", package / "libroundhouse_regex.so", ROOT / "build/re2/libre2.a")
    linker.link("optional_images", package / "libroundhouse_images.so", "tiff", "openjp2", *OF_LIBTIFF)
    linker.link("roundhouse_cli", package / "bin/roundhouse", "z", program=True)
    for target in sys.argv[4:]:
        tag = f"cp{sys.version_info[0]}{sys.version_info[1]}" if target == "roundhouse_python" else target.removeprefix("python_")
        linker.link(target, out / "python_modules" / tag / "_native.so")


if __name__ == "__main__":
    main()
