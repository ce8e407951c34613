"""What `cmake --install` lays out, used as projects of others use it: each example is built against it and runs a model."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", ROOT / "build/release/lib")).parent
EXAMPLES = ROOT / "examples"
SETTINGS = (
    "CMAKE_BUILD_TYPE",
    "CMAKE_CXX_FLAGS",
    "CMAKE_CXX_FLAGS_RELEASE",
    "CMAKE_CXX_STANDARD",
    "CMAKE_CXX_VISIBILITY_PRESET",
    "CMAKE_CXX_COMPILER_LAUNCHER",
)


def run(command, folder, **variables):
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=300, env={**os.environ, **variables}
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run(["cmake", "--install", BUILD, "--prefix", folder], folder)
    return folder


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A model that takes an image of 1x3x224x224 and gives 10 scores."""
    folder = tmp_path_factory.mktemp("model")
    weights = np.linspace(-1, 1, 30, dtype=np.float32).reshape(3, 10)
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["scores"]),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "classify", [image], [scores], [onnx.numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    return folder


def build(source, folder, *settings):
    run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *settings], ROOT)
    run(["cmake", "--build", folder, "--target", "classify"], ROOT)
    return folder / "classify"


def needed(binary):
    lines = run(["readelf", "-d", binary], ROOT).splitlines()
    return {line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line}


def test_what_is_laid_out(prefix):
    assert {path.name for path in prefix.iterdir()} == {"bin", "include", "lib"}  # and no Python package, which pip installs
    library = prefix / "lib" / "libroundhouse.so.1"
    assert library.is_file() and not library.is_symlink()
    version = re.search(r"ORT_API_VERSION (\d+)", (prefix / "include/roundhouse/onnxruntime_c_api.h").read_text())[1]
    for name in ("libonnxruntime.so", "libonnxruntime.so.1", f"libonnxruntime.so.1.{version}.0", "libroundhouse.so"):
        assert (prefix / "lib" / name).resolve() == library
    for vendor in ("openvino", "migraphx", "cuda", "rocm"):
        assert (prefix / f"lib/roundhouse_provider_{vendor}.so").is_file()
    exported = {line.split()[-1] for line in run(["nm", "-D", "--defined-only", library], prefix).splitlines()}
    assert exported == set(re.findall(r"^ +(\w+);", (ROOT / "src/capi/exports.map").read_text(), re.M))
    assert "explain" in run([prefix / "bin/roundhouse", "--help"], prefix)


@pytest.mark.parametrize("example", ["c", "cpp"])
def test_a_project_finds_it(prefix, model_folder, tmp_path, example):
    program = build(EXAMPLES / example, tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert run([program], model_folder) == "10 scores\n"
    assert "libroundhouse.so.1" in needed(program)


def test_a_project_for_onnxruntime_finds_it(prefix, model_folder, tmp_path):
    text = (EXAMPLES / "cpp/CMakeLists.txt").read_text()
    text = text.replace("find_package(Roundhouse REQUIRED)", "find_package(onnxruntime 1.20 REQUIRED)").replace(
        "Roundhouse::roundhouse", "onnxruntime::onnxruntime"
    )
    (tmp_path / "CMakeLists.txt").write_text(text)
    shutil.copy(EXAMPLES / "cpp/main.cc", tmp_path)
    assert run([build(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")], model_folder) == "10 scores\n"


def test_the_library_inside_a_program(prefix, model_folder, tmp_path):
    program = build(EXAMPLES / "c", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-DSTATIC=ON")
    assert run([program], model_folder) == "10 scores\n"
    assert not {name for name in needed(program) if "roundhouse" in name or "onnxruntime" in name}


def test_a_component_that_is_missing(prefix, tmp_path):
    text = (EXAMPLES / "cpp/CMakeLists.txt").read_text().replace("REQUIRED)", "REQUIRED COMPONENTS cuda)")
    (tmp_path / "CMakeLists.txt").write_text(text)
    shutil.copy(EXAMPLES / "cpp/main.cc", tmp_path)
    done = subprocess.run(
        ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True
    )
    assert done.returncode != 0 and "the component 'cuda' is not installed" in " ".join(done.stderr.split())


@pytest.mark.parametrize("name", ["libroundhouse", "libonnxruntime"])
def test_pkg_config(prefix, model_folder, tmp_path, name):
    variables = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = run(["pkg-config", "--cflags", "--libs", name], tmp_path, **variables).split()
    run(["cc", EXAMPLES / "c/main.c", "-o", "classify", *flags], tmp_path)
    assert run([tmp_path / "classify"], model_folder, LD_LIBRARY_PATH=str(prefix / "lib")) == "10 scores\n"


def test_inside_another_build(tmp_path):
    """The parent's flags and settings are as they were without it."""
    source = tmp_path / "source"
    source.mkdir()
    text = (EXAMPLES / "embedded/CMakeLists.txt").read_text().replace("../cpp/main.cc", str(EXAMPLES / "cpp/main.cc"))
    look = "".join(f'message(STATUS "seen {name}=${{{name}}}")\n' for name in SETTINGS)
    look += 'get_directory_property(seen COMPILE_OPTIONS)\nmessage(STATUS "seen ${seen}")\n'
    before, after = text.split("add_subdirectory(")[0], "add_subdirectory(" + text.split("add_subdirectory(")[1]
    (source / "CMakeLists.txt").write_text(before + look + after + look)
    said = run(["cmake", "-G", "Ninja", "-S", source, "-B", tmp_path / "build", f"-DROUNDHOUSE_SOURCE={ROOT}"], tmp_path)
    seen = [line for line in said.splitlines() if "seen " in line]
    assert len(seen) == 14 and seen[:7] == seen[7:]
    cache = (tmp_path / "build/CMakeCache.txt").read_text()
    assert "CMAKE_BUILD_TYPE:STRING=\n" in cache and "RH_BUILD_TESTS:BOOL=OFF" in cache
    plan = run(["ninja", "-C", tmp_path / "build", "-t", "commands", "classify"], tmp_path)
    kernels = [line for line in plan.splitlines() if "rh_compute.dir" in line and " -c " in line]
    assert kernels and all(" -O2 " in line for line in kernels)  # optimised although the parent has no build type
    assert all(" -Wall " not in line for line in plan.splitlines() if "classify.dir" in line)


@pytest.mark.parametrize("example, language", [("cpp/main.cc", "cpp"), ("python/classify.py", "python")])
def test_the_readme_shows_the_examples(example, language):
    assert f"```{language}\n{(EXAMPLES / example).read_text()}```" in (ROOT / "README.md").read_text()


def test_the_python_example(model_folder):
    assert run([sys.executable, EXAMPLES / "python/classify.py"], model_folder).startswith("(1, 10) ")
