#include "providers/cpu/reduction.h"

namespace rh::cpu {

ReductionLoop::ReductionLoop(const Shape& shape, std::span<const bool> reduced) {
  struct Group {
    int64_t size = 1, stride = 1;
    bool reduced = false;
  };
  InlineVector<Group, 8> groups;  // innermost first
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (!groups.empty() && groups[groups.size() - 1].reduced == reduced[i]) {
      groups[groups.size() - 1].size *= shape[i];
    } else {
      groups.push_back({shape[i], stride, reduced[i]});
    }
    stride *= shape[i];
  }
  if (groups.empty()) return;
  inner_ = groups[0].size;
  inner_is_reduced_ = groups[0].reduced;
  for (size_t i = groups.size() - 1; i > 0; --i) {
    (groups[i].reduced ? reduced_ : kept_).push_back(groups[i].size);
    (groups[i].reduced ? reduced_strides_ : kept_strides_).push_back(groups[i].stride);
  }
}

}  // namespace rh::cpu
