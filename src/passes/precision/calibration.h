#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rh::precision {

/// What is known of the elements of a tensor: the range in which they were seen, or how they are to be quantised.
struct TensorScale {
  double low = 0, high = 0;         ///< where `scale` is left out
  std::optional<float> scale = {};  ///< of one step of 8 bits
  int zero_point = 0;               ///< the code that stands for 0; of `scale` alone

  /// The largest magnitude that the entry speaks of.
  double magnitude() const;
};

/// Scales by the names of tensors.
using Calibration = std::map<std::string, TensorScale, std::less<>>;

/// Reads a table, in one of two forms. JSON: {"name": {"low": -1, "high": 2}, "other": {"scale": 0.1, "zero_point": 3}}. Lines: a header,
/// then "name: 3c010a14" with the bits of a symmetric scale in hexadecimal, as caches of calibration have them. Throws
/// Error{invalid_argument} naming the tensor, or the line, and what is wrong with it.
Calibration parse_calibration(std::string_view text);

}  // namespace rh::precision
