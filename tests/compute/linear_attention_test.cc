#include "compute/attention/linear_attention.h"

#include <cmath>

#include "support.h"

namespace rh::compute {
namespace {

class LinearAttentionTest : public EveryIsa {};

void expect_formula(int64_t tokens, int64_t queries, int64_t depth, int64_t width, bool has_rate) {
  // Rows of tokens lie further apart than they are long. Keys are short, as those of models: longer ones let states grow.
  const int64_t key_stride = depth + 3, value_stride = width + 2, query_stride = queries * depth + 1, y_stride = queries * width + 1;
  const auto decays = random_values(tokens * depth, 1, 0.5, 1), key = random_values(tokens * key_stride, 2, -0.3, 0.3),
             value = random_values(tokens * value_stride, 3), query = random_values(tokens * query_stride, 4),
             given = random_values(depth * width, 5), rate = random_values(2 * tokens, 6, 0, 1);
  std::vector<float> scratch(static_cast<size_t>(linear_attention_scratch(depth, queries)) + 1, 9.0f), state = given;
  std::vector<float> y(static_cast<size_t>(tokens * y_stride), 9.0f);
  LinearTokens some{.depth = depth, .width = width, .count = tokens, .decays = decays.data(), .key = key.data(), .value = value.data()};
  some.rate = has_rate ? rate.data() : nullptr;
  some.key_stride = key_stride, some.value_stride = value_stride, some.rate_stride = 2;
  some.queries = queries, some.query = query.data(), some.query_stride = query_stride, some.scale = 0.3f;
  some.y = y.data(), some.y_stride = y_stride, some.scratch = scratch.data();
  linear_attention(some, state.data());
  EXPECT_EQ(scratch.back(), 9.0f);

  const auto at = [](const std::vector<float>& x, int64_t i) { return static_cast<double>(x[static_cast<size_t>(i)]); };
  for (int64_t column = 0; column < width; ++column) {
    std::vector<double> now(static_cast<size_t>(depth));
    for (int64_t i = 0; i < depth; ++i) now[static_cast<size_t>(i)] = at(given, i * width + column);
    for (int64_t t = 0; t < tokens; ++t) {
      double held = 0;
      for (int64_t i = 0; i < depth; ++i) {
        now[static_cast<size_t>(i)] *= at(decays, t * depth + i);
        held += now[static_cast<size_t>(i)] * at(key, t * key_stride + i);
      }
      double change = at(value, t * value_stride + column);
      if (has_rate) change = (change - held) * at(rate, 2 * t);
      for (int64_t i = 0; i < depth; ++i) now[static_cast<size_t>(i)] += at(key, t * key_stride + i) * change;
      for (int64_t q = 0; q < queries; ++q) {
        double out = 0;
        for (int64_t i = 0; i < depth; ++i) out += 0.3 * now[static_cast<size_t>(i)] * at(query, t * query_stride + q * depth + i);
        EXPECT_NEAR(at(y, t * y_stride + q * width + column), out, 1e-5) << depth << " x " << width << ", token " << t;
      }
      EXPECT_EQ(at(y, t * y_stride + queries * width), 9.0) << "written past a token's results";
    }
    for (int64_t i = 0; i < depth; ++i) {
      EXPECT_NEAR(at(state, i * width + column), now[static_cast<size_t>(i)], 1e-5) << depth << " x " << width;
    }
  }
}

TEST_P(LinearAttentionTest, is_the_formula_for_states_of_all_sizes) {
  constexpr int64_t kTokens = 6, kQueries = 2;
  for (const int64_t depth : {1, 2, 7, 64, 67}) {
    for (const int64_t width : {1, 5, 16, 33, 64, 150}) {
      for (const bool has_rate : {false, true}) expect_formula(kTokens, kQueries, depth, width, has_rate);
    }
  }
}

RH_EVERY_ISA(LinearAttentionTest);

}  // namespace
}  // namespace rh::compute
