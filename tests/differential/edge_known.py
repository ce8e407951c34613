"""Nodes over axes of 0, 1 and 2 elements of which ONNX Runtime gives something else, and why Roundhouse does not: docs/differences.md has
the rows."""


def always(cell, status, message):
    return True


def automatic(cell, status, message):
    return "SAME" in cell.attributes.get("auto_pad", "")


def no_terms(cell, status, message):
    """Products over 0 values."""
    return any(x is not None and x.size == 0 for x in cell.inputs)


def other_sizes(cell, status, message):
    return status == "refused" and "expected the same off axis" in message


def all_empty(cell, status, message):
    return all(x.size == 0 for x in cell.inputs)


def in_padding(cell, status, message):
    return "output 1" in message


def of_training(cell, status, message):
    return "training_mode" in cell.attributes


def whole(cell, status, message):
    return "keepdims" in cell.attributes


def per_channel(cell, status, message):
    return cell.inputs[0][:, :1].size == 1


KNOWN = [
    ({"Concat"}, other_sizes, "ONNX Runtime leaves memory as it was where a part without elements has a size along the axis"),
    ({"Concat"}, all_empty, "of parts that are all empty, the one whose other sizes are known counts"),
    ({"ConvTranspose"}, automatic, "the standard says what size auto_pad gives"),
    ({"QLinearAveragePool"}, always, "ties are rounded before the zero point is added, as in QuantizeLinear"),
    ({"MaxPool"}, in_padding, "ONNX Runtime counts the index -1 of a window in the padding on from the plane"),
    ({"BatchNormalization"}, of_training, "ONNX Runtime gives NaN for statistics of a batch without elements"),
    ({"SplitToSequence"}, whole, "the standard overlooks keepdims where sizes are given"),
    ({"Conv", "MatMul", "MatMulInteger", "QLinearMatMul", "DynamicQuantizeMatMul"}, no_terms, "ONNX Runtime leaves memory as it was"),
    ({"AffineGrid"}, always, "a single place that is aligned with the corners is -1, as in the reference; in ONNX Runtime 1"),
    ({"MultiHeadAttention"}, always, "unidirectional with other numbers of queries and keys shows no later keys to the last query"),
    ({"MeanVarianceNormalization"}, per_channel, "ONNX Runtime gives 0 / 0 for a single element"),
    ({"HannWindow", "HammingWindow", "BlackmanWindow"}, always, "ONNX Runtime gives 0 / 0 for a window of one element"),
    ({"Split"}, always, "more parts than elements: the last ones are empty"),
]


def reason(cell, status: str, message: str) -> str | None:
    return next((why for ops, test, why in KNOWN if cell.op in ops and test(cell, status, message)), None)
