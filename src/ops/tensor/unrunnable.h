#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// A node that cannot run as its attributes and shapes are, as far as they are known at load: running it is an error.
struct Unrunnable {
  std::string message;
  ErrorCode code = ErrorCode::invalid_argument;  ///< as a kernel's: invalid_argument stands for what the operator has
  std::vector<int64_t> types;                    ///< of its outputs, by number; 0 where they are not known or no tensors

  static Unrunnable read(const NodeView& node);
};

void infer(const Unrunnable& op, InferenceContext& context);

/// The node becomes one that gives `message` when it runs. Its outputs have the types that its schema gives them.
void make_unrunnable(const NodeView& view, Node& node, ErrorCode code, const std::string& message);

/// The node that was made unrunnable, as the model has it; nothing for other nodes.
std::optional<Node> runnable_form(const Node& node);

}  // namespace rh::ops
