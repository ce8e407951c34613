"""The suite for all vendors (tests/vendors) takes providers on the kit by their names: parts of it here, whole by hand or in far stages."""

import json
import pathlib
import subprocess
import sys

import pytest
from hosts import FAKE, SAMPLE

SUITE = pathlib.Path(__file__).resolve().parents[1] / "vendors"
CASES = "node/test_(add|mul|if|loop1|matmul|reshape|slice|sequence_map_add_2|attention_4d_causal_fp16_exp)"


def counts_of(script, provider, host, folder, *more):
    counts = folder / "counts.json"
    command = [sys.executable, str(SUITE / script), "--provider", provider, "--host", host, "--jobs", "1", "--counts", str(counts), *more]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(counts.read_text()), done.stdout


@pytest.mark.parametrize(("provider", "host", "least"), [(SAMPLE, "onnxruntime", 5), (FAKE, "roundhouse", 40)])
def test_official_cases(provider, host, least, tmp_path):
    counts, text = counts_of("cases.py", provider, host, tmp_path, "--filter", CASES, "--least", str(least))
    assert counts["failed"] == 0 and "'skipped': 1" in text


@pytest.mark.parametrize(("provider", "host"), [(FAKE, "onnxruntime"), (SAMPLE, "roundhouse")])
def test_generated_graphs(provider, host, tmp_path):
    counts, text = counts_of("generated.py", provider, host, tmp_path, "--count", "40")
    assert counts["failed"] == 0 and counts["passed"] >= 35 and "'run'" in text


VERDICTS = """
import sys
sys.path.insert(0, {suite!r})
import nodes

runtimes = nodes.Runtimes("onnxruntime", {provider!r}, None)
refused, ordinary = nodes.Node("resize", 1000008), nodes.Node("unary", 1000001)

def show(case):
    status, message = nodes.verdict(runtimes, case)
    print(status, repr(message))

show(refused)
show(ordinary)
runtimes.one.options["fail"] = "create"
show(ordinary)

def break_down(model, threads):
    raise RuntimeError("the provider is broken")

runtimes.session = break_down
show(refused)
show(ordinary)
"""


def test_what_the_host_refuses_is_told_from_what_the_provider_fails():
    """A model that the host refuses on its CPU alone is not the provider's; what fails with other words is, of that model too."""
    program = VERDICTS.format(suite=str(SUITE), provider=FAKE)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["refused", "run", "fails", "fails", "fails"], done.stdout
    assert "ShapeInferenceError" in lines[0]
    assert "fail" in lines[2] and all("the provider is broken" in line for line in lines[3:])
