"""The build of the preset windows, programs for it by zig, and Wine, which runs them."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / "build/windows/lib"
HERE = ROOT / "tests/windows"
SETTINGS = {"WINEPREFIX": str(ROOT / "build/windows/wine"), "WINEDEBUG": "-all", "ROUNDHOUSE_ISA": "avx2"}
#: As cmake/windows.cmake has them, so that zig need not compile its own libraries anew.
FLAGS = "-target x86_64-windows-gnu -g0 -fomit-frame-pointer -fno-sanitize=undefined -O2 -DNDEBUG".split()
INCLUDES = ["-I", ROOT / "include/roundhouse", "-I", ROOT / "include"]
sys.path += [str(ROOT / "tests/models"), str(ROOT / "python/roundhouse"), str(HERE)]


def wine(*command, cwd=None, timeout=300, **variables):
    environment = {**os.environ, **SETTINGS, **variables}
    words = [str(word) for word in command]
    done = subprocess.run(["wine", *words], capture_output=True, cwd=cwd, env=environment, timeout=timeout)
    done.stdout, done.stderr = (text.decode().replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    return done


def windows_path(path):
    """Wine shows the root of the system as drive Z."""
    return "Z:" + str(path).replace("/", "\\")


class Programs:
    def __init__(self, folder):
        self.folder = folder
        self.zig = os.environ.get("ZIG") or shutil.which("zig") or pytest.skip("ZIG does not name zig")
        for library in LIBRARIES.glob("*.dll"):  # Windows looks for them beside the program
            (folder / library.name).symlink_to(library)

    def windows(self, source, *libraries, flags=()):
        """The program in tests/windows, or in a file elsewhere, that was compiled and linked with import libraries."""
        program = (self.folder / source).with_suffix(".exe").name
        compiler = "c++" if source.endswith(".cc") else "cc"
        made = [self.zig, compiler, *FLAGS, *flags, "-c", *INCLUDES, HERE / source, "-o", "made.o"]
        linked = [self.zig, "c++", *FLAGS, *flags, "-static", "made.o", *(LIBRARIES / f"{name}.lib" for name in libraries), "-o", program]
        for command in (made, linked):
            subprocess.run(command, cwd=self.folder, check=True)
        return self.folder / program

    def linux(self, source):
        release, program = ROOT / "build/release/lib", self.folder / source.removesuffix(".c")
        command = ["gcc", *INCLUDES, HERE / source, "-o", program, "-L", release, "-lroundhouse", f"-Wl,-rpath,{release}"]
        subprocess.run(command, check=True)
        return program


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    return Programs(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """(x + y) * y of opset 13, of 2x3 floats: what every one of our providers computes."""
    from onnx import TensorProto, helper

    path = tmp_path_factory.mktemp("model") / "model.onnx"
    nodes = [helper.make_node("Add", ["x", "y"], ["s"], "add"), helper.make_node("Mul", ["s", "y"], ["z"], "mul")]
    x, y, z = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xyz")
    made = helper.make_model(helper.make_graph(nodes, "graph", [x, y], [z]), opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    path.write_bytes(made.SerializeToString())
    return path
