#include "ops/nn/window.h"

#include <algorithm>

namespace rh::ops {

namespace {

/// Larger numbers are mistakes; sums of some with sizes do not overflow.
constexpr int64_t kMost = (int64_t{1} << 31) - 1;

void check_values(const NodeView& node, const std::string& name, const Sizes& list, int64_t least) {
  for (int64_t value : list) {
    if (value < least || value > kMost) node.fail("{} has the value {}, expected one in [{}, {}]", name, value, least, kMost);
  }
}

Sizes read_list(const NodeView& node, const std::string& name, int64_t least) {
  Sizes list(node.ints_or(name));
  check_values(node, name, list, least);
  return list;
}

}  // namespace

Window Window::read(const NodeView& node, const std::string& prefix) {
  Window w;
  w.kernel = read_list(node, prefix + "kernel_shape", 1);
  w.strides = read_list(node, prefix + "strides", 1);
  w.dilations = read_list(node, prefix + "dilations", 1);
  w.pads = read_list(node, prefix + "pads", -kMost);
  w.ceil_mode = node.flag(prefix + "ceil_mode");
  const std::string mode = node.string_or(prefix + "auto_pad", "NOTSET");
  if (mode == "SAME_UPPER") {
    w.auto_pad = AutoPad::same_upper;
  } else if (mode == "SAME_LOWER") {
    w.auto_pad = AutoPad::same_lower;
  } else if (mode == "VALID") {
    w.auto_pad = AutoPad::valid;
  } else if (mode != "NOTSET" && !mode.empty()) {
    node.fail("auto_pad is '{}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", mode);
  }
  return w;
}

void Window::complete(const NodeView& node, int spatial_rank) {
  const auto check = [&](const char* name, Sizes& list, size_t length, int64_t otherwise) {
    if (list.empty()) list = Sizes(length, otherwise);
    if (list.size() != length)
      node.fail("{} has {} values, expected {} for {} spatial dimensions", name, list.size(), length, spatial_rank);
  };
  const size_t n = static_cast<size_t>(spatial_rank);
  check("kernel_shape", kernel, n, 1);
  check_values(node, "kernel_shape", kernel, 1);  // may come from the weights
  check("strides", strides, n, 1);
  check("dilations", dilations, n, 1);
  if (auto_pad != AutoPad::notset) pads = Sizes(2 * n, 0);
  check("pads", pads, 2 * n, 0);
}

bool Window::is_complete(size_t n) const {
  return kernel.size() == n && strides.size() == n && dilations.size() == n && pads.size() == 2 * n;
}

Sizes Window::pads_for(std::span<const int64_t> spatial) const {
  Sizes result = pads;
  if (auto_pad != AutoPad::same_upper && auto_pad != AutoPad::same_lower) return result;
  const size_t n = spatial.size();
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = std::min(spatial[i], kMostSize), output = (size + strides[i] - 1) / strides[i];
    const int64_t total = std::max<int64_t>((output - 1) * strides[i] + effective_kernel(i) - size, 0);
    const int64_t small = total / 2, large = total - small;
    result[i] = auto_pad == AutoPad::same_upper ? small : large;
    result[n + i] = auto_pad == AutoPad::same_upper ? large : small;
  }
  return result;
}

int64_t Window::output_size(size_t axis, int64_t input) const {
  const int64_t stride = strides[axis];
  input = std::min(input, kMostSize);
  if (auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower) return (input + stride - 1) / stride;
  const size_t n = strides.size();
  const int64_t room = input + pads[axis] + pads[n + axis] - effective_kernel(axis);
  if (room < 0) return pools && input > 0 ? 1 - -room / stride : 0;
  int64_t output = (ceil_mode ? (room + stride - 1) / stride : room / stride) + 1;
  // A window that would start in the padding at the end does not count.
  if (ceil_mode && (output - 1) * stride >= input + pads[axis]) --output;
  return output;
}

Dim Window::output_dim(size_t axis, const Dim& input) const {
  if (input.is_unknown()) return {};
  if (input.is_constant()) {
    const int64_t size = output_size(axis, input.value());
    return size > 0 || input.value() == 0 || (pools && size == 0) ? Dim(size) : Dim();
  }
  if (auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower)
    return Dim::apply(Dim::Function::ceil_div, input, Dim(strides[axis]));
  if (ceil_mode) return {};
  const int64_t shift = pads[axis] + pads[strides.size() + axis] - effective_kernel(axis);
  const Dim whole = Dim::apply(Dim::Function::floor_div, input + Dim(shift), Dim(strides[axis])) + Dim(1);
  if (!pools || shift >= -1 || strides[axis] == 1) return whole;
  return Dim::apply(Dim::Function::max, whole, Dim::apply(Dim::Function::min, input, Dim(1)));
}

}  // namespace rh::ops
