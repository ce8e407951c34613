"""The check of providers from Python: the same command, with the official ONNX cases."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import roundhouse
from roundhouse import _command

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(roundhouse.__file__).parents[2] / "lib"))


def test_the_package_has_the_command():
    done = subprocess.run(
        [sys.executable, "-c", "from roundhouse._command import main; main()", "--version"], capture_output=True, text=True
    )
    assert done.stdout.startswith("roundhouse ") and os.access(_command.binary(), os.X_OK)


def check(*arguments):
    library = LIBRARIES / "roundhouse_provider_fake_device.so"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    command = [sys.executable, "-m", "roundhouse.check_provider", str(library), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    return done.returncode, {entry["name"]: entry for entry in report["checks"]}, report["counts"]


def test_official_cases_run_on_the_provider():
    code, results, counts = check("--only", "onnx/node/test_relu*", "--only", "onnx/node/test_add*", "--only", "onnx/node/test_gemm_d*")
    assert code == 0
    assert results["onnx/node/test_relu"] == {"name": "onnx/node/test_relu", "status": "pass", "detail": "1 nodes"}
    gemm = results["onnx/node/test_gemm_default_no_bias"]
    assert (gemm["status"], gemm["detail"]) == ("skip", "not taken")
    assert 2 <= counts["onnx_cases_taken"] < counts["onnx_cases"] == sum(name.startswith("onnx/") for name in results)


def test_all_official_cases_on_a_device_that_takes_all():
    code, results, counts = check("--option", "claim=1:100", "--only", "onnx/*")
    assert {name: entry["detail"] for name, entry in results.items() if entry["status"] == "fail"} == {}
    assert code == 0 and counts["onnx_cases_taken"] > 1600
    assert {results[f"onnx/node/test_{name}"]["detail"] for name in ("bernoulli", "bernoulli_double_expanded")} == {
        "its results are random"
    }


def test_nodes_of_unknown_rank_are_not_taken_for_scalars():
    code, results, _ = check("--only", "onnx/node/test_affine_grid_2d*expanded")
    assert code == 0 and len(results) == 3


def test_official_cases_that_fail_are_told(tmp_path):
    skips = tmp_path / "skips.txt"
    skips.write_text("onnx/node/test_sigmoid: one too much\n")
    only = ["--only", "onnx/node/test_tanh", "--only", "onnx/node/test_sigmoid"]
    code, results, _ = check("--option", "fail=result", *only, "--skip", str(skips))
    assert code == 3
    assert results["onnx/node/test_tanh"]["status"] == "fail" and "values differ" in results["onnx/node/test_tanh"]["detail"]
    assert results["onnx/node/test_sigmoid"]["detail"] == "skip list: one too much"


def test_official_cases_that_crash_are_told():
    code, results, _ = check("--option", "fail=crash", "--only", "onnx/node/test_tanh*")
    assert code == 3 and "crash: SIGABRT" in results["onnx/node/test_tanh"]["detail"]
    assert "crash: SIGABRT" in results["onnx/node/test_tanh_example"]["detail"]
