#include "support/op_case.h"
#include "tensor/packed_format.h"

namespace rh::test {
namespace {

/// Rows of blocks with bytes of all values, but for the halves that scale a block, which are numbers near 1.
Input packed_rows(PackedFormat format, int64_t rows, int64_t columns) {
  const PackedLayout& layout = *find_packed_layout(static_cast<int64_t>(format));
  const int64_t bytes = rows * columns / layout.block * layout.bytes;
  std::vector<double> all(static_cast<size_t>(bytes));
  uint32_t state = 1;
  for (double& byte : all) byte = (state = state * 1664525 + 1013904223) >> 24;
  const auto set_high = [&](int64_t at) {  // the upper byte of a half
    for (int64_t i = at; i < bytes; i += layout.bytes) all[static_cast<size_t>(i)] = 0x3A + static_cast<double>(i % 3);
  };
  if (format == PackedFormat::q6_k) {
    set_high(209);
  } else if (layout.block > 1 || format == PackedFormat::float16 || format == PackedFormat::bfloat16) {
    set_high(1);
    if (format == PackedFormat::q5_k) set_high(3);
  } else {
    set_high(3);
  }
  return values({rows, bytes / rows}, std::move(all)).constant();
}

std::vector<Attribute> of(PackedFormat format, int columns, DType type = DType::float32) {
  return {attr("packed_type", static_cast<int>(format)), attr("K", columns), attr("output_dtype", static_cast<int>(type))};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const PackedLayout& layout : kPackedLayouts) {
    const int columns = static_cast<int>(layout.block) * (layout.block > 64 ? 2 : 4);
    all.push_back(contributed(of(layout.format, columns), {packed_rows(layout.format, 7, columns), ints({6, 0, 3})}, layout.name));
  }
  const Input rows = packed_rows(PackedFormat::q4_0, 5, 64);
  const Input picked = values({2, 2}, {1, 4, 0, 1}).as(DType::int32);
  all.push_back(contributed({attr("packed_type", 2), attr("K", 64)}, {rows, picked}, "bfloat16 unless said otherwise"));
  all.push_back(contributed(of(PackedFormat::q4_0, 64, DType::float16), {rows, picked}, "float16"));
  all.push_back(contributed(of(PackedFormat::q4_0, 64), {rows, ints({-1, 5, 99999, 2})}, "an index out of range takes row 0"));
  all.push_back(contributed(of(PackedFormat::q4_0, 64), {rows, values({0}, {}).as(DType::int64)}, "no indices"));
  all.push_back(contributed({attr("packed_type", 12), attr("K", 256)}, {rows, picked}, "an unknown format", {"packed_type is 12", "q4_0"}));
  all.push_back(contributed(of(PackedFormat::q4_0, 48), {rows, picked}, "K", {"K is 48", "multiple of 32"}));
  all.push_back(contributed(of(PackedFormat::q4_0, 0), {rows, picked}, "no K", {"K is 0"}));
  all.push_back(contributed(of(PackedFormat::q4_0, 96), {rows, picked}, "bytes of a row", {"36", "54"}));
  all.push_back(contributed(of(PackedFormat::q4_0, 64, DType::float64), {rows, picked}, "type", {"output_dtype is double"}));
  return all;
}

TEST(OpCases, GatherPacked) { run_op_cases("GatherPacked", cases(), DTypeSet{DType::uint8}); }

}  // namespace
}  // namespace rh::test
