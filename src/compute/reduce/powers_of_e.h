#pragma once

#include <array>

namespace rh::compute {

/// e^-i, and those of multiples of 8.
struct PowersOfE {
  static constexpr int kCount = 64;
  std::array<double, kCount> ones;
  std::array<double, kCount / 8> eights;
};

}  // namespace rh::compute
