#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/inference.h"
#include "providers/provider.h"

namespace rh {

/// Operators that the user of a session brings. They come before those that Roundhouse knows by the same name.
class CustomOperators {
 public:
  virtual ~CustomOperators() = default;
  /// Types of the outputs of a node; false where it is none of these operators. Throws Error where the operator refuses the node.
  virtual bool infer(const NodeView& node, InferenceContext& context) const = 0;
  /// Those that have operators. A model may use one that it does not import.
  virtual std::vector<std::string> domains() const = 0;
  /// Whether some are of the standard's domain.
  virtual bool are_standard() const = 0;
  /// The provider with kernels for those of these operators that are meant for it.
  virtual std::shared_ptr<Provider> added_to(std::shared_ptr<Provider> provider) const = 0;
};

}  // namespace rh
