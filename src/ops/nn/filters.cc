#include "ops/nn/filters.h"

#include "ops/impossible_shapes.h"

namespace rh::ops {

int64_t read_group(const NodeView& node) {
  const int64_t group = node.int_or("group", 1);
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  if (group < 1 || group > kMost) node.fail("group is {}, expected a value in [1, {}]", group, kMost);
  return group;
}

Window read_filter_window(const NodeView& node, int weights) {
  Window window = Window::read(node);
  const ValueType& type = node.input_type(weights);
  if (!type.is_tensor() || !type.tensor().has_rank()) return window;
  const SymbolicShape& dims = *type.tensor().dims;
  if (dims.size() < 3) node.fail("weights have rank {}, expected at least 3: [M, C/group, kernel...]", dims.size());
  const size_t spatial = dims.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    if (!dims[i + 2].is_constant()) continue;
    if (window.kernel.size() == i) window.kernel.push_back(dims[i + 2].value());
    if (window.kernel.size() > i && window.kernel[i] != dims[i + 2].value()) {
      fail_when_run(node, "kernel_shape[{}] is {} but the weights have shape {}", i, window.kernel[i], to_string(dims));
    }
  }
  if (window.kernel.size() == spatial) window.complete(node, static_cast<int>(spatial));
  return window;
}

std::optional<SymbolicShape> filtered_shape(const Window& window, int64_t group, const InferenceContext& context, int weights,
                                            bool x_channels_last, bool y_channels_last) {
  const TensorType &x = context.input_tensor(0), &w = context.input_tensor(weights);
  if (!x.has_rank() || !w.has_rank()) return std::nullopt;
  if (x.rank() != w.rank() || x.rank() < 3) {
    constexpr auto kText = "input {} and weights {} have ranks that do not fit, expected the same rank, at least 3";
    if (x.rank() >= 3 && context.node().has("kernel_shape")) fail_when_run(context.node(), kText, to_string(*x.dims), to_string(*w.dims));
    context.node().fail(kText, to_string(*x.dims), to_string(*w.dims));
  }
  const size_t rank = x.dims->size(), from = x_channels_last ? 1 : 2, to = y_channels_last ? 1 : 2;
  const Dim &channels = (*x.dims)[x_channels_last ? rank - 1 : 1], &filters = (*w.dims)[0], &per_group = (*w.dims)[1];
  const Dim expected = per_group * Dim(group);
  if (channels.is_constant() && expected.is_constant() && channels.value() != expected.value()) {
    fail_when_run(context.node(), "input has {} channels, expected {} (weights {}, group {})", channels.value(), expected.value(),
                  to_string(*w.dims), group);
  }
  if (filters.is_constant() && filters.value() % group != 0) {
    fail_when_run(context.node(), "{} filters cannot be divided among {} groups", filters.value(), group);
  }
  SymbolicShape dims(rank);
  dims[0] = (*x.dims)[0];
  dims[y_channels_last ? rank - 1 : 1] = filters;
  const bool complete = window.is_complete(rank - 2);
  for (size_t i = 0; i + 2 < rank; ++i) dims[to + i] = complete ? window.output_dim(i, (*x.dims)[from + i]) : Dim();
  return dims;
}

}  // namespace rh::ops
