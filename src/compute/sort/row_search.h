#pragma once

#include <cstdint>

namespace rh::compute {

/// The place of the first of `count` floats that comes before `limit` among the largest (NaN first) or the smallest (NaN last); `count`
/// where none does.
int64_t find_beyond(const float* x, int64_t count, float limit, bool largest);

/// The place of the first of `count` floats that is not below `limit`; `count` where none is.
int64_t find_not_below(const float* x, int64_t count, float limit);

/// A number that at least k of `count` floats are not below (not above, of the smallest), close to the k-th of them; NaN where one of them
/// is NaN or k is too many for the like, and perhaps where there are infinities of both signs.
float kth_bound(const float* x, int64_t count, int64_t k, bool largest);
/// The places of the floats that are not below (above) `limit`, rising, as far as `places` has room for them; how many there are. `count`
/// is less than 2^31.
int64_t find_from(const float* x, int64_t count, float limit, bool largest, int32_t* places, int64_t room);

inline constexpr int64_t kArgColumns = 64;
/// Rows of the largest or smallest of kArgColumns neighbouring columns of [length, stride]: the first or the last of equal ones, and a
/// NaN before all numbers. `length` is 1 to 2^31 - 1.
void arg_columns(const float* x, int64_t length, int64_t stride, bool largest, bool last, int64_t* indices);

/// y[i] = condition[i] ? a[i] : b[i], of words; a or b is one word for all where its step is 0. y may be a or b.
void select_words(const bool* condition, const uint32_t* a, int64_t a_step, const uint32_t* b, int64_t b_step, uint32_t* y, int64_t count);

}  // namespace rh::compute
