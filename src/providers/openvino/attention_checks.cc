#include <algorithm>
#include <string_view>

#include "providers/openvino/checks.h"

namespace rh::openvino {

namespace {

using kit::Support, kit::refuse;

constexpr int kUnknown = -1;

/// -1: not known.
int rank_of(const NodeView& node, int i) {
  const TensorType& type = node.input_type(i).tensor();
  return type.has_rank() ? type.rank() : kUnknown;
}

Dim dim_of(const NodeView& node, int i, int axis) {
  const TensorType& type = node.input_type(i).tensor();
  return type.has_rank() && axis < type.rank() ? (*type.dims)[static_cast<size_t>(axis)] : Dim::unknown();
}

// --- Attention of ai.onnx

/// Whether heads of queries may share more than one head of keys, by numbers that only a run tells.
bool has_open_groups(const NodeView& node) {
  const Dim queries = dim_of(node, 0, 1), keys = dim_of(node, 1, 1);
  return !(queries.is_constant() && keys.is_constant()) && queries != keys && !keys.is_constant(1);
}

Support check_standard(const NodeView& node) {
  for (const char* window : {"left_window_size", "right_window_size"}) {
    if (node.int_or(window, -1) >= 0) return refuse(RhRefusalCode_ATTRIBUTE, "it has {}, which OpenVINO leaves out of account", window);
  }
  if (node.has_input(6)) return refuse(RhRefusalCode_SHAPE, "it has nonpad_kv_seqlen, which OpenVINO leaves out of account");
  if (node.flag("is_causal") && node.has_input(4)) {
    return refuse(RhRefusalCode_ATTRIBUTE, "it is causal and has past keys, of which OpenVINO hides too few");
  }
  if (rank_of(node, 0) == 3) return {};
  if ((node.has_output(1) || node.has_output(2)) && !node.has_input(4)) {
    return refuse(RhRefusalCode_SHAPE, "it gives present keys that are its keys as they come, which OpenVINO leaves unwritten");
  }
  if (!has_open_groups(node)) return {};
  return refuse(RhRefusalCode_SHAPE, "its numbers of heads are known in a run alone, for which OpenVINO fails where they form groups");
}

// --- of com.microsoft

/// Whether the mask may have where each sequence ends and where it begins.
bool may_have_begins(const NodeView& node) {
  const int rank = rank_of(node, 4);
  if (rank != 1) return rank == kUnknown;
  const Dim size = dim_of(node, 4, 0), batch = dim_of(node, 0, 0);
  if (size == batch) return false;
  return !size.is_constant() || !batch.is_constant() || size.value() == 2 * batch.value();
}

/// Whether there are as many new keys as queries.
bool has_a_key_for_each_query(const NodeView& node) {
  return !node.has_input(1) || dim_of(node, 0, 1) == dim_of(node, 1, rank_of(node, 1) == 4 ? 2 : 1);
}

/// Of keys whose heads are apart, [batch, heads, length, depth].
Support check_keys_by_head(const NodeView& node) {
  if (node.has_input(3)) return refuse(RhRefusalCode_SHAPE, "its keys have their heads apart, to which OpenVINO adds the bias as well");
  if (!node.has_output(1) && !node.has_output(2)) return {};
  return refuse(RhRefusalCode_SHAPE, "it gives present keys that are its keys as they come, which OpenVINO leaves unwritten");
}

Support check_many_heads(const NodeView& node) {
  const bool may_be_by_head = node.has_input(1) && (rank_of(node, 1) == 4 || rank_of(node, 1) == kUnknown);
  if (may_be_by_head) {
    if (Support refusal = check_keys_by_head(node)) return refusal;
  }
  if (node.has_input(4) && may_have_begins(node)) {
    return refuse(RhRefusalCode_SHAPE, "its mask may say where sequences begin, which OpenVINO leaves out of account");
  }
  if (node.flag("unidirectional") && node.has_input(4)) {
    return refuse(RhRefusalCode_ATTRIBUTE,
                  "it is unidirectional and has a mask, which together may hide all keys, and OpenVINO then has others");
  }
  if (node.flag("unidirectional") && node.has_input(6) && !has_a_key_for_each_query(node)) {
    return refuse(RhRefusalCode_ATTRIBUTE,
                  "it is unidirectional and has past keys and other new ones than queries, of which OpenVINO hides others");
  }
  const int64_t heads = node.int_or("num_heads", 1);
  if (!node.has_input(3) || heads == 1 || !dim_of(node, 0, 1).is_constant(heads)) return {};
  return refuse(RhRefusalCode_SHAPE, "it has a bias and as many queries as heads, which OpenVINO takes for each other");
}

Support check_grouped(const NodeView&) {
  return refuse(RhRefusalCode_OP, "OpenVINO gives present keys no more room than past ones have, and fails for more than one sequence");
}

struct Check {
  std::string_view domain, op_type;
  Support (*check)(const NodeView&);
};
constexpr Check kChecks[] = {
    {"", "Attention", check_standard},
    {"com.microsoft", "GroupQueryAttention", check_grouped},
    {"com.microsoft", "MultiHeadAttention", check_many_heads},
};

}  // namespace

Support check_attention(const NodeView& node) {
  const auto at =
      std::ranges::find_if(kChecks, [&](const Check& check) { return check.domain == node.domain() && check.op_type == node.op_type(); });
  return at == std::end(kChecks) ? Support() : at->check(node);
}

}  // namespace rh::openvino
