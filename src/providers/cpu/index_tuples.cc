#include "providers/cpu/index_tuples.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

/// Whether all lie within their dimensions; kSize is the number of indices of a tuple, or 0 where it is known at run time alone.
template <int kSize>
bool places_of(const IndexTuples& t, int64_t begin, int64_t end, int64_t* places) {
  const int64_t size = kSize > 0 ? kSize : t.size;
  const int64_t* index = t.indices + begin * size;
  bool outside = false;
  for (int64_t i = begin; i < end; ++i) {
    uint64_t place = 0;  // of indices that lie outside, anywhere
    for (int64_t k = 0; k < size; ++k) {
      int64_t at = *index++;
      at += at < 0 ? t.dims[k] : 0;
      outside |= static_cast<uint64_t>(at) >= static_cast<uint64_t>(t.dims[k]);
      place += static_cast<uint64_t>(at) * static_cast<uint64_t>(t.strides[k]);
    }
    *places++ = static_cast<int64_t>(place);
  }
  return !outside;
}

}  // namespace

void IndexTuples::places(int64_t begin, int64_t end, int64_t* places) const {
  const auto of_size = size == 1   ? places_of<1>
                       : size == 2 ? places_of<2>
                       : size == 3 ? places_of<3>
                       : size == 4 ? places_of<4>
                                   : places_of<0>;
  if (of_size(*this, begin, end, places)) return;
  for (int64_t i = begin * size; i < end * size; ++i) checked_index(indices[i], dims[i % size], what);
}

}  // namespace rh::cpu
