#include "providers/cpu/conv_window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/nn/likely_sizes.h"

namespace rh::cpu {

ops::Window with_kernel(const ops::Window& window, std::span<const int64_t> kernel) {
  ops::Window result = window;
  result.kernel.assign(kernel.begin(), kernel.end());
  if (result.strides.empty()) result.strides = ops::Sizes(kernel.size(), 1);
  if (result.dilations.empty()) result.dilations = ops::Sizes(kernel.size(), 1);
  if (result.pads.empty()) result.pads = ops::Sizes(2 * kernel.size(), 0);
  return result;
}

void throw_if_wrong(const Status& status) {
  if (!status.ok()) throw Error(status.code(), std::string(status.message()));
}

Status conv_window(const ops::Window& window, std::span<const int64_t> input_spatial, std::span<const int64_t> output_spatial,
                   std::span<const int64_t> pads, compute::Window& result) {
  const size_t spatial = input_spatial.size();
  if (spatial > 3) return error_status(ErrorCode::not_implemented, "{} spatial dimensions, expected at most 3", spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const bool is_empty_pool = window.pools && window.output_size(i, input_spatial[i]) == 0;
    if (output_spatial[i] <= 0 && input_spatial[i] > 0 && !is_empty_pool) {
      return error_status(ErrorCode::invalid_argument,
                          "the window of {} with dilation {} does not fit into spatial axis {} of {} elements with pads {} and {}: give a "
                          "larger input",
                          window.kernel[i], window.dilations[i], i, input_spatial[i], pads[i], pads[spatial + i]);
    }
    const size_t at = 3 - spatial + i;
    result.input[at] = input_spatial[i];
    result.output[at] = output_spatial[i];
    result.kernel[at] = window.kernel[i];
    result.stride[at] = window.strides[i];
    result.dilation[at] = window.dilations[i];
    result.pad_begin[at] = pads[i];
  }
  return {};
}

bool is_column(const compute::Window& w) { return w.input[2] == 1 && w.output[2] == 1 && w.kernel[2] == 1 && w.pad_begin[2] == 0; }

compute::Window turned(const compute::Window& column) {
  compute::Window row = column;
  for (int64_t* sizes : {row.input, row.output, row.kernel, row.stride, row.dilation, row.pad_begin})
    std::rotate(sizes, sizes + 2, sizes + 3);
  return row;
}

std::string conv_problem(std::string_view op, DType dtype, const compute::ConvChannels& channels, const compute::Window& w,
                         bool sizes_known) {
  const auto text = [](const int64_t(&sizes)[3]) { return fmt::format("{}", fmt::join(sizes, "x")); };
  return fmt::format("{} {} {}>{} groups {}, kernel {} strides {} dilations {} pads {}, {}", op, to_string(dtype), channels.in,
                     channels.out, channels.groups, text(w.kernel), text(w.stride), text(w.dilation), text(w.pad_begin),
                     sizes_known ? text(w.input) + ">" + text(w.output) : "any size");
}

ops::Sizes spatial_sizes(const ValueType& type, size_t rank) {
  ops::Sizes sizes;
  if (!type.is_tensor() || !type.tensor().dims || type.tensor().dims->size() != rank) return {};
  for (size_t i = 2; i < rank; ++i) {
    const Dim& size = (*type.tensor().dims)[i];
    if (!size.is_constant() || size.value() < 1) return {};
    sizes.push_back(size.value());
  }
  return is_plausible(sizes) ? sizes : ops::Sizes();
}

std::vector<ops::Sizes> likely_sizes(const ValueType& type, const ops::Window& window) {
  const size_t spatial = window.kernel.size();
  // Outputs along an axis of rows, planes and volumes; planes of a multiple of 2 KiB cost more than most (begin_in_line).
  constexpr double kOutputs[] = {500, 28, 14}, kReaches = 4, kMost = double{1LL << 40};
  const bool has_dims = type.is_tensor() && type.tensor().dims && type.tensor().dims->size() >= spatial + 2;
  const int64_t likeliest = ops::kLikelyImages.front();
  std::vector<ops::Sizes> found;
  for (const int64_t image : ops::kLikelyImages) {
    ops::Sizes sizes;
    bool is_open = false;
    for (size_t i = 0; i < spatial; ++i) {
      const Dim dim = has_dims ? (*type.tensor().dims)[i + 2] : Dim();
      const bool is_known = dim.is_constant() && dim.value() > 0;
      is_open |= !is_known;
      if (const auto size = is_known ? dim.value() : spatial == 2 ? ops::likely_size(dim, image) : std::nullopt) {
        sizes.push_back(*size);
        continue;
      }
      const double scale = static_cast<double>(image) / static_cast<double>(likeliest);
      const double outputs = scale * static_cast<double>(window.strides[i]) * kOutputs[std::min<size_t>(spatial, 3) - 1];
      const double reach = static_cast<double>(window.dilations[i]) * static_cast<double>(window.kernel[i] - 1) + 1;
      sizes.push_back(static_cast<int64_t>(std::min(kMost, image < likeliest ? outputs : std::max(outputs, kReaches * reach))));
    }
    if (is_plausible(sizes)) found.push_back(std::move(sizes));
    if (!is_open) break;
  }
  return found;
}

std::vector<compute::Window> likely_windows(const ValueType& type, const ops::Window& window) {
  std::vector<compute::Window> windows;
  for (const ops::Sizes& sizes : likely_sizes(type, window)) windows.push_back(expected_window(window, sizes));
  if (windows.empty()) windows.push_back(expected_window(window, {}));
  return windows;
}

bool is_plausible(const ops::Sizes& sizes) {
  constexpr double kMostElements = double{1LL << 40};
  double elements = 1;
  for (const int64_t size : sizes) elements *= static_cast<double>(size);
  return elements <= kMostElements;
}

compute::Window expected_window(const ops::Window& window, ops::Sizes sizes) {
  const size_t spatial = window.kernel.size();
  ops::Sizes outputs(spatial, 1), pads(spatial, 0);
  if (sizes.empty()) {
    sizes = outputs;
  } else {
    for (size_t i = 0; i < spatial; ++i) outputs[i] = std::max<int64_t>(1, window.output_size(i, sizes[i]));
    pads = window.pads_for(sizes);
  }
  compute::Window geometry;
  if (Status status = conv_window(window, sizes, outputs, pads, geometry); !status.ok())
    throw Error(status.code(), std::string(status.message()));
  return geometry;
}

compute::ConvAccuracy conv_accuracy(Precision precision) {
  switch (precision) {
    case Precision::strict: return compute::ConvAccuracy::strict;
    case Precision::fast: return compute::ConvAccuracy::fast;
    default: return compute::ConvAccuracy::usual;
  }
}

}  // namespace rh::cpu
