"""The steps of the Dockerfile, without Docker: the same commands in a copy of a root file system, without a network."""

import json
import re
import shutil

import onnx
import pytest
from onnx import TensorProto, helper
from support import ROOT, WHEELS, numpy_wheel, root_file_system, run

DOCKERFILE = ROOT / "examples/container/Dockerfile"


def steps():
    lines = [line for line in DOCKERFILE.read_text().splitlines() if line and not line.startswith("#")]
    return [line.split(" ", 1) for line in lines]


def inside(*command):
    return run([ROOT / "scripts/root", "container", "--", *command])


@pytest.fixture(scope="module")
def container():
    """Of the system that FROM names. COPY copies the wheels under test from where scripts/wheel puts them."""
    [suite] = [re.match(r"debian:(\w+)-slim", argument)[1] for step, argument in steps() if step == "FROM"]
    system, folder = root_file_system(suite), ROOT / "build/roots/container"
    run(["rm", "-rf", folder])
    run(["cp", "-a", system, folder])
    shutil.rmtree(folder / "work", ignore_errors=True)
    user = None
    for step, argument in steps():
        if step == "COPY":
            source, target = argument.split()
            source = WHEELS if source == "build/wheels/" else ROOT / source
            copy = shutil.copytree if source.is_dir() else shutil.copy
            target = folder / target.strip("/")
            shutil.rmtree(target, ignore_errors=True)
            copy(source, target)
            if source == WHEELS:
                numpy_wheel("3.13", target)
        elif step == "RUN" and argument.startswith("apt-get"):
            wanted = re.search(r"--no-install-recommends ([^&]+) &&", argument)[1].split()
            inside("dpkg", "--status", *wanted)  # they are part of the root file system
        elif step == "RUN":
            assert user is None  # what is set up belongs to root
            inside("env", "PIP_NO_INDEX=1", "sh", "-c", argument)
        elif step == "USER":
            user = argument
        elif step == "WORKDIR":
            (folder / argument.strip("/")).mkdir(parents=True, exist_ok=True)
    [entry] = [json.loads(argument) for step, argument in steps() if step == "ENTRYPOINT"]
    return folder, user, entry


def test_the_example_runs_a_model(container):
    folder, user, entry = container
    nodes = [helper.make_node("GlobalAveragePool", ["image"], ["mean"]), helper.make_node("Flatten", ["mean"], ["scores"])]
    values = [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])]
    values += [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 3])]
    graph = helper.make_graph(nodes, "classify", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "models/model.onnx")
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
    said = inside("sh", "-c", 'cd /models && exec "$@"', "sh", *as_user, *entry).stdout
    assert said.startswith("(1, 3) ")


def test_it_is_no_root_and_cannot_change_the_package(container):
    folder, user, entry = container
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    assert inside(*as_user, "id", "-u").stdout.strip() != "0"
    said = inside(*as_user, "sh", "-c", "touch /app/x 2>/dev/null || echo refused").stdout
    assert said == "refused\n" and not (folder / "wheels").exists()
