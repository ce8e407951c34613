"""The conformance kit for provider authors: it passes providers that are right, and says what is wrong with others."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(roundhouse.__file__).parents[2] / "lib"))


def check(library, *arguments):
    """Exit code, and the results by name."""
    path = LIBRARIES / f"roundhouse_provider_{library}.so"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    command = [sys.executable, "-m", "roundhouse.check_provider", str(path), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    report = json.loads(done.stdout) if done.stdout.startswith("{") else {"checks": [], "error": done.stderr}
    return done.returncode, {entry["name"]: entry for entry in report["checks"]}, report


@pytest.mark.parametrize("library", ["example", "fake_device"])
def test_providers_of_ours_pass(library):
    code, results, report = check(library)
    failed = [entry for entry in results.values() if entry["status"] == "fail"]
    assert (code, failed) == (0, [])
    assert all(entry["detail"] for entry in results.values() if entry["status"] == "skip")
    assert results["operators/Relu"]["status"] == "pass"
    for name in ("copies/divided_with_the_cpu", "life/sessions_made_and_dropped_100_times", "concurrency/one_session_in_four_threads"):
        assert results[name]["status"] == "pass"
    if library == "fake_device":
        assert not [n for n, e in results.items() if e["status"] == "skip" and not n.startswith("operators/")]
    else:
        assert "memory of the host" in results["binding/bound_on_the_device_without_copies"]["detail"]
    assert report["counts"]["pass"] == sum(e["status"] == "pass" for e in results.values())


def test_every_operator_case_runs_on_a_device_that_takes_all():
    code, results, _ = check("fake_device", "--option", "claim=1:100", "--only", "operators/*")
    assert code == 0
    assert {entry["status"] for entry in results.values()} == {"pass"}
    assert len(results) > 90


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("result", "output 0 at (1, 2, 1) is 1.8881"),
        ("run", "failure injected at run"),
        ("kernel", "failure injected at kernel"),
        ("crash", "the process died of SIGABRT"),
        ("hang", "it did not end in 5 s"),
    ],
)
def test_what_is_wrong_is_told(fault, says):
    code, results, _ = check(
        "fake_device", "--option", f"fail={fault}", "--only", "operators/Tanh", "--only", "operators/Gemm", "--timeout", "5"
    )
    assert code == 1
    assert results["operators/Tanh"]["status"] == "fail"
    assert says in results["operators/Tanh"]["detail"]
    assert results["operators/Gemm"]["status"] == "skip"  # which is not taken: the checks go on
    assert "not taken" in results["operators/Gemm"]["detail"]


def test_skip_lists(tmp_path):
    skips = tmp_path / "skips.txt"
    skips.write_text("# known\noperators/T*: results are off by one\noperators/Gemm: not ours\n")
    arguments = ["--only", "operators/Tanh", "--only", "operators/Gemm", "--skip", str(skips)]
    code, results, _ = check("fake_device", "--option", "fail=result", *arguments)
    assert code == 0
    assert results["operators/Tanh"]["detail"] == "skip list: results are off by one"
    code, results, _ = check("fake_device", *arguments)
    assert code == 1
    assert "take it out" in results["operators/Tanh"]["detail"]
    skips.write_text("operators/Tanh\n")
    code, _, report = check("fake_device", *arguments)
    assert code == 2
    assert "gives no reason" in report["error"]


def test_libraries_that_are_none(tmp_path):
    wrong = tmp_path / "wrong.so"
    wrong.write_text("text")
    done = subprocess.run([sys.executable, "-m", "roundhouse.check_provider", str(wrong)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "fail  load/the library  provider library 'checked' does not load" in done.stdout
