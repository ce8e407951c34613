"""The official ONNX cases of nodes through the C interface: as many pass under Wine as on Linux, with the same bits but where C's functions
differ."""

import os
import re
import struct
import subprocess

import numpy as np
import onnx
import pytest
from conftest import ROOT, SETTINGS, wine
from onnx import numpy_helper

PASSING = ROOT / "tests/conformance/passing.txt"
#: Two libraries round the last bit of some of C's functions in their own way (sin, tanh, pow, ...).
MOST_OTHER_BITS = 0.03
#: ImageDecoder and RegexFullMatch are refused with a sentence, for the libraries behind them are not built.
REFUSED = re.compile(r"error 9: roundhouse_(images|regex)\.dll is not in '.*keep the file beside the library")


def is_tensor(port):
    return port.type.HasField("tensor_type")


def packed_inputs(names, values):
    parts = [struct.pack("<q", len(values))]
    for name, value in zip(names, values):
        proto = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))
        for part in (name.encode(), proto.SerializeToString()):
            parts += [struct.pack("<q", len(part)), part]
    return b"".join(parts)


#: The interface numbers some types in its own way.
ELEMENTS = {24: onnx.TensorProto.UINT2, 25: onnx.TensorProto.INT2, 26: onnx.TensorProto.FLOAT8E8M0}


def read_outputs(path):
    data, at = path.read_bytes(), 0

    def number():
        nonlocal at
        at += 8
        return struct.unpack_from("<q", data, at - 8)[0]

    def part(size):
        nonlocal at
        at += size
        return data[at - size : at]

    outputs = []
    for _ in range(number()):
        kind, shape = number(), [number() for _ in range(number())]
        kind = ELEMENTS.get(kind, kind)
        if kind == onnx.TensorProto.STRING:
            outputs.append(np.array([part(number()).decode() for _ in range(int(np.prod(shape)))], object).reshape(shape))
        else:
            raw = onnx.TensorProto(data_type=kind, dims=shape, raw_data=part(number()))
            outputs.append(numpy_helper.to_array(raw))
    return outputs


@pytest.fixture(scope="session")
def cases(tmp_path_factory):
    """Those that pass on Linux, with tensors alone: each model, its inputs and what is expected, in a folder of their own."""
    from backend_cases.cases import collect

    folder, passing, found = tmp_path_factory.mktemp("cases"), set(PASSING.read_text().split()), {}
    for case in collect("^node/"):
        if case.key not in passing or not all(map(is_tensor, [*case.model.graph.input, *case.model.graph.output])):
            continue
        for i, (inputs, expected) in enumerate(case.data()):
            if any(value is None for value in inputs):
                continue
            name = f"{case.key.removeprefix('node/')}_{i}"
            (folder / f"{name}.onnx").write_bytes(case.model.SerializeToString())
            (folder / f"{name}.in").write_bytes(packed_inputs(case.input_names(len(inputs)), inputs))
            found[name] = (case, expected)
    return folder, found


def ran(command, folder, names, end):
    listed = folder / f"list{end}"
    listed.write_text("".join(f"{name}.onnx {name}.in {name}{end}\n" for name in names))
    return command(listed.name)


@pytest.fixture(scope="session")
def outputs(programs, cases):
    """What each system gave of each case, and what it said where it gave nothing."""
    folder, found = cases
    for_linux, for_windows = programs.linux("cases.c"), programs.windows("cases.c", "roundhouse")
    environment = {**os.environ, **SETTINGS}

    def on_linux(listed):
        return subprocess.run([for_linux, listed], cwd=folder, capture_output=True, text=True, env=environment, timeout=600)

    def on_windows(listed):
        return wine(for_windows, listed, cwd=folder, timeout=600)

    given = {}
    for system, command in (("linux", on_linux), ("windows", on_windows)):
        done = ran(command, folder, found, f".{system}")
        assert done.returncode == 0, done.stderr
        given[system] = dict(line.partition(".onnx ")[::2] for line in done.stdout.splitlines())
        assert given[system].keys() == found.keys()
    return given


def verdict(folder, name, case, expected, system):
    from backend_cases.cases import to_value
    from backend_cases.compare import Mismatch, compare

    try:
        for wanted, actual in zip(expected, read_outputs(folder / f"{name}.{system}"), strict=True):
            compare(to_value(wanted), actual, case.rtol, case.atol)
    except Mismatch as difference:
        return str(difference)
    return ""


def test_as_many_pass_as_on_linux(cases, outputs):
    folder, found = cases
    assert len(found) > 1000
    failed = {}
    for name, (case, expected) in found.items():
        said = {system: outputs[system][name] for system in outputs}
        if said["windows"] != "ran":
            failed[name] = said["windows"] if said["linux"] == "ran" else ""
        elif problem := verdict(folder, name, case, expected, "windows"):
            failed[name] = problem
    refused = [name for name, problem in failed.items() if REFUSED.match(problem)]
    assert len(refused) == 12
    assert {name: problem for name, problem in failed.items() if problem and name not in refused} == {}


def test_most_have_the_bits_that_they_have_on_linux(cases, outputs, record_property):
    folder, found = cases
    ran_both = [name for name in found if {outputs[system][name] for system in outputs} == {"ran"}]
    other = [name for name in ran_both if (folder / f"{name}.linux").read_bytes() != (folder / f"{name}.windows").read_bytes()]
    print(f"{len(ran_both)} cases, of other bits: {' '.join(sorted(other)) or 'none'}")
    record_property("other_bits", " ".join(sorted(other)))
    assert len(other) <= MOST_OTHER_BITS * len(ran_both)
