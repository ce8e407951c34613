#pragma once

#include <string>

#include "ops/inference.h"

namespace rh::ops {

/// A node whose shapes cannot be, as far as they are known at load: running it is an error. Its output is of the type of its first input.
struct Unrunnable {
  std::string message;

  static Unrunnable read(const NodeView& node);
};

void infer(const Unrunnable& op, InferenceContext& context);

/// The node becomes one that gives `message` when it runs.
void make_unrunnable(Node& node, const std::string& message);

}  // namespace rh::ops
