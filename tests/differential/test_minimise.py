"""A planted fault: its cases are found, and cut down to what shows it."""

import sys
from pathlib import Path

import numpy as np
import onnx

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "python/roundhouse"))
from backend_cases.runtime import Runtime  # noqa: E402
from judge import verdict  # noqa: E402
from minimise import minimise, minimised  # noqa: E402
from recipe import Recipe  # noqa: E402
from recipes import RECIPES  # noqa: E402


class Faulty(Runtime):
    """Roundhouse, whose LeakyRelu forgets the second column of rows of three and more where it is below -1."""

    def run(self, session, model, feeds, buffers=None):
        (y,) = super().run(session, model, feeds)
        (x,) = feeds.values() if feeds else [onnx.numpy_helper.to_array(model.graph.initializer[0])]
        if x.ndim and x.shape[-1] >= 3:
            y[..., 1] = np.where(x[..., 1] < -1, 0, y[..., 1])
        return [y]


def failing_cases(runtime):
    row = next(row for row in RECIPES if row.op == "LeakyRelu")
    cases = (Recipe(row, seed) for seed in range(200))
    return [case for case in cases if case.number == onnx.TensorProto.FLOAT and verdict(runtime, case)[0] == "disagreement"]


def test_planted_fault_is_found_and_cut_down():
    runtime = Faulty("roundhouse", 1)
    cases = failing_cases(runtime)
    assert len(cases) >= 3
    for case in cases:
        small = minimised(case, runtime)
        (x,) = small.feeds.values()
        assert x.size == 3, x.shape
        assert np.count_nonzero(x) == 1
        assert x.reshape(-1)[1] < -1


def test_the_text_is_a_model_that_fails_alike():
    runtime = Faulty("roundhouse", 1)
    case = failing_cases(runtime)[0]
    status, text = minimise(runtime, case)
    assert status == "minimised"
    model = onnx.parser.parse_model(text[text.index("<") :])
    right = Runtime("roundhouse", 1)
    assert [node.op_type for node in model.graph.node] == ["LeakyRelu"]
    wrong = runtime.run(runtime.load(model), model, {})
    assert not np.allclose(wrong, right.run(right.load(model), model, {}))


def test_what_does_not_fail_is_no_case():
    runtime = Runtime("roundhouse", 1)
    assert not failing_cases(runtime)
