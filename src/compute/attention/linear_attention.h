#pragma once

#include <cstdint>

namespace rh::compute {

/// Tokens of linear attention, one after the other, on a state of `depth` rows and `width` columns. Strides are those of tokens.
struct LinearTokens {
  int64_t depth = 0, width = 0, count = 0;
  const float* decays = nullptr;  ///< [count, depth], a factor of each row
  const float* key = nullptr;     ///< rows of `depth`
  const float* value = nullptr;   ///< rows of `width`
  const float* rate = nullptr;    ///< one number a token: the value gives way to rate (value - state' key); null: it is added as it is
  int64_t key_stride = 0, value_stride = 0, rate_stride = 0;
  int64_t queries = 1;
  const float* query = nullptr;  ///< rows of [queries, depth]
  int64_t query_stride = 0;
  float scale = 1;
  float* y = nullptr;  ///< rows of [queries, width]
  int64_t y_stride = 0;
  float* scratch = nullptr;  ///< linear_attention_scratch() floats to work on
};

int64_t linear_attention_scratch(int64_t depth, int64_t queries);

/// For each token: state = decays state + key value'; y row i = scale state' query row i.
void linear_attention(const LinearTokens& tokens, float* state);

}  // namespace rh::compute
