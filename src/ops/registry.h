#pragma once

#include <span>
#include <string_view>

#include "ops/inference.h"
#include "ops/node_view.h"

namespace rh {

/// A type as a value, to choose an overload by an attribute struct that is only declared.
template <typename T>
struct Tag {};

/// One row of op_list.inc for one operator name.
struct OpEntry {
  std::string_view domain;  ///< "" is ai.onnx
  std::string_view op_type;
  std::string_view attributes;  ///< name of the attribute struct: what kernel lists are keyed by
  void (*infer)(const NodeView&, InferenceContext&);
};

/// Null where Roundhouse does not know the operator.
const OpEntry* find_op(std::string_view domain, std::string_view op_type);
/// All operators, sorted by domain and name.
std::span<const OpEntry> all_ops();

}  // namespace rh

/// In ops/<family>/<op>.cc, outside any namespace: ties the struct to its row in op_list.inc.
#define RH_DEFINE_OP(Struct)                                                                                            \
  namespace rh::ops {                                                                                                   \
  void infer_node(Tag<Struct>, const NodeView& node, InferenceContext& context) { infer(Struct::read(node), context); } \
  }
