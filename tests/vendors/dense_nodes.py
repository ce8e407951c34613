"""Generated nodes of layers: convolutions, pools, recurrent layers, norms, products and what is quantized."""

import numpy as np
from draws import BYTES, MICROSOFT, Drawn, Fixed


def window(d, attributes, kernel, dilated):
    """What convolutions and pools have."""
    rank = len(kernel)
    if d.chance(0.7):
        attributes["strides"] = d.numbers(1, 3, rank)
    if dilated and d.chance(0.4):
        attributes["dilations"] = d.numbers(1, 2, rank)
    if d.chance(0.3):
        attributes["auto_pad"] = d.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif d.chance(0.7):
        attributes["pads"] = [d.number(0, kernel[i % rank] - 1) for i in range(2 * rank)]
    return attributes


def pool(d):
    op = d.pick(["MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
    rank, opset = d.number(1, 3), d.pick([7, 8, 10, 11, 12, 18, 19, 22])
    x = d.floats((d.number(1, 2), d.number(1, 3), *d.shape(rank, 5, 9)))
    power = {"p": d.number(1, 3)} if "Lp" in op else {}
    if op.startswith("Global"):
        return Drawn(op, [x], power, opset=opset)
    since = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op]
    kernel = d.numbers(1, 3, rank)
    attributes = window(d, {"kernel_shape": kernel, **power}, kernel, opset >= since)
    if opset >= (18 if op == "LpPool" else 10) and d.chance(0.5):
        attributes["ceil_mode"] = 1
    if op == "AveragePool" and d.chance(0.5):
        attributes["count_include_pad"] = 1
    indices = op == "MaxPool" and opset >= 8 and d.chance(0.3)
    if indices and d.chance(0.5):
        attributes["storage_order"] = 1
    if op == "MaxPool" and opset >= 12 and d.chance(0.3):
        x = d.integers(x.shape, d.pick(BYTES))
    return Drawn(op, [x], attributes, 2 if indices else 1, opset)


def convolution(d):
    op, rank, opset = d.pick(["Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "FusedConv"]), d.number(1, 3), d.pick([10, 11, 22])
    groups = d.pick([1, 1, 2, 3])
    channels, filters, kernel = groups * d.number(1, 2), groups * d.number(1, 2), d.numbers(1, 3, rank)
    x = (d.number(1, 2), channels, *d.shape(rank, 5, 8))
    w = (channels, filters // groups) if op == "ConvTranspose" else (filters, channels // groups)
    attributes = window(d, {"group": groups}, kernel, op != "ConvTranspose")
    if d.chance(0.6):
        attributes["kernel_shape"] = kernel
    if op == "ConvTranspose" and "strides" in attributes and d.chance(0.4):
        attributes["output_padding"] = [d.number(0, stride - 1) for stride in attributes["strides"]]
    if op in ("Conv", "ConvTranspose", "FusedConv"):
        inputs = [d.floats(x), d.maybe_fixed(d.floats((*w, *kernel)))]
        if op == "FusedConv":
            kind, parameters = d.pick(
                [("Relu", []), ("Tanh", []), ("LeakyRelu", [0.3]), ("Clip", [-1.0, 1.5]), ("HardSigmoid", [0.3, 0.4])]
            )
            attributes |= {"activation": kind, **({"activation_params": parameters} if parameters else {})}
            return Drawn(op, [inputs[0], Fixed(d.floats((*w, *kernel)))], attributes, 1, 17, MICROSOFT)
        return Drawn(op, inputs + [Fixed(d.floats(filters))] * d.chance(0.5), attributes, 1, opset)
    first, second = d.pick(BYTES), d.pick(BYTES)
    x, w = d.integers(x, first, True), Fixed(d.integers((*w, *kernel), second, True))
    many = () if d.chance(0.5) else (filters,)
    if op == "ConvInteger":
        zeros = [Fixed(d.integers((), first)), Fixed(d.integers(many, second))]
        return Drawn(op, [x, w, *zeros[: d.number(0, 2)]], attributes, 1, opset)
    zero = np.zeros(many, second) if second == np.int8 else d.integers(many, second)
    inputs = [x, Fixed(np.float32(0.02)), Fixed(d.integers((), first)), w, Fixed(d.scale(many) / 2), Fixed(zero)]
    inputs += [Fixed(np.float32(0.1)), Fixed(d.integers((), first))]
    return Drawn(op, inputs + [Fixed(d.integers(filters, np.int32))] * d.chance(0.5), attributes, 1, opset)


def recurrent(d):
    op, opset, direction = d.pick(["RNN", "GRU", "LSTM"]), d.pick([7, 14, 22]), d.pick(["forward", "reverse", "bidirectional"])
    directions, gates = 2 if direction == "bidirectional" else 1, {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    length, batch, size, hidden = d.numbers(1, 4, 4)
    attributes = {"hidden_size": hidden, "direction": direction}
    batch_first = opset >= 14 and d.chance(0.2)
    if batch_first:
        attributes["layout"] = 1
    state = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    weights = [Fixed(d.floats((directions, gates * hidden, n), scale=0.5)) for n in (size, hidden)]
    inputs = [d.floats((batch, length, size) if batch_first else (length, batch, size)), *weights]
    inputs.append(Fixed(d.floats((directions, 2 * gates * hidden))) if d.chance(0.6) else None)
    inputs.append(np.array(d.numbers(1, length, batch), np.int32) if d.chance(0.3) else None)
    inputs.append(d.floats(state) if d.chance(0.5) else None)
    if op == "LSTM":
        inputs.append(d.floats(state) if d.chance(0.5) else None)
        inputs.append(Fixed(d.floats((directions, 3 * hidden))) if d.chance(0.2) else None)
        if d.chance(0.2):
            attributes["input_forget"] = 1
    if op == "GRU" and d.chance(0.5):
        attributes["linear_before_reset"] = 1
    if d.chance(0.2):
        attributes["clip"] = 0.5
    if d.chance(0.3):
        functions = [d.pick(["Tanh", "Sigmoid", "Relu"]) for _ in range({"RNN": 1, "GRU": 2, "LSTM": 3}[op])]
        others = functions if d.chance(0.6) else [d.pick(["Tanh", "Sigmoid", "Relu"]) for _ in functions]
        attributes["activations"] = functions + others[: len(functions) * (directions - 1)]
    while inputs[-1] is None:
        inputs.pop()
    return Drawn(op, inputs, attributes, 3 if op == "LSTM" else 2, opset)


def norm(d):
    op = d.pick(["BatchNormalization", "InstanceNormalization", "LRN", "LayerNormalization", "GroupNormalization", "LpNormalization"]
                + ["MeanVarianceNormalization", "RMSNormalization", "Dropout"])  # fmt: skip
    opset, channels, rank = d.pick([7, 9, 12, 13, 14, 17, 18, 21, 23]), d.number(1, 6), d.number(1, 3)
    shape = (d.number(1, 2), channels, *d.shape(rank))
    x, epsilon = d.floats(shape), {"epsilon": d.pick([1e-5, 0.1])}
    vector = lambda n=channels: d.maybe_fixed(d.floats(n))  # noqa: E731
    if op == "BatchNormalization":
        trains = opset >= 14 and d.chance(0.3)
        inputs = [x, vector(), vector(), vector(), d.maybe_fixed(np.abs(d.floats(channels)) + 0.1)]
        return Drawn(op, inputs, epsilon | ({"training_mode": 1} if trains else {}), 3 if trains else 1, opset)
    if op == "InstanceNormalization":
        return Drawn(op, [x, vector(), vector()], epsilon, 1, opset)
    if op == "LRN":
        return Drawn(op, [x], {"size": d.number(1, 5), "alpha": 0.5, "beta": 0.7, "bias": d.pick([1.0, 1.5])}, 1, opset)
    if op in ("LayerNormalization", "RMSNormalization"):
        axis = d.axis(len(shape))
        inputs = [x, vector(shape[axis:])] + ([vector(shape[axis:])] if op[0] == "L" and d.chance(0.5) else [])
        return Drawn(
            op, inputs, {"axis": axis, **epsilon}, d.pick([1, 1, 3]) if op[0] == "L" else 1, max(opset, 17 if op[0] == "L" else 23)
        )
    if op == "GroupNormalization":
        return Drawn(op, [x, vector(), vector()], {"num_groups": d.pick([n for n in range(1, 7) if channels % n == 0]), **epsilon}, 1, 21)
    if op == "LpNormalization":
        return Drawn(op, [x], {"axis": d.axis(len(shape)), "p": d.number(1, 2)}, 1, opset)
    if op == "MeanVarianceNormalization":
        return Drawn(op, [x], {"axes": d.order(len(shape))[:2]}, 1, max(9, opset))
    if opset < 12:
        return Drawn(op, [x], {"ratio": 0.5}, d.number(1, 2), opset)
    return Drawn(op, [x, Fixed(np.float32(0.4)), Fixed(np.array(False))][: d.number(1, 3)], {}, d.number(1, 2), opset)


def contributed_norm(d):
    op = d.pick(["SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "BiasGelu", "FastGelu"]
                + ["Gelu", "QuickGelu"])  # fmt: skip
    size = d.number(1, 8)
    x = d.floats((2, d.number(1, 4), size))
    vector = lambda: d.maybe_fixed(d.floats(size))  # noqa: E731
    if op.startswith("S"):
        attributes, inputs, outputs = {"epsilon": d.pick([1e-5, 0.1])}, [x], 1
        if op.startswith("Skip"):
            inputs, outputs = [x, d.floats(x.shape)], d.pick([1, 1, 4])
        inputs.append(vector())
        if op.startswith("Skip"):
            inputs += [vector() if d.chance(0.6) else None for _ in range(2 if op == "SkipLayerNormalization" else 1)]
        while inputs[-1] is None:
            inputs.pop()
        return Drawn(op, inputs, attributes, outputs, 17, MICROSOFT)
    inputs = [x, vector()] if op == "BiasGelu" or (op == "FastGelu" and d.chance(0.5)) else [x]
    return Drawn(op, inputs, {"alpha": d.pick([1.702, 0.5, -1.0])} if op == "QuickGelu" else {}, 1, 17, MICROSOFT)


def product(d):
    op = d.pick(["MatMul", "Gemm", "Einsum", "MatMulInteger", "QLinearMatMul", "FusedMatMul", "MatMulIntegerToFloat", "MatMulNBits"])
    (m, k, n), batch = d.numbers(1, 6, 3), d.shape(d.number(0, 2), 1, 3)
    opset = d.pick([13, 19, 21])
    if op == "MatMul":
        left, right = d.pick([((*batch, m, k), (*batch, k, n)), ((*batch, m, k), (k, n)), ((k,), (*batch, k, n)), ((*batch, m, k), (k,))])
        return Drawn(op, [d.floats(left), d.maybe_fixed(d.floats(right))], {}, 1, opset)
    if op in ("Gemm", "FusedMatMul"):
        a, b = d.number(0, 1), d.number(0, 1)
        inputs = [d.floats((k, m) if a else (m, k)), d.maybe_fixed(d.floats((n, k) if b else (k, n)))]
        attributes = {"transA": a, "transB": b, "alpha": d.pick([1.0, 0.5, 2.0])}
        if op == "FusedMatMul":
            return Drawn(op, inputs, attributes, 1, 17, MICROSOFT)
        inputs.append(d.maybe_fixed(d.floats(d.pick([(n,), (m, n), (1, n), (m, 1), ()]))))
        return Drawn(op, inputs, attributes | {"beta": d.pick([1.0, 0.5, 0.0, -1.0])}, 1, opset)
    if op == "Einsum":
        equation, shapes = d.pick([("ij,jk->ik", [(m, k), (k, n)]), ("bij,bjk->bik", [(2, m, k), (2, k, n)]), ("ii->i", [(k, k)]),
                                   ("ij->ji", [(m, k)]), ("...ij,jk->...ik", [(2, m, k), (k, n)]), ("i,j->ij", [(m,), (n,)]),
                                   ("ij,jk,kl->il", [(m, k), (k, n), (n, 3)]), ("ijk->k", [(m, k, n)])])  # fmt: skip
        return Drawn(op, [d.floats(shape) for shape in shapes], {"equation": equation}, 1, opset)
    if op == "MatMulNBits":
        block, bits = d.pick([16, 32]), d.pick([4, 4, 8])
        size = block * d.number(1, 3)
        inputs = [d.floats((2, m, size)), Fixed(d.integers((n, size // block, block * bits // 8), np.uint8, True))]
        inputs.append(Fixed(d.scale(n * size // block)))
        return Drawn(op, inputs, {"K": size, "N": n, "bits": bits, "block_size": block}, 1, 17, MICROSOFT)
    first, second = d.pick(BYTES), d.pick(BYTES)
    left, right = d.integers((*batch, m, k), first, True), d.integers((k, n), second if op != "QLinearMatMul" else first, True)
    zero = lambda kind, shape=(): Fixed(d.integers(shape, kind))  # noqa: E731
    if op == "QLinearMatMul":
        inputs = [
            left,
            Fixed(d.scale()),
            zero(first),
            d.maybe_fixed(right),
            Fixed(d.scale()),
            zero(first),
            Fixed(np.float32(0.3)),
            zero(first),
        ]
        return Drawn(op, inputs, {}, 1, opset)
    zeros = [zero(first), zero(second, d.pick([(), (n,)]) if op == "MatMulInteger" else ())]
    if op == "MatMulInteger":
        return Drawn(op, [left, d.maybe_fixed(right), *zeros[: d.number(0, 2)]], {}, 1, opset)
    inputs = [left, d.maybe_fixed(right), Fixed(d.scale()), Fixed(d.scale(d.pick([(), (n,)])))]
    return Drawn(op, inputs + (zeros if d.chance(0.5) else []), {}, 1, 17, MICROSOFT)


def quantized(d):
    op = d.pick(["QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "QLinearAdd", "QLinearMul"])
    if op.startswith("QLinear"):
        kind, shape = d.pick(BYTES), d.shape(3)
        sides = [[d.integers(s, kind, True), Fixed(d.scale()), Fixed(d.integers((), kind))] for s in (shape, d.broadcast(shape))]
        return Drawn(op, [*sides[0], *sides[1], Fixed(np.float32(0.05)), Fixed(d.integers((), kind))], {}, 1, 17, MICROSOFT)
    if op == "DynamicQuantizeLinear":
        return Drawn(op, [d.floats(d.shape(d.number(1, 3))) * d.number(0, 1)], {}, 3, d.pick([11, 21]))
    if op == "DynamicQuantizeMatMul":
        k, n = d.numbers(1, 6, 2)
        return Drawn(op, [d.floats((3, k)), Fixed(d.integers((k, n), np.int8, True)), Fixed(d.scale())], {}, 1, 17, MICROSOFT)
    domain, opset = d.pick(["", "", MICROSOFT]), d.pick([10, 13, 19, 21])
    shape = d.shape(d.number(1, 4), 1, 4)
    axis, many = d.axis(len(shape)), d.chance(0.5) and (domain or opset >= 13)
    sizes, attributes = ((shape[axis],), {"axis": axis}) if many else ((), {"axis": 0} if opset >= 13 and not domain else {})
    kind = d.pick(BYTES if opset < 21 or domain else [*BYTES, np.int16, np.uint16])
    x = d.floats(shape, scale=3) if op[0] == "Q" else d.integers(shape, kind, True)
    inputs = [x, d.maybe_fixed(d.scale(sizes)), d.maybe_fixed(d.integers(sizes, kind))][: 3 if domain else d.number(2, 3)]
    if len(inputs) == 2 and op[0] == "D":
        inputs.append(Fixed(np.zeros(sizes, kind)))
    return Drawn(op, inputs, attributes, 1, 17 if domain else opset, domain)


FAMILIES = {"pool": pool, "convolution": convolution, "recurrent": recurrent, "norm": norm, "contributed norm": contributed_norm,
            "product": product, "quantized": quantized}  # fmt: skip
