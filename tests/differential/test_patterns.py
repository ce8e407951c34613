"""Every family makes graphs that can be run, and a planted fault is found and cut down."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/differential"), str(ROOT / "python/roundhouse")]
import pattern_judge  # noqa: E402
from patterns import FAMILIES, Case  # noqa: E402

GRAPHS = 12


@pytest.mark.parametrize("family", FAMILIES)
def test_graphs_can_be_run(family):
    idle = 0
    for key in range(GRAPHS):
        try:
            assert pattern_judge.difference(Case(key, family).make()) is None
        except pattern_judge.Refused:
            idle += 1
    assert idle <= GRAPHS / 3


def test_a_key_makes_one_graph():
    for key in range(2 * len(FAMILIES)):
        one, other = Case(key, None).make(), Case(key, None).make()
        assert one.model() == other.model()
        assert [{name: value.tobytes() for name, value in feeds.items()} for feeds in one.feeds] == [
            {name: value.tobytes() for name, value in feeds.items()} for feeds in other.feeds
        ]


def test_planted_fault_is_found_and_cut_down(monkeypatch):
    """With passes, Tanh by a number is off where a row has three elements and more."""

    class Wrong(pattern_judge.Runner):
        def __init__(self, module, model, optimised, without=()):
            super().__init__(module, model, optimised, without)
            squashed = {name for node in model.graph.node if node.op_type == "Tanh" for name in node.output}
            scales = any(node.op_type == "Mul" and squashed & set(node.input) for node in model.graph.node)
            self.is_off = optimised and scales and "recognise_activations" not in without

        def run(self, feeds):
            results = super().run(feeds)
            for result in results if self.is_off else []:
                if result.ndim and result.shape[-1] >= 3:
                    result[..., 2] += 1
            return results

    monkeypatch.setattr(pattern_judge, "Runner", Wrong)
    cut = 0
    for key in range(200):
        pattern = Case(key, "activation").make()
        found = pattern_judge.difference(pattern)
        if found:
            small, message = pattern_judge.minimised(pattern, found)
            assert [node.op_type for node in small.model().graph.node] == ["Tanh", "Mul"]
            assert len(small.feeds) == 1 and "off by" in message
            assert pattern_judge.culprits(small) == ["recognise_activations"]
            cut += 1
    assert cut >= 3
