"""`explain`: who would run each node, and why not another provider."""

import json
import os

import numpy as np
import pytest
from command import BINARY, answer, constant, roundhouse, value, write_model, write_network
from onnx import TensorProto, helper

LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "lib")
FAKE = "FakeDeviceExecutionProvider"
PLUGIN = ["--plugin", os.path.join(LIBRARIES, "roundhouse_provider_fake_device.so")]
COMPILE = ["--config", "ep.fakedeviceexecutionprovider.kind=regions"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain")
    write_network(path / "network.onnx")
    node = helper.make_node
    then = helper.make_graph([node("Neg", ["r"], ["t"], "negate")], "then", [], [value("t", [4])])
    other = helper.make_graph([node("Exp", ["r"], ["e"], "grow")], "other", [], [value("e", [4])])
    nodes = [
        node("Identity", ["x"], ["i"], "same"),
        node("Add", ["i", "w"], ["s"], "sum"),
        node("Relu", ["s"], ["r"], "clip"),
        node("If", ["c"], ["y"], "choose", then_branch=then, else_branch=other),
    ]
    write_model(
        path / "branches.onnx",
        nodes,
        [value("x", [4]), value("c", [], TensorProto.BOOL)],
        [value("y", [4])],
        [constant("w", np.ones(4, "f4"))],
        opset=14,
    )
    unknown = [node("Relu", ["x"], ["y"], "clip"), node("Mystery", ["y"], ["z"], "riddle", domain="elsewhere")]
    graph = helper.make_graph(unknown, "graph", [value("x", [4])], [value("z", [4])])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("elsewhere", 1)]
    (path / "unknown.onnx").write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString())
    return path


def rows(report):
    return {node["node"]: node for node in report["nodes"]}


def test_one_provider(folder):
    report = answer("explain", "network.onnx", cwd=folder)
    counts = report["counts"]
    assert report["providers"] == ["CPUExecutionProvider"] and counts["nodes"] == 24
    assert counts["providers"]["CPUExecutionProvider"] + counts["removed"] == 24
    fused = [node for node in report["nodes"] if node["fused_from"]]
    assert fused and all(node["node"] in node["fused_from"] and node["fate"] == "runs" for node in fused)
    text = roundhouse("explain", "network.onnx", "--nodes", cwd=folder).stdout
    assert text.startswith("network.onnx: 24 nodes\n") and "CPUExecutionProvider" in text and "classifier" in text


def test_variants(folder):
    """Each node says in which way it computes, where the kernels are made: for `--variants`, and for a run."""
    assert "variant" not in rows(answer("explain", "network.onnx", cwd=folder))["conv1"]
    for option in ("--variants", "--run"):
        nodes = rows(answer("explain", "network.onnx", option, cwd=folder))
        assert nodes["conv1"]["variant"] and nodes["query"]["variant"], option
        assert nodes["pool3"]["variant"] == "", option
    way = nodes["query"]["variant"]
    assert f"({way})" in roundhouse("explain", "network.onnx", "--variants", "--nodes", cwd=folder).stdout
    assert way in roundhouse("explain", "network.onnx", "--variants", "--node", "query", cwd=folder).stdout
    assert "variant" not in rows(answer("explain", "unknown.onnx", "--variants", cwd=folder, code=3))["riddle"]


PRECISIONS = [
    ([], "fp32"),
    (["--precision", "fast"], "fast"),
    (["--config", "session.use_deterministic_compute=1"], "strict"),
    (["--config", "session.use_deterministic_compute=1", "--precision", "bf16"], "bf16"),
]


@pytest.mark.parametrize(("options", "precision"), PRECISIONS, ids=[row[1] for row in PRECISIONS])
def test_precision(options, precision, folder):
    assert answer("explain", "network.onnx", *options, cwd=folder)["precision"] == precision
    text = roundhouse("explain", "network.onnx", *options, cwd=folder).stdout
    assert text.startswith("network.onnx: 24 nodes" + ("\n" if precision == "fp32" else f", precision {precision}\n"))


@pytest.mark.parametrize("options", [[], COMPILE, ["--ep", f"{FAKE},CPUExecutionProvider"]], ids=["kernels", "units", "named"])
def test_two_providers(options, folder):
    report = answer("explain", "branches.onnx", *PLUGIN, *options, cwd=folder)
    assert report["providers"] == [FAKE, "CPUExecutionProvider"]
    assert report["counts"] == {"nodes": 6, "providers": {FAKE: 3, "CPUExecutionProvider": 2}, "removed": 1, "divided": 0, "unassigned": 0}
    nodes = rows(report)
    assert {name for name, node in nodes.items() if node["provider"] == FAKE} == {"sum", "clip", "negate"}
    assert (nodes["same"]["fate"], nodes["same"]["pass"]) == ("removed", "eliminate_identities")
    assert [(r["provider"], r["code"]) for r in nodes["choose"]["refusals"]] == [(FAKE, "op")]
    assert "Exp(14)" in nodes["grow"]["refusals"][0]["reason"]
    assert bool(nodes["sum"]["unit"]) == (options == COMPILE)
    assert {copy["value"] for copy in report["copies"]} == {"r", "t"} and all(copy["cause"] for copy in report["copies"])
    text = roundhouse("explain", "branches.onnx", *PLUGIN, *options, cwd=folder).stdout
    assert "not on" in text and "copied value" in text and "eliminate_identities 1" in text


def test_a_session_places_nodes_the_same(folder):
    """What `explain` says of a model is what `run` does with it."""
    ran = answer("profile", "branches.onnx", *PLUGIN, "--input", "c=true.npy", "-n", "1", cwd=write_flag(folder))
    expected = {node["node"]: node["provider"] for node in answer("explain", "branches.onnx", *PLUGIN, cwd=folder)["nodes"]}
    for node in ran["nodes"]:
        for original in node["originals"]:
            assert expected[original["name"]] == node["provider"], node


def write_flag(folder):
    np.save(folder / "true.npy", np.array(True))
    return folder


def test_one_node(folder):
    done = roundhouse("explain", "branches.onnx", *PLUGIN, "--node", "grow", cwd=folder)
    for part in ("grow", "Exp(14)", "CPUExecutionProvider", "else_branch of 'choose'", FAKE, "(op)", "tensor(float)[4]"):
        assert part in done.stdout, part
    [node] = answer("explain", "branches.onnx", "--node", "sum", cwd=folder)["nodes"]
    assert node["op_type"] == "Add" and len(node["graph"]["inputs"]) == 2
    wrong = roundhouse("explain", "branches.onnx", "--node", "grew", cwd=folder)
    assert wrong.returncode == 1 and "the nearest is 'grow'" in wrong.stderr


def test_nodes_that_nobody_takes(folder):
    report = answer("explain", "unknown.onnx", cwd=folder, code=3)
    assert report["counts"]["unassigned"] == 1
    riddle = rows(report)["riddle"]
    assert (riddle["fate"], riddle["provider"], riddle["domain"]) == ("unassigned", "", "elsewhere")
    assert riddle["refusals"][0]["code"] == "op" and riddle["reason"] == "no execution provider takes it"
    done = roundhouse("explain", "unknown.onnx", cwd=folder)
    assert done.returncode == 3 and "(unassigned)" in done.stdout and "elsewhere::Mystery" in done.stdout


# Arguments that are refused, and what the message has.
REFUSED = [
    (["--provider", "NoSuch"], "NoSuch"),
    (["--plugin", "nowhere.so"], "nowhere.so"),
    (["--html", "no/such/folder.html"], "no/such/folder.html"),
    (["--profile", "none.json"], "there is no such file"),
    (["--profile", "other.json"], "is no trace"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_refused(arguments, words, folder):
    (folder / "other.json").write_text(json.dumps({"traceEvents": [{"name": "x"}]}))
    done = roundhouse("explain", "network.onnx", *arguments, cwd=folder)
    assert done.returncode == 1 and words in done.stderr and done.stdout == ""
