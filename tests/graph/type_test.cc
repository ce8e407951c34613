#include "graph/type.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace rh {
namespace {

ValueType floats(SymbolicShape dims) { return ValueType::tensor(DType::float32, std::move(dims)); }

TEST(Merge, KnownBeatsUnknownAndNumbersBeatSymbols) {
  const Dim n = Dim::symbol("N");
  const struct {
    ValueType declared, inferred;
    const char* text;
  } rows[] = {
      {{}, floats({2}), "tensor(float)[2]"},
      {floats({2}), {}, "tensor(float)[2]"},
      {floats({n, 3}), floats({2, Dim()}), "tensor(float)[2, 3]"},
      {floats({2, Dim()}), floats({n, Dim()}), "tensor(float)[2, ?]"},
      {ValueType::tensor(DType::undefined, SymbolicShape{n}), ValueType::tensor(DType::int64), "tensor(int64)[N]"},
      {ValueType::sparse({DType::float32, SymbolicShape{Dim()}}), ValueType::sparse({DType::float32, SymbolicShape{4}}),
       "sparse_tensor(float)[4]"},
      {ValueType::sequence_of({}), ValueType::sequence_of(floats({1})), "seq(tensor(float))"},
      {ValueType::optional_of(ValueType::tensor(DType::undefined)), ValueType::optional_of(floats({1})), "optional(tensor(float))"},
  };
  for (const auto& row : rows) EXPECT_EQ(merge(row.declared, row.inferred, "x").to_string(), row.text);
}

TEST(Merge, ContradictionsNameTheValue) {
  const struct {
    ValueType declared, inferred;
    const char* part;
  } rows[] = {
      {floats({2}), floats({3}), "dimension 0 of 'x' is declared as 2 but its operator gives 3"},
      {floats({2}), floats({2, 1}), "rank 1"},
      {floats({2}), ValueType::tensor(DType::int32), "element type float"},
      {floats({2}), ValueType::sequence_of(floats({2})), "seq(tensor(float))"},
      {ValueType::sequence_of(floats({2})), ValueType::sequence_of(ValueType::tensor(DType::int32)), "element of 'x'"},
  };
  for (const auto& row : rows) {
    try {
      merge(row.declared, row.inferred, "'x'");
      ADD_FAILURE() << "no error: " << row.part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::fail);
      EXPECT_NE(error.message().find(row.part), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("'x'"), std::string::npos) << error.message();
    }
  }
}

}  // namespace
}  // namespace rh
