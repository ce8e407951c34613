"""`check-provider`: it passes providers that are right, and says what is wrong with others."""

import json
import os
import re

import pytest
from command import BINARY, roundhouse

LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "lib")


def check(library, *arguments, **variables):
    """Exit code, results by name, and the whole report."""
    path = os.path.join(LIBRARIES, f"roundhouse_provider_{library}.so")
    done = roundhouse("check-provider", path, "--json", *arguments, env=variables)
    report = json.loads(done.stdout) if done.stdout else {"checks": [], "error": done.stderr}
    return done.returncode, {entry["name"]: entry for entry in report["checks"]}, report


def failures(results):
    return {name: entry["detail"] for name, entry in results.items() if entry["status"] == "fail"}


@pytest.mark.parametrize("library", ["example", "fake_device"])
def test_providers_of_ours_pass(library):
    code, results, report = check(library)
    assert (code, failures(results)) == (0, {})
    assert all(entry["detail"] for entry in results.values() if entry["status"] == "skip")
    assert results["operators/Relu"]["status"] == "pass"
    for name in ("copies/divided_with_the_cpu", "life/sessions_made_and_dropped_100_times", "concurrency/one_session_in_four_threads"):
        assert results[name]["status"] == "pass"
    if library == "fake_device":
        assert not [n for n, e in results.items() if e["status"] == "skip" and not n.startswith("operators/")]
    else:
        assert "memory of the host" in results["binding/bound_on_the_device_without_copies"]["detail"]
    counts = report["counts"]
    assert counts["pass"] == sum(e["status"] == "pass" for e in results.values())
    assert counts["operator_cases_taken"] == (8 if library == "example" else 12)  # HardSwish by its body


def test_every_operator_case_runs_on_a_device_that_takes_all():
    code, results, _ = check("fake_device", "--option", "claim=1:100", "--only", "operators/*")
    assert code == 0
    assert {entry["status"] for entry in results.values()} == {"pass"}
    assert len(results) > 90


# What `fail` is set to, and what stands in the result of Tanh.
FAULTS = [
    ("result", r"output 0 at \(\d, \d, \d\) is -?[01]\.\d+, expected -?0\.\d+"),
    ("run", "failure injected at run"),
    ("kernel", "failure injected at kernel"),
    ("capability", "failure injected at capability"),
    ("create", "failure injected at create"),
    ("crash", "it was ended by SIGABRT"),
    ("hang", "it did not end in 3 s"),
]


@pytest.mark.parametrize(("fault", "says"), FAULTS, ids=[fault for fault, _ in FAULTS])
def test_what_runs_do_wrong_is_told(fault, says):
    only = ["--only", "operators/Tanh", "--only", "operators/Gemm"]
    code, results, _ = check("fake_device", "--option", f"fail={fault}", *only, "--timeout", "3")
    assert code == 3
    assert results["operators/Tanh"]["status"] == "fail"
    assert re.search(says, results["operators/Tanh"]["detail"])
    if fault not in ("capability", "create"):  # those fail every session
        assert results["operators/Gemm"]["status"] == "skip"  # which is not taken: the checks go on
        assert "not taken" in results["operators/Gemm"]["detail"]


# What is wrong with the device itself, and the checks that have to see it.
BROKEN = [
    ("copy", ["copies/values_go_there_and_back", "copies/divided_with_the_cpu", "streams/copies_on_a_stream", "operators/Sigmoid"]),
    ("wait", ["streams/copies_on_a_stream"]),
    ("memory", ["faults/more_memory_than_there_is"]),
]


@pytest.mark.parametrize(("fault", "seen"), BROKEN, ids=[fault for fault, _ in BROKEN])
def test_a_broken_device_is_told(fault, seen):
    code, results, _ = check("fake_device", "--timeout", "20", FAKE_DEVICE_FAULT=fault)
    assert code == 3
    assert set(seen) <= set(failures(results))


def test_the_text():
    path = os.path.join(LIBRARIES, "roundhouse_provider_fake_device.so")
    done = roundhouse("check-provider", path, "--option", "fail=result", "--only", "operators/*")
    lines = done.stdout.splitlines()
    assert done.returncode == 3 and done.stderr == ""
    assert lines[0] == "pass  load/the_library  FakeDeviceExecutionProvider"
    assert "skip  operators/Gemm  not taken: it has no kernel for Gemm(21)" in lines
    assert lines[-1] == "1 passed, 12 failed, 87 skipped; 0 operator cases ran on the provider"
    names = roundhouse("check-provider", "--list").stdout.split()
    assert len(names) == len(set(names)) > 100 and "faults/inputs_that_do_not_fit" in names


def test_skip_lists(tmp_path):
    skips = tmp_path / "skips.txt"
    skips.write_text("# known\noperators/T*: results are off by one\noperators/Gemm: not ours\n")
    arguments = ["--only", "operators/Tanh", "--only", "operators/Gemm", "--skip", str(skips)]
    code, results, _ = check("fake_device", "--option", "fail=result", *arguments)
    assert code == 0
    assert results["operators/Tanh"]["detail"] == "skip list: results are off by one"
    code, results, _ = check("fake_device", *arguments)
    assert code == 3
    assert "take it out" in results["operators/Tanh"]["detail"]
    skips.write_text("operators/Tanh\n")
    code, _, report = check("fake_device", *arguments)
    assert code == 1
    assert "skips.txt:1: 'operators/Tanh' gives no reason" in report["error"]
    code, _, report = check("fake_device", "--skip", str(tmp_path / "none"))
    assert code == 1 and "cannot be read" in report["error"]


def test_entries_that_skip_nothing(tmp_path):
    skips = tmp_path / "skips.txt"
    skips.write_text("operators/Gemm*: not ours\nonnx/*: run elsewhere\noperators/Matmul: misspelt\n")
    code, results, report = check("fake_device", "--skip", str(skips))
    assert code == 3
    assert failures(results) == {"the skip list": "line 3, 'operators/Matmul', names no check: take it out"}
    [unused] = report["unused_skips"]
    assert "line 1, 'operators/Gemm*'" in unused


def test_a_provider_that_takes_nothing():
    code, results, _ = check("fake_device", "--option", "claim=1:0")
    assert code == 3
    assert "nothing was checked" in failures(results)["operators"]


@pytest.mark.parametrize(("path", "says"), [("wrong.so", "provider library 'checked' does not load"), ("none.so", "there is no file")])
def test_libraries_that_are_none(tmp_path, path, says):
    (tmp_path / "wrong.so").write_text("text")
    done = roundhouse("check-provider", path, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("fail  load/the_library  ") and says in done.stdout


def test_providers_by_name():
    code, results, _ = check("example", "--ep", "NoSuchProvider")
    assert code == 3
    assert failures(results) == {"load/the_library": "the library lists no device of 'NoSuchProvider'"}


def test_a_python_without_the_suite():
    code, results, _ = check("example", "--onnx", "--python", "/bin/false", "--only", "onnx/*")
    assert code == 3
    assert "ended the process with code 1" in failures(results)["onnx/the suite"]
