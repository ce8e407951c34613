#pragma once

#include <cstdint>

#include "ops/node_view.h"

namespace rh::ops {

/// What is done to the scores of classical models: attribute post_transform of ai.onnx.ml operators.
enum class PostTransform : uint8_t { none, softmax, logistic, softmax_zero, probit };

/// From the name in the attribute, "NONE" where it is absent.
PostTransform read_post_transform(const NodeView& node);

}  // namespace rh::ops
