#pragma once

#include <cstdint>

namespace rh::compute {

/// Takes a multiple of `pivot` away from each of `count` rows, `stride` apart: row[column] over `divisor` of it, from column `begin` to
/// `length`, after row[column] has become 0. Serial.
void eliminate_rows(const double* pivot, double divisor, double* rows, int64_t count, int64_t stride, int64_t column, int64_t begin,
                    int64_t length);

}  // namespace rh::compute
