"""Every operator has a recipe."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/differential"), str(ROOT / "python/roundhouse")]
from contrib_recipes import CONTRIB_RECIPES  # noqa: E402

# Of these ONNX Runtime has no kernel on the CPU.
OURS_ALONE = {"FusedMatMulActivation", "Irfft", "Rfft"}


def test_every_operator_of_com_microsoft_is_generated():
    ours = set(re.findall(r'"com\.microsoft:(\w+)"', (ROOT / "src/ops/op_list.inc").read_text()))
    assert len(ours) >= 72
    assert {row.op for row in CONTRIB_RECIPES} == ours - OURS_ALONE
