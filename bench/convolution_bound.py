#!/usr/bin/env python3
"""convolution_bound.py MODEL... --rate GFLOPS: the least time of a model whose products all run at a measured rate of the micro-kernel.

Counts multiply-adds of Conv, ConvTranspose, Gemm and MatMul: plainly, and where 3x3 kernels of stride 1 take 16 products for each tile of
2x2 outputs (Winograd's F(2x2)) or 36 for 4x4 (F(4x4)). Whatever else a model does comes on top.
"""

import argparse
import math

import onnx


def products(node, shape):
    """Plain, F(2x2) and F(4x4) products of a node."""
    if node.op_type in ("Gemm", "MatMul"):
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        k = shape[node.input[0]][-2 if attributes.get("transA") else -1]
        return [math.prod(shape[node.output[0]]) * k] * 3
    x, w, y = (shape[name] for name in (node.input[0], node.input[1], node.output[0]))
    if node.op_type == "ConvTranspose":
        return [math.prod(x) * math.prod(w[1:])] * 3
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    plain = math.prod(y) * math.prod(w[1:])
    ones = all(v == 1 for name in ("strides", "dilations") for v in attributes.get(name, [1]))
    if list(w[2:]) != [3, 3] or not ones or min(w[1], w[0] // attributes.get("group", 1)) < 16:
        return [plain] * 3
    tiles = [y[0] * math.ceil(y[2] / size) * math.ceil(y[3] / size) * (size + 2) ** 2 for size in (2, 4)]
    return [plain, *(count * y[1] * w[1] for count in tiles)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rate", type=float, required=True, help="GFLOP/s of the micro-kernel: compute_bench 1 'gemm 14x'")
    options = parser.parse_args()
    print("model: GFLOP and milliseconds, plain, with F(2x2), with F(4x4)")
    for path in options.models:
        graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
        shape = {t.name: list(t.dims) for t in graph.initializer}
        for value in [*graph.input, *graph.value_info, *graph.output]:
            shape[value.name] = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
        counted = [products(n, shape) for n in graph.node if n.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul")]
        totals = [2e-9 * sum(column) for column in zip(*counted, strict=True)]
        print(path.rsplit("/", 1)[-1] + ": " + ", ".join(f"{g:.2f} GFLOP {g / options.rate * 1e3:.1f} ms" for g in totals))


if __name__ == "__main__":
    main()
