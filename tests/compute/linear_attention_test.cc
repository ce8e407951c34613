#include "compute/linear_attention.h"

#include <cmath>

#include "support.h"

namespace rh::compute {
namespace {

class LinearAttentionTest : public EveryIsa {};

TEST_P(LinearAttentionTest, is_the_formula_for_states_of_all_sizes) {
  for (const int64_t depth : {1, 2, 7, 64}) {
    for (const int64_t width : {1, 5, 16, 33, 64, 150}) {
      for (const bool has_rate : {false, true}) {
        const size_t d = static_cast<size_t>(depth), w = static_cast<size_t>(width);
        const auto decays = random_values(depth, 1, 0.5, 1), key = random_values(depth, 2), value = random_values(width, 3),
                   queries = random_values(2 * depth, 4), given = random_values(depth * width, 5);
        const float rate = 0.7f;
        const float* const query[] = {queries.data(), queries.data() + depth};
        std::vector<float> decayed(d), state = given, y(2 * w + 1, 9.0f);
        linear_attention_token(
            {depth, width, decays.data(), key.data(), value.data(), has_rate ? &rate : nullptr, 2, query, 0.3f, decayed.data()},
            state.data(), y.data());
        EXPECT_EQ(y.back(), 9.0f);
        for (size_t column = 0; column < w; ++column) {
          double held = 0, out[2] = {};
          for (size_t i = 0; i < d; ++i) held += static_cast<double>(given[i * w + column] * decays[i]) * static_cast<double>(key[i]);
          double change = static_cast<double>(value[column]);
          if (has_rate) change = (change - held) * static_cast<double>(rate);
          for (size_t i = 0; i < d; ++i) {
            const double now = static_cast<double>(given[i * w + column] * decays[i]) + static_cast<double>(key[i]) * change;
            EXPECT_NEAR(state[i * w + column], now, 1e-5) << depth << " x " << width;
            for (size_t q = 0; q < 2; ++q) out[q] += 0.3 * now * static_cast<double>(queries[q * d + i]);
          }
          for (size_t q = 0; q < 2; ++q) EXPECT_NEAR(y[q * w + column], out[q], 1e-5) << depth << " x " << width;
        }
      }
    }
  }
}

RH_EVERY_ISA(LinearAttentionTest);

}  // namespace
}  // namespace rh::compute
