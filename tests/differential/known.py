"""Where the reference evaluator of the `onnx` package departs from the standard's text, or the standard leaves the result open.

docs/differences.md tells those that users of ONNX Runtime meet. A row: the operators, a test of the case, and the reason.
"""

import functools
import pathlib

import numpy as np
import onnx
from values import is_floating


def floats(case) -> list[np.ndarray]:
    """All floating inputs and constants as float64."""
    arrays = [*case.feeds.values(), *(onnx.numpy_helper.to_array(t) for t in case.model.graph.initializer)]
    return [a.astype(np.float64) for a in arrays if isinstance(a, np.ndarray) and is_floating(a.dtype)]


def has_nan(case) -> bool:
    return any(bool(np.isnan(a).any()) for a in floats(case))


def not_finite(case) -> bool:
    return any(not np.isfinite(a).all() for a in floats(case))


def huge(case) -> bool:
    """Its square is beyond float32."""
    return any(bool((np.abs(a) > 1e18).any()) for a in floats(case))


@functools.cache
def has_byte_products() -> bool:
    """Whether this processor has dot products of bytes, as far as its system tells."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return True
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), None)
    return flags is None or "avx512_vnni" in flags or "avx_vnni" in flags


def stock_saturates(case) -> bool:
    """ONNX Runtime adds up two products by signed bytes in 16 bits where a processor has nothing better."""
    arrays = [*case.feeds.values(), *(onnx.numpy_helper.to_array(t) for t in case.model.graph.initializer)]
    return not has_byte_products() and any(isinstance(a, np.ndarray) and a.dtype == np.int8 for a in arrays)


def of_type(*names):
    return lambda case: any(name in change for change in case.changes for name in names)


def attribute_above(name, value):
    return lambda case: any(a.name == name and a.i > value for a in case.model.graph.node[0].attribute)


def lacks_bound(case) -> bool:
    """Of Clip, one at least."""
    node = case.model.graph.node[0]
    return not {"min", "max"} <= {a.name for a in node.attribute} and sum(map(bool, node.input)) < 3


def ends_before_the_keys(case) -> bool:
    """The mask has fewer columns than there are keys."""
    values = values_of(case)
    mask, keys, past = values.get("attn_mask"), values["K"], values.get("past_key")
    return mask is not None and mask.shape[-1] != keys.shape[-2] + (0 if past is None else past.shape[2])


def opset_of(case) -> int:
    return next(o.version for o in case.model.opset_import if not o.domain)


def short_mask(case) -> bool:
    """Before opset 24 a mask has one column or one for each key; the reference fills up others."""
    return opset_of(case) < 24 and ends_before_the_keys(case)


def causal_integer_mask(case) -> bool:
    """ONNX Runtime gives another result than for the same mask as floats, which is the reference's."""
    values = values_of(case)
    mask = values.get("attn_mask")
    return mask is not None and mask.dtype.kind in "iu" and "nonpad_kv_seqlen" in values and has_attribute("is_causal")(case)


def single_column(case) -> bool:
    """From opset 24 on a mask of one column ends there, and what follows is -inf."""
    return opset_of(case) >= 24 and ends_before_the_keys(case) and values_of(case)["attn_mask"].shape[-1] == 1


def has_attribute(*names):
    return lambda case: any(a.name in names for a in case.model.graph.node[0].attribute)


def not_an_image(case) -> bool:
    """The first input has another rank than 4."""
    values = values_of(case)
    return values[case.model.graph.node[0].input[0]].ndim != 4


def beyond_bytes(case) -> bool:
    """Numbers that some integer type does not hold."""
    return any(bool(((a < 0) | (a > 127)).any()) for a in floats(case))


def attribute(case, name, default=None):
    return next((onnx.helper.get_attribute_value(a) for a in case.model.graph.node[0].attribute if a.name == name), default)


def uneven_pads(case) -> bool:
    return len(set(attribute(case, "pads", []))) > 1


def causal_row_mask(case) -> bool:
    """A causal mask beside one that has a single row for all queries, without a window."""
    values = values_of(case)
    mask, queries = values.get("attn_mask"), values["Q"]
    windows = [attribute(case, name, -1) for name in ("left_window_size", "right_window_size")]
    if mask is None or not attribute(case, "is_causal", 0) or windows != [-1, -1]:
        return False
    return (mask.shape[-2] if mask.ndim > 1 else 1) == 1 < queries.shape[-2 if queries.ndim == 4 else 1]


def capped_products(case) -> bool:
    """Products of queries and keys are a result, before a cap that there is."""
    outputs = case.model.graph.node[0].output
    return len(outputs) > 3 and bool(outputs[3]) and attribute(case, "softcap", 0) > 0 and not attribute(case, "qk_matmul_output_mode", 0)


def values_of(case) -> dict:
    return case.feeds | {t.name: onnx.numpy_helper.to_array(t) for t in case.model.graph.initializer}


def after_the_first_step(case) -> bool:
    """The optimizer's count of steps is above 0."""
    steps = values_of(case)[case.model.graph.node[0].input[1]]
    return bool(steps.reshape(-1)[0] > 0)


def zero_point_of_floats(case) -> bool:
    names = case.model.graph.node[0].input
    point = values_of(case).get(names[2]) if len(names) > 2 else None
    return point is not None and is_floating(point.dtype) and bool((point.astype(np.float64) != 0).any())


def without_strides_but_indices(case) -> bool:
    return len(case.model.graph.node[0].output) > 1 and len(set(attribute(case, "strides", [1])) | {1}) == 1


def votes_for_both(case) -> bool:
    """Of a tree classifier of two classes."""
    classes = attribute(case, "classlabels_strings", []) or attribute(case, "classlabels_int64s", [])
    return len(classes) == 2 and set(attribute(case, "class_ids", [])) == {0, 1}


def is_probit(case) -> bool:
    return attribute(case, "post_transform") == b"PROBIT"


def no_elements(case) -> bool:
    return any(isinstance(a, np.ndarray) and a.size == 0 for a in values_of(case).values())


def either(*tests):
    return lambda case: any(test(case) for test in tests)


def both(*tests):
    return lambda case: all(test(case) for test in tests)


def keeps_extremes(case) -> bool:
    return attribute(case, "reduction", b"none") in (b"min", b"max")


def half_scales(case) -> bool:
    """Scales of a type narrower than float32."""
    names = [n for n in case.model.graph.node[0].input if n.endswith("_scale")]
    return any(values_of(case)[n].dtype.itemsize == 2 for n in names)


def attribute_is_default(name):
    return lambda case: all(a.name != name or a.s == b"NONE" for a in case.model.graph.node[0].attribute)


POOLS = {"AveragePool", "LpPool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"}
ORDERS = {
    "Hardmax",
    "ArgMax",
    "ArgMin",
    "TopK",
    "MaxPool",
    "MaxUnpool",
    "Unique",
    "NonMaxSuppression",
    "ReduceMax",
    "ReduceMin",
    "Max",
    "Min",
}
REDUCTIONS = {
    "ReduceSum",
    "ReduceProd",
    "ReduceMean",
    "ReduceL1",
    "ReduceL2",
    "ReduceSumSquare",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "GlobalAveragePool",
}
NORMS = {"LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization", "LpNormalization"}
NORMS |= {"MeanVarianceNormalization"}

LOSSES = {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}
LONG_SUMS = {"Attention", "LinearAttention", "FlexAttention", "CausalConvWithState", "GridSample", "RoiAlign", "DeformConv", "DFT", "STFT"}
LONG_SUMS |= LOSSES | {"Einsum", "RotaryEmbedding", "AffineGrid", "Col2Im"}

BYTE_PRODUCTS = {
    "ConvInteger",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeMatMul",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "QAttention",
    "QGemm",
    "QLinearConv",
    "QLinearMatMul",
}
KNOWN = [
    (LONG_SUMS, either(not_finite, huge), "which terms of a sum meet NaN, infinity or an overflow is open"),
    ({"Attention"}, short_mask, "the reference fills masks of one column up with -inf, where opset 23 has them broadcast"),
    ({"Attention"}, causal_integer_mask, "ONNX Runtime begins the causal mask beside a mask of integers at 0"),
    ({"Attention"}, single_column, "ONNX Runtime broadcasts masks of one column, which end in -inf from opset 24 on"),
    ({"Attention"}, capped_products, "the reference caps the products that mode 0 gives before they are capped"),
    ({"Gelu"}, not_finite, "the limit at minus infinity is 0; infinity times 0 is NaN"),
    ({"Attention"}, causal_row_mask, "the reference takes the number of rows of the mask for that of the queries"),
    (LOSSES, no_elements, "the reference refuses batches of none; their mean is 0 / 0, where ONNX Runtime gives 0"),
    ({"QLinearMatMul"}, either(not_finite, huge), "what NaN and infinity are as integers is open"),
    ({"Pad"}, of_type("FLOAT8E8M0"), "the type has no zero to pad with"),
    ({"QLinearMatMul"}, half_scales, "the reference multiplies scales in the half type"),
    ({"Gemm"}, both(not_finite, huge), "the reference's products overflow before they meet an infinity of the other sign"),
    ({"Range"}, either(not_finite, huge), "a step that leaps over the limit is open"),
    ({"GridSample"}, of_type("INT"), "what interpolation overshoots an integer type by is open"),
    ({"GridSample"}, of_type("FLOAT16", "BFLOAT16"), "the reference computes coordinates in the half type"),
    (LOSSES, of_type("without ignore_index"), "labels that are no class are refused"),
    ({"TfIdfVectorizer"}, of_type("T STRING"), "texts with a pool of integers are no model"),
    (
        {"StringNormalizer"},
        attribute_is_default("case_change_action"),
        "the reference compares stop words in their own case, whatever is asked",
    ),
    ({"GlobalMaxPool"}, not_an_image, "the reference gives GlobalMaxPool a wrong shape"),
    ({"AveragePool", "LayerNormalization", "ReduceMean"}, no_elements, "the mean of nothing is NaN in the reference"),
    (POOLS, has_nan, "the reference's pools leave NaN out"),
    (ORDERS, has_nan, "the place of NaN in an order is open"),
    ({"ScatterElements", "ScatterND"}, both(has_nan, keeps_extremes), "the place of NaN in an order is open"),
    ({"LpPool"}, has_attribute("ceil_mode"), "the reference scales the LpPool of windows beyond the border"),
    (
        {"MaxPool"},
        either(not_an_image, uneven_pads, has_attribute("ceil_mode", "auto_pad", "dilations", "storage_order")),
        "the reference pads MaxPool of one dimension or unevenly, and rounds its size, in another way than the standard",
    ),
    (
        {"TreeEnsembleClassifier"},
        votes_for_both,
        "ONNX Runtime gives label 1 or 0 by the sign of the second score, whatever the labels are",
    ),
    ({"TreeEnsembleRegressor"}, is_probit, "ONNX Runtime computes the inverse error function in float, which cancels about a half"),
    ({"MaxPool"}, without_strides_but_indices, "the reference counts indices in a padded plane where there are no strides"),
    ({"ReduceSumSquare"}, of_type("INT32"), "the reference gives ReduceSumSquare another type"),
    ({"ReduceLogSum", "ReduceLogSumExp"}, of_type("INT32", "INT64"), "the reference refuses integers, ONNX Runtime loses empty dimensions"),
    (REDUCTIONS | NORMS, of_type("BFLOAT16", "FLOAT16"), "the reference adds up in the half type"),
    (REDUCTIONS | NORMS, huge, "the reference adds up in float32, which overflows"),
    ({"QuantizeLinear", "DynamicQuantizeLinear", "CastLike", "Cast"}, not_finite, "what NaN and infinity are as integers is open"),
    ({"QuantizeLinear"}, huge, "the reference goes through int32 before it saturates"),
    ({"QuantizeLinear"}, of_type("special values in y_scale"), "a scale of 0 is open"),
    ({"CastLike"}, both(of_type("T2 STRING"), has_attribute("saturate")), "the reference writes numbers of narrow types in fewer digits"),
    ({"CastLike", "Cast"}, beyond_bytes, "what lies outside an integer type is open"),
    ({"Conv", "ConvTranspose"}, not_finite, "whether padding is multiplied with weights is open"),
    ({"ConvTranspose"}, attribute_above("group", 1), "the reference mixes the groups of ConvTranspose"),
    ({"Adam", "AffineGrid"}, of_type("DOUBLE", "BFLOAT16"), "the reference gives another type than the schema"),
    ({"Adam"}, huge, "the reference divides before it multiplies with the rate, which overflows"),
    ({"Adam"}, after_the_first_step, "the reference computes the rate in double and gives double"),
    ({"Clip"}, both(not_finite, lacks_bound), "the reference lets infinities through where there is no bound"),
    ({"Det"}, of_type("BFLOAT16", "FLOAT16"), "the reference gives another type than the schema"),
    ({"QuantizeLinear"}, zero_point_of_floats, "a zero point of a floating type is 0"),
    ({"Softmax", "LogSoftmax"}, huge, "the difference of huge values is -inf in a half type"),
    ({"Resize"}, either(not_finite, of_type("INT")), "interpolated integers are cut as ONNX Runtime does; weights of zero leave NaN out"),
    ({"Resize"}, huge, "cubic weights overshoot float32; the reference adds up in double"),
    ({"Resize"}, of_type("other end"), "the reference refuses negative axes, ONNX Runtime's aspect-ratio policies overlook them"),
    ({"Resize"}, of_type("tf_crop_and_resize"), "coordinates at the border of a region depend on the rounding of single floats"),
    ({"Resize"}, of_type("align_corners"), "a single element aligned with the corners is the first one, as ONNX Runtime takes it"),
    (
        {"AveragePool"},
        has_attribute("ceil_mode", "dilations"),
        "the reference counts windows with dilations and rounding up in another way",
    ),
    ({"OneHot"}, either(not_finite, huge), "the reference computes off + (on - off) * mask"),
    ({"CenterCropPad", "Pad", "Trilu"}, of_type("STRING"), "the reference fills strings with 0"),
    ({"GRU", "LSTM", "RNN"}, huge, "what is left of huge values that cancel each other is open"),
    (LOSSES | {"Einsum"}, of_type("BFLOAT16", "FLOAT16"), "the reference adds up in the half type"),
    ({"ConvTranspose"}, of_type("autopad"), "the standard leaves open where an output larger than all windows begins"),
    ({"ReduceL2", "ReduceL1", "ReduceSumSquare"}, of_type("INT"), "sums beyond the integer type are open"),
    ({"DequantizeLinear"}, of_type("FLOAT"), "a zero point of a floating type is 0"),
    (
        {"ArgMin", "ArgMax"},
        either(of_type("INT", "size"), no_elements),
        "of nothing, the reference refuses and ONNX Runtime keeps the axis",
    ),
    ({"ReduceMean"}, of_type("INT"), "the mean of no integers is open"),
    ({"BatchNormalization"}, of_type("training"), "the reference gives the statistics another type"),
    ({"CenterCropPad"}, of_type("size", "without axes"), "fewer sizes than axes are no model"),
    (BYTE_PRODUCTS, stock_saturates, "ONNX Runtime's sums of products by signed bytes saturate without dot products of bytes"),
]


def reason(case) -> str | None:
    return next((why for ops, test, why in KNOWN if case.op in ops and test(case)), None)
