#pragma once

#include <cstdint>

namespace rh::cpu {

/// Tuples of indices into some dimensions, as GatherND and ScatterND take them.
struct IndexTuples {
  const int64_t* indices;  ///< [tuple, size]
  int64_t size;
  const int64_t* dims;     ///< of the dimensions that they choose from
  const int64_t* strides;  ///< of these, in elements
  const char* what;        ///< of the error

  /// Where tuples [begin, end) point to, in elements: places[0] is that of tuple `begin`. Throws as checked_index().
  void places(int64_t begin, int64_t end, int64_t* places) const;
};

}  // namespace rh::cpu
