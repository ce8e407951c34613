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
