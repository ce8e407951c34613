#include "ops/ml/post_transform.h"

namespace rh::ops {

PostTransform read_post_transform(const NodeView& node) {
  static constexpr std::string_view names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const std::string name = node.string_or("post_transform", "NONE");
  for (size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<PostTransform>(i);
  }
  node.fail("attribute 'post_transform' is '{}', expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", name);
}

}  // namespace rh::ops
