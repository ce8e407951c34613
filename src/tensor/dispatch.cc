#include "tensor/dispatch.h"

namespace rh {

std::string DTypeSet::to_string() const {
  std::string text;
  for (int i = 1; i < kDTypeCount; ++i) {
    if (!contains(static_cast<DType>(i))) continue;
    if (!text.empty()) text += ", ";
    text += rh::to_string(static_cast<DType>(i));
  }
  return text;
}

}  // namespace rh
