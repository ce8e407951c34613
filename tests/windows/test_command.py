"""roundhouse.exe under Wine: what it prints, what it gives, its exit codes."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from conftest import LIBRARIES, ROOT, SETTINGS, windows_path, wine

MODELS = ["mobilenetv3_large_100", "lstm_tagger", "distilbert", "bert_base_int8_dynamic", "convnext_tiny"]


def roundhouse(*words, cwd=None, **variables):
    return wine(LIBRARIES / "roundhouse.exe", *words, cwd=cwd, **variables)


def answer(*words, cwd=None):
    done = roundhouse(*words, "--json", cwd=cwd)
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


@pytest.fixture(scope="session", params=os.environ.get("RH_WINDOWS_MODELS", " ".join(MODELS)).split())
def path(request):
    from materialize import materialize

    return materialize(request.param, ROOT / "build/models")


def arrays(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_run_gives_what_the_command_for_linux_gives(path, tmp_path):
    from model_inputs import sample_inputs

    words = ("--threads", "1", "--save")
    inputs = tmp_path / "inputs.npz"  # those that the command makes up are of the C++ library's distributions, which differ
    np.savez(inputs, **sample_inputs(path))
    report = answer("run", windows_path(path), "--input", windows_path(inputs), *words, windows_path(tmp_path / "windows"))
    linux = [ROOT / "build/release/bin/roundhouse", "run", path, "--input", inputs, *words, tmp_path / "linux"]
    subprocess.run(linux, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **SETTINGS})
    assert report["outputs"] and arrays(tmp_path / "windows") == arrays(tmp_path / "linux") != {}


def test_explain(path):
    report = answer("explain", windows_path(path))
    assert {"CPUExecutionProvider"} == {node["provider"] for node in report["nodes"]} - {""}  # "": what hands on, such as Loop's body


def test_bench(path):
    report = answer("bench", windows_path(path), "--threads", "1", "--seconds", "0.2")
    assert report["load_ms"] > 0 and report["first_run_ms"] > 0


def test_help_and_version():
    done = roundhouse("--version")
    assert done.returncode == 0 and done.stdout.strip()
    assert "bench" in roundhouse("--help").stdout


def test_a_file_that_is_not_there(tmp_path):
    done = roundhouse("run", "nobody.onnx", cwd=tmp_path)
    assert done.returncode != 0 and "cannot open 'nobody.onnx': File doesn't exist" in done.stderr


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "wrong.onnx").write_bytes(b"\x08\x09nothing")
    done = roundhouse("run", "wrong.onnx", cwd=tmp_path)
    assert done.returncode != 0 and "wrong.onnx" in done.stderr


def test_a_folder_in_the_place_of_a_model(tmp_path):
    done = roundhouse("run", windows_path(tmp_path))
    assert done.returncode != 0 and "it is a folder, expected a regular file" in done.stderr


def test_names_beyond_ascii_and_long_paths(model, tmp_path):
    folder = tmp_path.joinpath(*["großer ordner " + "ж" * 60] * 3)
    folder.mkdir(parents=True)
    copy = folder / "モデル.onnx"
    copy.write_bytes(pathlib.Path(model).read_bytes())
    assert len(str(copy)) > 260
    assert answer("run", windows_path(copy))["outputs"]


def test_what_is_refused():
    done = roundhouse("check-provider", "none.dll")
    assert done.returncode != 0 and done.stderr
