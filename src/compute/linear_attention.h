#pragma once

#include <cstdint>

namespace rh::compute {

/// One token of linear attention, on a state of `depth` rows and `width` columns.
struct LinearToken {
  int64_t depth = 0, width = 0;
  const float* decays = nullptr;  ///< a factor of each row
  const float* key = nullptr;     ///< of `depth`
  const float* value = nullptr;   ///< of `width`
  const float* rate = nullptr;    ///< one number: the value gives way to rate (value - state' key); null: it is added as it is
  int64_t queries = 1;            ///< of `depth` each
  const float* const* query = nullptr;
  float scale = 1;
  float* decayed_key = nullptr;  ///< `depth` floats to work on
};

/// state = decays state + key value'; y[i] = scale state' query[i], one after the other.
void linear_attention_token(const LinearToken& token, float* state, float* y);

}  // namespace rh::compute
