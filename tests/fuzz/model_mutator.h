#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rh::fuzz {

/// Changes a model file, by structure where it can be read as one: dimensions, attributes, index tensors, edges, types, operators, whole
/// nodes. The result depends on nothing but the arguments and has at most `max_size` bytes.
std::string mutate_model(std::string_view model, size_t max_size, uint32_t seed);

/// The first model with parts of the second.
std::string cross_models(std::string_view a, std::string_view b, size_t max_size, uint32_t seed);

/// One of the numbers at which code goes wrong: around powers of two, small ones, the ends of the range.
template <typename Random>
int64_t interesting_integer(Random& random) {
  static constexpr int64_t kNumbers[] = {0,
                                         1,
                                         -1,
                                         2,
                                         -2,
                                         3,
                                         4,
                                         5,
                                         7,
                                         8,
                                         15,
                                         16,
                                         17,
                                         63,
                                         64,
                                         255,
                                         256,
                                         1000,
                                         65536,
                                         INT32_MAX,
                                         INT32_MIN,
                                         int64_t{1} << 32,
                                         int64_t{1} << 40,
                                         int64_t{1} << 61,
                                         int64_t{1} << 62,
                                         INT64_MAX,
                                         INT64_MAX - 1,
                                         INT64_MIN,
                                         INT64_MIN + 1,
                                         -100};
  const auto choice = random();
  const int64_t number = kNumbers[choice / 2 % std::size(kNumbers)];
  return choice % 2 ? number : static_cast<int64_t>(random() % 9) - 2;
}

}  // namespace rh::fuzz
