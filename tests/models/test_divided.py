"""Models divided at random between the CPU and a device with memory of its own: the same results, and no copy that is not needed.

ROUNDHOUSE_DIVIDE=all takes every model of build/models, 20 times each; a name takes that one.
"""

import os
import pathlib
import time

import numpy as np
import onnx
import pytest
from common import BUILD, TOLERANCE, model_path, sample_inputs

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", BUILD / "release" / "lib"))
FAKE = "FakeDeviceExecutionProvider"
ROUNDS = 20
SMALL = {"mobilenetv3_large_100": ROUNDS, "lstm_tagger": ROUNDS, "llama_tiny": 4}


def models():
    chosen = os.environ.get("ROUNDHOUSE_DIVIDE")
    if chosen == "all":
        return [(path.stem, ROUNDS) for path in sorted((BUILD / "models").glob("*.onnx"))]
    return [(chosen, ROUNDS)] if chosen else list(SMALL.items())


@pytest.fixture(scope="module")
def device():
    path = LIBRARIES / "roundhouse_provider_fake_device.so"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    roundhouse.register_execution_provider_library("fake", str(path))
    (found,) = [d for d in roundhouse.get_ep_devices() if d.ep_name == FAKE]
    yield found
    roundhouse.unregister_execution_provider_library("fake")


def divided(device, path, seed):
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.add_provider_for_devices([device], {"claim": f"{seed}:{20 + seed * 37 % 70}", "delay_us": str(seed % 3 * 20)})
    return roundhouse.InferenceSession(path, options)


def node_names(graph):
    """What the placement calls the nodes: their names, or their numbers."""
    return [node.name or f"#{i}" for i, node in enumerate(graph.node)]


def least_copies(graph, placement):
    """Copies that a run from host to host cannot do without: one for each value and each memory, not its own, in which it is needed.

    `placement` says who runs a node: nobody runs those that are gone, whose values are constants. Constants cost a run nothing.
    """
    needed = {}  # value: memories
    made = {}
    for node, name in zip(graph.node, node_names(graph), strict=True):
        assert not any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in node.attribute)
        if not placement[name]:
            continue
        place = "device" if placement[name] == FAKE else "host"
        for value in node.input:
            needed.setdefault(value, set()).add(place)
        for value in node.output:
            made[value] = place
    for output in graph.output:
        needed.setdefault(output.name, set()).add("host")
    constants = {i.name for i in graph.initializer}
    for i in graph.input:
        if i.name not in constants:
            made[i.name] = "host"  # the caller's
    return sum(len(places - {made[value]}) for value, places in needed.items() if value in made)


def copies_of(session):
    statistics = session.statistics()
    return sum(statistics[name] for name in ("input_copies", "output_copies", "step_copies"))


def has_subgraphs(graph):
    return any(a.type == onnx.AttributeProto.GRAPH for node in graph.node for a in node.attribute)


@pytest.mark.parametrize(("name", "rounds"), models())
def test_any_division_gives_the_same(device, name, rounds):
    path = str(model_path(name))
    graph = onnx.load(path, load_external_data=False).graph
    feeds = sample_inputs(path)
    started = time.perf_counter()
    expected = roundhouse.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds)
    names = node_names(graph)
    claimed = []
    for seed in range(rounds):
        session = divided(device, path, seed)
        placement = {node["node"]: node["provider"] for node in session.placement()}
        claimed.append(sum(provider == FAKE for provider in placement.values()))
        for actual, wanted in zip(session.run(None, feeds), expected, strict=True):
            assert actual.shape == wanted.shape
            scale = float(np.abs(wanted).max()) if wanted.size else 0.0
            np.testing.assert_allclose(actual, wanted, rtol=0, atol=TOLERANCE * scale, err_msg=f"seed {seed}")
        if not has_subgraphs(graph):
            assert copies_of(session) == least_copies(graph, placement), f"seed {seed}"
        del session
    assert min(claimed) > 0 and len(set(claimed)) > rounds // 4
    print(f"{name}: {rounds} divisions, {min(claimed)} to {max(claimed)} of {len(names)} nodes, {time.perf_counter() - started:.1f} s")
