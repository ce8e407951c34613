"""What the tests of packages for other systems share: the wheels under test, interpreters, environments, root file systems, a model."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
WHEELS = pathlib.Path(os.environ.get("ROUNDHOUSE_PORTABLE_WHEELS", ROOT / "build/portable-wheels"))
TOOLS = ROOT / "build/wheel-tools/bin"
PYTHONS = ROOT / "build/pythons"
VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
OURS = ("PYTHONPATH", "ROUNDHOUSE_LIBRARY_DIR")

# What a user's program does: types that a model has, both names of the package, the command.
PROGRAM = """
import pathlib, subprocess, sys
import numpy as np
import roundhouse
import onnxruntime as ort
assert ort.__file__ == roundhouse.__file__
folder = pathlib.Path(sys.argv[1])
session = ort.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
arrays = np.load(folder / "arrays.npz")
got = session.run(None, {"image": arrays["image"]})[0]
np.testing.assert_allclose(got, arrays["scores"], rtol=1e-4, atol=1e-5)
matched = ort.InferenceSession(folder / "regex.onnx").run(None, {"text": np.array(["ab12", "12ab"], object)})[0]
assert matched.tolist() == [True, False], matched
image = ort.InferenceSession(folder / "decode.onnx").run(None, {"bytes": np.fromfile(folder / "image.tiff", np.uint8)})[0]
assert image.shape == (2, 3, 3) and image[0, 0].tolist() == [255, 0, 10], image
from roundhouse._command import binary
said = subprocess.run([binary(), "doctor", "--plugin", "none.so"], capture_output=True, text=True).stdout
assert "`import onnxruntime` gets Roundhouse" in said and "overlap" not in said, said
said = subprocess.run([binary(), "run", str(folder / "model.onnx"), "--seed", "1"], capture_output=True, text=True)
assert said.returncode == 0, said
print("ran", sys.version_info[0], sys.version_info[1])
"""


def run(command, folder=None, ok=True, timeout=600, **variables):
    clean = {key: value for key, value in os.environ.items() if key not in OURS}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=timeout, env={**clean, **variables}
    )
    assert not ok or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done


def libraries(version):
    return {"LD_LIBRARY_PATH": str(PYTHONS / version)}


def environment(folder, version, *packages):
    """An environment of that Python with the packages, ours among them, out of the folder of wheels. Gives its interpreter."""
    run([PYTHONS / version / f"bin/python{version}", "-m", "venv", folder], **libraries(version))
    python = pathlib.Path(folder) / "bin/python"
    run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--find-links", WHEELS, *packages], **libraries(version))
    return python


@functools.cache
def required():
    """The wheel of the name onnxruntime, as a requirement that nothing but it meets."""
    [wheel] = WHEELS.glob("onnxruntime-*.whl")
    return f"onnxruntime=={wheel.name.split('-')[1]}"


def write_models(folder):
    """A small convolutional network with what numpy gives for it, a model with an expression, and one that decodes an image."""
    random = np.random.default_rng(1)
    weights = random.standard_normal((8, 3, 3, 3), np.float32)
    matrix = random.standard_normal((8, 10), np.float32)
    nodes = [
        helper.make_node("Conv", ["image", "weights"], ["maps"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["maps"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "matrix"], ["scores"]),
    ]
    image = random.standard_normal((1, 3, 16, 16), np.float32)
    padded = np.pad(image[0], ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    maps = np.einsum("cyxij,ocij->oyx", windows, weights)
    np.savez(folder / "arrays.npz", image=image, scores=(np.maximum(maps, 0).mean((1, 2)) @ matrix)[None])
    write_model(
        folder / "model.onnx",
        nodes,
        ("image", TensorProto.FLOAT, [1, 3, 16, 16]),
        ("scores", TensorProto.FLOAT, [1, 10]),
        [onnx.numpy_helper.from_array(weights, "weights"), onnx.numpy_helper.from_array(matrix, "matrix")],
    )
    regex = helper.make_node("RegexFullMatch", ["text"], ["matched"], pattern="[a-z]+[0-9]+")
    write_model(folder / "regex.onnx", [regex], ("text", TensorProto.STRING, [2]), ("matched", TensorProto.BOOL, [2]))
    decode = helper.make_node("ImageDecoder", ["bytes"], ["pixels"], pixel_format="RGB")
    write_model(folder / "decode.onnx", [decode], ("bytes", TensorProto.UINT8, ["n"]), ("pixels", TensorProto.UINT8, ["h", "w", 3]))
    (folder / "image.tiff").write_bytes(tiff(np.array([[[255, 0, 10]] * 3, [[1, 2, 3]] * 3], np.uint8)))
    (folder / "program.py").write_text(PROGRAM)


def write_model(path, nodes, source, target, initializers=()):
    values = [helper.make_tensor_value_info(*value) for value in (source, target)]
    graph = helper.make_graph(nodes, "graph", values[:1], values[1:], list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def tiff(pixels):
    """An uncompressed image of three channels."""
    height, width, _ = pixels.shape
    short, long = 3, 4
    after = 8 + 2 + 10 * 12 + 4
    entries = [
        (256, short, 1, width),
        (257, short, 1, height),
        (258, short, 3, after),  # bits of each channel, which follow the directory
        (259, short, 1, 1),
        (262, short, 1, 2),
        (273, long, 1, after + 6),
        (277, short, 1, 3),
        (278, short, 1, height),
        (279, long, 1, pixels.size),
        (284, short, 1, 1),
    ]
    directory = b"".join(
        tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + count.to_bytes(4, "little") + value.to_bytes(4, "little")
        for tag, kind, count, value in entries
    )
    head = b"II*\0" + (8).to_bytes(4, "little") + len(entries).to_bytes(2, "little")
    return head + directory + bytes(4) + (8).to_bytes(2, "little") * 3 + pixels.tobytes()


def root_file_system(suite):
    """The folder of a Debian of that name, with what is under test at /wheels. Made once."""
    folder = ROOT / "build/roots" / suite
    run([ROOT / "scripts/root", suite], timeout=1200)
    shutil.rmtree(folder / "wheels", ignore_errors=True)
    (folder / "wheels").mkdir()
    for wheel in WHEELS.glob("*.whl"):
        shutil.copy(wheel, folder / "wheels")
    return folder


def numpy_wheel(version, folder):
    """So that a root file system needs no network."""
    wanted = ["-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--python-version", version]
    wanted += ["--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64", "-d", folder]
    run([sys.executable, *wanted, "numpy>=1.26"])
