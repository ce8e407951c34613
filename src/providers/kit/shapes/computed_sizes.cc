#include "providers/kit/shapes/computed_sizes.h"

#include <algorithm>

namespace rh::kit {

Support refuse_computed_sizes(const ValueType& type, std::string_view what, int index) {
  const TensorType& tensor = type.tensor();
  if (!tensor.has_rank()) return refuse(RhRefusalCode_SHAPE, "{} {} is of a rank that is known in a run alone", what, index);
  for (const Dim& dim : *tensor.dims) {
    bool is_computed = dim.is_unknown();
    dim.for_each_symbol([&](std::string_view name) { is_computed |= is_computed_symbol(name); });
    if (is_computed) return refuse(RhRefusalCode_SHAPE, "{} {} is {}: a size that the run computes", what, index, type.to_string());
  }
  return {};
}

Support refuse_no_elements(const ValueType& type, std::string_view what, int index) {
  const TensorType& tensor = type.tensor();
  if (!tensor.has_rank() || std::ranges::none_of(*tensor.dims, [](const Dim& dim) { return dim.is_constant(0); })) return {};
  return refuse(RhRefusalCode_SHAPE, "{} {} has no elements", what, index);
}

}  // namespace rh::kit
