"""The pages of providers have the options that the libraries know: scripts/generate_provider_options.py reads their rows."""

import re
import sys

import pytest
from conftest import ROOT
from hosts import FAKE, MIGRAPHX, OPENVINO, SAMPLE, dense, failure, registered, session

import roundhouse

sys.path.append(str(ROOT / "scripts"))
from generate_provider_options import Code, table  # noqa: E402

FOLDERS = {SAMPLE: "sample", FAKE: "fake_device", OPENVINO: "openvino", MIGRAPHX: "migraphx"}


@pytest.mark.parametrize("provider", FOLDERS)
def test_rows_are_the_librarys(provider):
    with registered(roundhouse, provider):
        said = failure(lambda: session(roundhouse, provider, dense(), {"zzzzzzzzzzzzzzzz": "1"}))
    listed = re.search(r"expected one of (.+)", said)[1].split(", ")
    names = []
    for row in Code(FOLDERS[provider]).rows():
        names += [name for name in (row["name"], row["onnxruntime_name"]) if name]
    assert listed == names


def test_a_table_says_what_an_option_may_be():
    rows = dict(line.removeprefix("| ").split(" | ", 1) for line in table("fake_device").splitlines()[2:])
    assert rows["`delay_us`"] == "0 to 10000000, default 0 | of each piece of work |"
    assert rows["`bodies`"].startswith("`1`, default `0` | ")
    assert rows["`fail_with`"].startswith("`memory`; default `error` | ")
    assert rows["`precision`"].startswith("`fp16`, `bf16`; default `fp32` | ")
    assert rows["`calibration`"].startswith("a file | ")
