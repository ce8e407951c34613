#include "ops/nn/normalization.h"

#include <algorithm>

#include "ops/impossible_shapes.h"
#include "ops/nn/block_channels.h"
#include "ops/registry.h"

namespace rh::ops {

BatchNormalization BatchNormalization::read(const NodeView& node) {
  BatchNormalization op{.epsilon = node.float_or("epsilon", 1e-5f), .momentum = node.float_or("momentum", 0.9f)};
  if (node.op_type() == "FusedBatchNormalization") {
    op.activation = FusedActivation::read_of_channels(node);
    op.blocked = node.flag("blocked");
    op.sum_first = node.flag("sum_first");
  } else if (node.opset() >= 14) {
    op.training = node.flag("training_mode");
  } else {
    op.spatial = node.opset() >= 9 || node.flag("spatial", true);
    op.training = node.opset() < 7 ? !node.flag("is_test") && node.output_count() > 1 : node.output_count() > 1;
  }
  return op;
}

void infer(const BatchNormalization& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, x);
  if (x.has_rank() && x.rank() > 1) {
    const Dim& channels = (*x.dims)[1];
    for (int i = 1; i < 5 && context.has_input(i); ++i) {
      const TensorType& t = context.input_tensor(i);
      if (!t.has_rank() || t.rank() == 0) continue;
      const Dim& size = t.dims->back();
      if (t.rank() != 1 || !size.is_constant() || !channels.is_constant()) continue;
      // The last block may have fewer channels than it has room for.
      const int64_t blocks = (size.value() + kChannelBlock - 1) / kChannelBlock;
      if ((op.blocked ? blocks : size.value()) != channels.value()) {
        constexpr auto kText = "input {} has {} values, expected {}, one a channel";
        const int64_t expected = op.blocked ? channels_of_blocks(channels).value() : channels.value();
        if (context.node().opset() < 14) fail_when_run(context.node(), kText, i, size.value(), expected);
        context.node().fail(kText, i, size.value(), expected);
      }
    }
  }
  for (int i = 1; i < context.output_count(); ++i) context.set_output(i, context.input_tensor(i < 3 ? i + 2 : i));
}

LayerNormalization LayerNormalization::read(const NodeView& node) {
  const int64_t stash_type = node.int_or("stash_type", 1);
  if (const bool is_floating = stash_type == 1 || stash_type == 10 || stash_type == 11 || stash_type == 16; !is_floating)
    node.fail("attribute 'stash_type' is {}, expected 1 (float) or 16 (bfloat16)", stash_type);
  const bool of_channels = node.op_type() == "ChannelNormalization";
  return {.axis = node.int_or("axis", -1),
          .epsilon = node.float_or("epsilon", 1e-5f),
          .rms = node.op_type() == "RMSNormalization" || node.op_type() == "SimplifiedLayerNormalization",
          .of_channels = of_channels,
          .stash_type = static_cast<DType>(stash_type),
          .activation = of_channels ? FusedActivation::read_of_channels(node) : FusedActivation{}};
}

void infer(const LayerNormalization& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const DType scale_type = context.has_input(1) ? context.input_dtype(1) : x.dtype;
  TensorType y = x;
  if (op.rms && scale_type != DType::undefined) y.dtype = scale_type;
  context.set_output(0, y);
  if (op.of_channels) return;
  std::optional<SymbolicShape> statistics;
  if (x.has_rank()) {
    const int axis = context.check_axis("axis", op.axis, x.rank());
    statistics = x.dims;
    for (int i = axis; i < x.rank(); ++i) (*statistics)[static_cast<size_t>(i)] = Dim(1);
  }
  context.set_output(1, op.stash_type, statistics);
  context.set_output(2, op.stash_type, statistics);
}

GroupNormalization GroupNormalization::read(const NodeView& node) {
  GroupNormalization op{.epsilon = node.float_or("epsilon", 1e-5f)};
  const bool is_fused = node.op_type() == "FusedGroupNormalization";
  if (is_fused) op.activation = FusedActivation::read_of_channels(node);
  if (is_fused ? !node.has("num_groups") : node.op_type() == "InstanceNormalization") return op;
  op.groups = node.required_int("num_groups");
  if (op.groups < 1) node.fail("num_groups is {}, expected at least 1", op.groups);
  op.per_group_scale = is_fused ? node.flag("per_group_scale") : node.opset() < 21;
  return op;
}

void infer(const GroupNormalization& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank()) {
    if (x.rank() < 2) context.node().fail("input has rank {}, expected at least 2: [N, C, ...]", x.rank());
    const Dim& channels = (*x.dims)[1];
    if (op.groups > 0 && channels.is_constant() && channels.value() % op.groups != 0) {
      context.node().fail("{} channels cannot be divided among {} groups", channels.value(), op.groups);
    }
  }
  context.set_output(0, x);
}

Lrn Lrn::read(const NodeView& node) {
  Lrn op{.alpha = node.float_or("alpha", 1e-4f),
         .beta = node.float_or("beta", 0.75f),
         .bias = node.float_or("bias", 1),
         .size = node.required_int("size")};
  if (op.size < 1) node.fail("size is {}, expected at least 1", op.size);
  return op;
}

void infer(const Lrn&, InferenceContext& context) { context.set_output(0, context.input_tensor(0)); }

AxisNormalization AxisNormalization::read(const NodeView& node) {
  AxisNormalization op;
  op.mean_variance = node.op_type() == "MeanVarianceNormalization";
  op.p = node.int_or("p", 2);
  if (op.mean_variance && node.opset() < 9) {
    op.axes = node.flag("across_channels") ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 2, 3};
    op.keeps_variance = node.int_or("normalize_variance", 1) == 0;
  } else if (op.mean_variance) {
    op.axes = node.ints_or("axes", {0, 2, 3});
  } else {
    op.axes = {node.int_or("axis", -1)};
    if (op.p != 1 && op.p != 2) node.fail("p is {}, expected 1 or 2", op.p);
  }
  return op;
}

InlineVector<int64_t, 8> AxisNormalization::axes_of(int rank) const {
  InlineVector<int64_t, 8> all;
  for (int64_t axis : axes)
    if (!mean_variance || (axis >= -rank && axis < rank)) all.push_back(normalize_axis(axis, rank));
  std::ranges::sort(all);
  const auto [end, rest] = std::ranges::unique(all);
  all.resize(static_cast<size_t>(end - all.begin()));
  if (all.empty()) fail(ErrorCode::invalid_argument, "axes are {}, expected one at least of a tensor of rank {}", to_string(axes), rank);
  return all;
}

void infer(const AxisNormalization& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && op.mean_variance) op.axes_of(x.rank());
  if (x.has_rank() && !op.mean_variance) context.check_axis("axis", op.axes[0], x.rank());
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(BatchNormalization)
RH_DEFINE_OP(LayerNormalization)
RH_DEFINE_OP(GroupNormalization)
RH_DEFINE_OP(Lrn)
RH_DEFINE_OP(AxisNormalization)
