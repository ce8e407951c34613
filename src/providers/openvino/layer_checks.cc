#include <algorithm>
#include <string>
#include <vector>

#include "providers/openvino/checks.h"
#include "providers/openvino/rewrites.h"

namespace rh::openvino {

namespace {

using kit::Support, kit::refuse;

DType input_dtype(const NodeView& node, int i) {
  return node.has_input(i) && node.input_type(i).is_tensor() ? node.input_type(i).tensor().dtype : DType::undefined;
}

/// The size of a dimension that the model has; -1: it is open.
int64_t dim_of(const NodeView& node, int i, int axis) {
  if (!node.has_input(i) || !node.input_type(i).is_tensor()) return -1;
  const TensorType& type = node.input_type(i).tensor();
  if (!type.has_rank() || axis >= type.rank()) return -1;
  const Dim& dim = (*type.dims)[static_cast<size_t>(axis)];
  return dim.is_constant() ? dim.value() : -1;
}

bool is_scalar(const NodeView& node, int i) {
  const TensorType& type = node.input_type(i).tensor();
  return type.has_rank() && (type.rank() == 0 || (type.rank() == 1 && dim_of(node, i, 0) == 1));
}

bool is_padded_alike(const NodeView& node) { return node.string_or("auto_pad", "NOTSET").starts_with("SAME"); }

// --- recurrent layers

/// Whether both directions have the same functions, with the same parameters.
bool has_one_kind_of_direction(const NodeView& node) {
  if (node.string_or("direction", "forward") != "bidirectional") return true;
  const auto is_twice = [](const auto& list) {
    const size_t half = list.size() / 2;
    return list.size() % 2 == 0 &&
           std::equal(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(half), list.begin() + static_cast<std::ptrdiff_t>(half));
  };
  return is_twice(node.strings_or("activations")) && is_twice(node.floats_or("activation_alpha")) &&
         is_twice(node.floats_or("activation_beta"));
}

Support check_recurrent(const NodeView& node) {
  if (node.has_input(4)) return refuse(RhRefusalCode_SHAPE, "it has sequence_lens, of which OpenVINO keeps what is behind each sequence");
  if (node.flag("layout") && !is_rewritten(node)) {
    return refuse(RhRefusalCode_ATTRIBUTE, "it has layout 1, whose outputs OpenVINO gives in another order");
  }
  if (has_one_kind_of_direction(node)) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "its directions have other functions, and OpenVINO takes those of one for both");
}

Support check_lstm(const NodeView& node) {
  if (node.flag("input_forget")) return refuse(RhRefusalCode_ATTRIBUTE, "it has input_forget, which OpenVINO leaves out of account");
  if (node.has_input(7)) return refuse(RhRefusalCode_ATTRIBUTE, "it has peepholes, which OpenVINO leaves out of account");
  return check_recurrent(node);
}

// --- convolutions and pools

/// Whether what it convolves is multiplied by a constant that is as long along a dimension of the image as the weights are: OpenVINO takes
/// that for one by channel, and multiplies the weights by it.
bool has_scale_like_its_window(const NodeView& node) {
  const Node* before = node.graph().producer(node.node().inputs[0]);
  const Tensor* weights = node.constant_input(1);
  if (!before || !weights || !before->domain.empty() || (before->op_type != "Mul" && before->op_type != "Div")) return false;
  const NodeView product(node.graph(), *before);
  const Tensor* second = product.constant_input(1);
  const Tensor* scale = second ? second : product.constant_input(0);
  if (!scale) return false;
  const Shape &window = weights->shape(), &given = scale->shape();
  for (int from_end = 1; from_end <= window.rank() - 2 && from_end <= given.rank(); ++from_end) {
    const int64_t size = given[static_cast<size_t>(given.rank() - from_end)];
    if (size > 1 && size == window[static_cast<size_t>(window.rank() - from_end)]) return true;
  }
  return false;
}

Support check_convolution(const NodeView& node) {
  if (has_scale_like_its_window(node)) {
    return refuse(RhRefusalCode_UNIT, "OpenVINO multiplies its weights by the constant that its input is multiplied by along the image");
  }
  const std::vector<int64_t> dilations = node.ints_or("dilations");
  if (dilations.size() < 3 || std::ranges::all_of(dilations, [](int64_t dilation) { return dilation == 1; })) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has dilations in three dimensions, which OpenVINO leaves out of account for single channels");
}

Support check_transposed(const NodeView& node) {
  if (!is_padded_alike(node)) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has auto_pad SAME, for which OpenVINO fails where sizes are open");
}

bool has_pads(const NodeView& node) {
  return std::ranges::any_of(node.ints_or("pads"), [](int64_t pad) { return pad != 0; });
}

/// Whether a step is longer than a window.
bool leaves_gaps(const NodeView& node) {
  const std::vector<int64_t> kernel = node.ints_or("kernel_shape"), strides = node.ints_or("strides");
  for (size_t i = 0; i < std::min(kernel.size(), strides.size()); ++i) {
    if (strides[i] > kernel[i]) return true;
  }
  return false;
}

Support check_max_pool(const NodeView& node) {
  if (node.flag("storage_order") && node.has_output(1)) {
    return refuse(RhRefusalCode_ATTRIBUTE, "it has storage_order, which OpenVINO leaves out of account");
  }
  if (node.has_output(1) && is_padded_alike(node)) {
    return refuse(RhRefusalCode_ATTRIBUTE, "it has indices and auto_pad SAME, which OpenVINO computes otherwise where sizes are open");
  }
  if (!node.flag("ceil_mode") || (!has_pads(node) && !is_padded_alike(node) && !leaves_gaps(node))) return {};
  return refuse(RhRefusalCode_ATTRIBUTE,
                "it has ceil_mode and pads, or gaps between windows, of which OpenVINO gives another size where sizes are open");
}

Support check_average_pool(const NodeView& node) {
  if (!node.flag("ceil_mode") || (!has_pads(node) && !is_padded_alike(node) && !leaves_gaps(node))) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has ceil_mode and pads, or gaps between windows, for which OpenVINO counts other elements");
}

Support check_lp_pool(const NodeView& node) {
  if (!node.flag("ceil_mode")) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has ceil_mode, for which OpenVINO counts elements beyond the end");
}

Support check_local_response(const NodeView& node) {
  const int64_t size = node.int_or("size", 1), channels = dim_of(node, 0, 1);
  if (node.float_or("bias", 1.0f) != 1.0f && !is_rewritten(node))
    return refuse(RhRefusalCode_ATTRIBUTE, "its bias is not 1, which OpenVINO computes otherwise");
  if (size % 2 == 0) return refuse(RhRefusalCode_ATTRIBUTE, "its size is even, and OpenVINO has its odd channel on the other side");
  if (channels >= size) return {};
  return refuse(RhRefusalCode_SHAPE, "its size may be larger than the number of channels, which OpenVINO computes otherwise");
}

// --- quantized operators

Support check_quantized_convolution(const NodeView& node) {
  if (Support refusal = check_convolution(node)) return refusal;
  if (is_padded_alike(node)) return refuse(RhRefusalCode_ATTRIBUTE, "it has auto_pad SAME, which OpenVINO fills with other zeros");
  if (is_scalar(node, 4) && is_scalar(node, 5)) return {};
  return refuse(RhRefusalCode_SHAPE, "its weights have a scale for each channel, which OpenVINO takes for the group's");
}

Support check_scales_of_a_run(const NodeView& node) {
  const bool has_fixed_zero = !node.has_input(2) || node.constant_input(2) || is_scalar(node, 2);
  const bool is_whole = is_scalar(node, 1);
  if (!is_whole && bits_of(node.graph().value(node.node().outputs[0]).type.tensor().dtype) == 16) {
    return refuse(RhRefusalCode_TYPE, "it is of 16 bits and has scales by axis, for which OpenVINO takes the last one");
  }
  if (has_fixed_zero && (node.constant_input(1) || is_whole)) return {};
  return refuse(RhRefusalCode_SHAPE, "its scales by axis are known in a run alone, for which OpenVINO fails where sizes are open");
}

Support check_saturation(const NodeView&) { return refuse(RhRefusalCode_OP, "OpenVINO lets sums and products go round at the limits"); }

Support check_dynamic_product(const NodeView&) { return refuse(RhRefusalCode_OP, "OpenVINO rounds its input otherwise"); }

Support check_dynamic_quantization(const NodeView& node) {
  if (is_rewritten(node)) return {};
  return refuse(RhRefusalCode_OP, "OpenVINO multiplies by the reciprocal of the scale, and gives a scale of 0 for zeros");
}

// --- others

Support check_skipped_norm(const NodeView& node) {
  if (!node.has_output(1) && !node.has_output(2)) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "its mean or its inverse deviation is asked for, for which OpenVINO gives another value");
}

Support check_fourier(const NodeView&) {
  return refuse(RhRefusalCode_OP, "OpenVINO takes it over another axis, and fails where sizes are open");
}

/// Whether two values have the same size but along one axis.
bool has_equal_sizes(const TensorType& a, const TensorType& b, int64_t axis) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.dims->size(); ++i) {
    const Dim &left = (*a.dims)[i], &right = (*b.dims)[i];
    if (static_cast<int64_t>(i) == axis || (left.is_constant() && right.is_constant())) continue;
    if (left.symbol_name().empty() || left.symbol_name() != right.symbol_name()) return false;
  }
  return true;
}

Support check_gather_elements(const NodeView& node) {
  const TensorType &data = node.input_type(0).tensor(), &indices = node.input_type(1).tensor();
  const int64_t axis = node.int_or("axis", 0), rank = data.has_rank() ? data.rank() : 0;
  if (has_equal_sizes(data, indices, axis < 0 ? axis + rank : axis)) return {};
  return refuse(RhRefusalCode_SHAPE, "its indices may have other sizes than its data, for which OpenVINO fails");
}

Support check_slope(const NodeView& node) {
  const TensorType &data = node.input_type(0).tensor(), &slope = node.input_type(1).tensor();
  if (!data.has_rank() || !slope.has_rank())
    return refuse(RhRefusalCode_SHAPE, "its ranks are not known, by which OpenVINO takes its slope");
  if (slope.rank() != 1 || data.rank() < 2 || dim_of(node, 1, 0) == 1) return {};
  if (dim_of(node, 0, data.rank() - 1) >= 0 && dim_of(node, 0, 1) >= 0) return {};
  return refuse(RhRefusalCode_SHAPE, "its slope has one dimension and sizes are open, for which OpenVINO fails");
}

Support check_unique(const NodeView& node) {
  if (node.flag("sorted", true) || !node.has("axis")) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it is not sorted and has an axis, for which OpenVINO gives other places");
}

Support check_window(const NodeView& node) {
  if (node.flag("periodic", true) || is_rewritten(node)) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it is not periodic, and of one element OpenVINO gives NaN");
}

Support check_logarithm(const NodeView& node) {
  if (node.opset() < 13 || node.opset() >= 18 || !node.has("axes")) return {};
  return refuse(RhRefusalCode_OPSET, "of opsets 13 to 17 OpenVINO leaves its axes out of account where sizes are open");
}

Support check_mean(const NodeView& node) {
  if (!is_integer(input_dtype(node, 0))) return {};
  return refuse(RhRefusalCode_TYPE, "of integers OpenVINO rounds it otherwise");
}

struct Check {
  std::string_view domain, op_type;
  Support (*check)(const NodeView&);
};
constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr Check kChecks[] = {
    {"", "AveragePool", check_average_pool},
    {"", "BlackmanWindow", check_window},
    {"", "Conv", check_convolution},
    {"", "ConvInteger", check_convolution},
    {"", "ConvTranspose", check_transposed},
    {"", "DFT", check_fourier},
    {"", "DynamicQuantizeLinear", check_dynamic_quantization},
    {"", "GRU", check_recurrent},
    {"", "GatherElements", check_gather_elements},
    {"", "HammingWindow", check_window},
    {"", "HannWindow", check_window},
    {"", "LRN", check_local_response},
    {"", "LSTM", check_lstm},
    {"", "LpPool", check_lp_pool},
    {"", "MaxPool", check_max_pool},
    {"", "PRelu", check_slope},
    {"", "QLinearConv", check_quantized_convolution},
    {"", "QuantizeLinear", check_scales_of_a_run},
    {"", "RNN", check_recurrent},
    {"", "ReduceL1", check_logarithm},
    {"", "ReduceL2", check_mean},
    {"", "ReduceLogSum", check_logarithm},
    {"", "ReduceLogSumExp", check_logarithm},
    {"", "ReduceMean", check_mean},
    {"", "Unique", check_unique},
    {kMicrosoft, "DynamicQuantizeMatMul", check_dynamic_product},
    {kMicrosoft, "FusedConv", check_convolution},
    {kMicrosoft, "QLinearAdd", check_saturation},
    {kMicrosoft, "QLinearMul", check_saturation},
    {kMicrosoft, "QuantizeLinear", check_scales_of_a_run},
    {kMicrosoft, "SkipLayerNormalization", check_skipped_norm},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", check_skipped_norm},
};

}  // namespace

Support check_layer(const NodeView& node) {
  for (const Check& check : kChecks) {
    if (check.domain == node.domain() && check.op_type == node.op_type()) return check.check(node);
  }
  return {};
}

}  // namespace rh::openvino
