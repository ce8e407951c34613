#!/usr/bin/env python3
"""materialize.py OUT_DIR [NAME...]: fills the weights of the stripped graphs in tests/data/models.

A stripped graph (NAME.graph.onnx.xz) is a real exported graph whose large float weights were replaced by their mean, deviation and range,
kept in the tensor's doc_string as "stripped:mean,std,low,high,dtype". Each weight is drawn from a normal distribution seeded by the
tensor's name, so that every machine gets the same model.
"""

import hashlib
import lzma
import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

STRIPPED = pathlib.Path(__file__).resolve().parent.parent / "data" / "models"
SUFFIX = ".graph.onnx.xz"
MARK = "stripped:"


def fill_tensor(tensor):
    if not tensor.doc_string.startswith(MARK):
        return
    mean, std, low, high, dtype = tensor.doc_string.removeprefix(MARK).split(",")
    seed = int.from_bytes(hashlib.sha256(tensor.name.encode()).digest()[:8], "little")
    nibbles = dtype == "nibbles"  # two 4-bit weights in each byte
    dims = [2, *tensor.dims] if nibbles else list(tensor.dims)
    values = np.random.default_rng(seed).standard_normal(dims, "f4") * np.float32(std) + np.float32(mean)
    if nibbles or np.dtype(dtype).kind in "iu":
        values = np.rint(values)
    values = np.clip(values, float(low), float(high)).astype("u1" if nibbles else dtype)
    if nibbles:
        values = values[0] | values[1] << 4
    name = tensor.name
    tensor.CopyFrom(numpy_helper.from_array(values, name))


def fill_nodes(nodes):
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                fill_tensor(attribute.t)
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                fill_graph(graph)


def fill_graph(graph):
    for tensor in graph.initializer:
        fill_tensor(tensor)
    fill_nodes(graph.node)


def materialize(name, directory):
    """The path of the filled model; a model that is there already is left as it is."""
    path = pathlib.Path(directory) / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        model = onnx.load_from_string(lzma.open(STRIPPED / f"{name}{SUFFIX}").read())
        fill_graph(model.graph)
        for function in model.functions:
            fill_nodes(function.node)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        onnx.save(model, partial)
        partial.rename(path)
    return path


def names():
    return sorted(p.name.removesuffix(SUFFIX) for p in STRIPPED.glob(f"*{SUFFIX}"))


if __name__ == "__main__":
    for model_name in sys.argv[2:] or names():
        model_path = materialize(model_name, sys.argv[1])
        print(model_path, f"{model_path.stat().st_size / 1e6:.1f} MB", flush=True)
