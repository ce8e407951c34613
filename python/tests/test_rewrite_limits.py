"""What the passes of all lists do together: the limit of rewrites, and the numbers of the dumps."""

import onnx.parser
import pytest

import roundhouse

MODEL = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> main (float[4] x) => (float[4] y) {
  a = Sigmoid (x)
  b = Mul (x, a)
  i = Identity (b)
  y = Softmax (i)
}""").SerializeToString()


def made(**entries):
    options = roundhouse.SessionOptions()
    for name, value in entries.items():
        options.add_session_config_entry(f"roundhouse.{name}", value)
    return roundhouse.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_the_limit_holds_over_all_lists(most, tmp_path):
    rows = made(max_rewrites=str(most), dump_graphs=str(tmp_path)).placement()
    removed = sum(row["fate"] == "removed" for row in rows)
    fused = sum(len(row["fused_from"]) > 1 for row in rows) // 2
    assert removed + fused == min(most, 2)


def test_dumps_of_later_lists_go_on_with_the_numbers(tmp_path):
    made(dump_graphs=str(tmp_path))
    names = sorted(file.name for file in tmp_path.glob("*.before.txt"))
    assert [name.split("_")[0] for name in names] == [f"{number:04}" for number in range(1, len(names) + 1)]
    assert len(names) > 1 and names[-1].endswith("_recognise_activations.before.txt")
