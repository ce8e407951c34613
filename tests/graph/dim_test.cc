#include "graph/dim.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace rh {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
using Function = Dim::Function;

Dim sym(const char* name) { return Dim::symbol(name); }

std::optional<int64_t> at(const Dim& dim, const std::map<std::string, int64_t, std::less<>>& values) {
  return dim.evaluate([&](std::string_view name) -> std::optional<int64_t> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Dim, NormalForm) {
  const Dim a = sym("a"), b = sym("b"), c = sym("c");
  const struct {
    Dim left, right;
    const char* text;
  } rows[] = {
      {a + b, b + a, "a + b"},
      {(a + b) - a, b, "b"},
      {a - a, Dim(0), "0"},
      {(a + 1) * (a - Dim(1)), a * a - Dim(1), "a*a - 1"},
      {Dim(2) * a * b * Dim(3), b * a * 6, "6*a*b"},
      {a * (b + c), c * a + b * a, "a*b + a*c"},
      {Dim(0) - a, a * -1, "-a"},
      {a * 2 + 1 - a, a + 1, "a + 1"},
      {Dim(0) * sym("x"), Dim(0), "0"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.left, row.right) << row.text;
    EXPECT_EQ(row.left.to_string(), row.text);
    EXPECT_EQ(row.right.to_string(), row.text);
  }
}

TEST(Dim, UnknownEqualsNothing) {
  EXPECT_FALSE(Dim::unknown() == Dim::unknown());
  EXPECT_FALSE(Dim::unknown() == Dim(1));
  EXPECT_TRUE((sym("a") + Dim::unknown()).is_unknown());
  EXPECT_EQ(Dim::unknown() * 0, Dim(0));
}

TEST(Dim, FunctionsOfMultiplesStayPolynomials) {
  const Dim a = sym("a"), b = sym("b");
  const struct {
    Dim dim;
    const char* text;
  } rows[] = {
      {Dim::apply(Function::floor_div, a * 4 + 6, 2), "2*a + 3"},
      {Dim::apply(Function::floor_div, a * 4 + 7, 4), "a + 1"},
      {Dim::apply(Function::ceil_div, a * 4 + 5, 4), "a + 2"},
      {Dim::apply(Function::floor_div, a * 4 - 1, 4), "a - 1"},
      {Dim::apply(Function::mod, a * 4 - 1, 4), "3"},
      {Dim::apply(Function::floor_div, a * b * 12, a * 3), "4*b"},
      {Dim::apply(Function::floor_div, a * b + a * 2, a), "b + 2"},
      {Dim::apply(Function::floor_div, a * 3, Dim(0) - a), "-3"},
      {Dim::apply(Function::floor_div, a, a), "1"},
      {Dim::apply(Function::min, a, a), "a"},
      {Dim::apply(Function::floor_div, a + 1, 2), "floor_div(a + 1, 2)"},
      {Dim::apply(Function::floor_div, a, b), "floor_div(a, b)"},
      {Dim::apply(Function::max, a, 1) * 2, "2*max(a, 1)"},
      {Dim::apply(Function::floor_div, -7, 2), "-4"},
      {Dim::apply(Function::ceil_div, -7, 2), "-3"},
      {Dim::apply(Function::mod, -7, 2), "1"},
  };
  for (const auto& row : rows) EXPECT_EQ(row.dim.to_string(), row.text);
}

TEST(Dim, DivisionByZeroAndOverflowAreUnknown) {
  const Dim a = sym("a");
  EXPECT_TRUE(Dim::apply(Function::floor_div, 3, 0).is_unknown());
  EXPECT_TRUE(Dim::apply(Function::floor_div, kLeast, -1).is_unknown());
  EXPECT_TRUE((Dim(kMost) + 1).is_unknown());
  EXPECT_TRUE((a * kMost + a * kMost).is_unknown());
  EXPECT_TRUE((a * kMost * 2).is_unknown());
  EXPECT_TRUE((Dim(0) - Dim(kLeast)).is_unknown());
  // The quotient would be 2^63: the division stays a function instead.
  EXPECT_EQ(Dim::apply(Function::floor_div, a * kLeast, a * -1).to_string(), "floor_div(-9223372036854775808*a, -a)");
}

TEST(Dim, Evaluate) {
  const Dim a = sym("a"), b = sym("b");
  const Dim half = Dim::apply(Function::floor_div, a - 1, 2) + b * b;
  EXPECT_EQ(at(half, {{"a", 8}, {"b", 3}}), 12);
  EXPECT_EQ(at(half, {{"a", 8}}), std::nullopt);
  EXPECT_EQ(at(a * a, {{"a", int64_t{1} << 32}}), std::nullopt) << "overflow";
  EXPECT_EQ(at(a * kMost + 1, {{"a", 1}}), std::nullopt) << "overflow";
  EXPECT_EQ(at(Dim::apply(Function::floor_div, a, b), {{"a", 8}, {"b", 0}}), std::nullopt) << "division by zero";
  EXPECT_EQ(at(Dim(7), {}), 7);
  EXPECT_EQ(at(Dim(), {}), std::nullopt);
}

TEST(Dim, NamesThatLookLikeExpressionsAreNotThese) {
  EXPECT_FALSE(sym("a + 1") == sym("a") + 1);
  EXPECT_FALSE(sym("2*a") == sym("a") * 2);
  EXPECT_FALSE(sym("floor_div(a, b)") == Dim::apply(Function::floor_div, sym("a"), sym("b")));
  EXPECT_EQ(sym("past + 1").to_string(), "\"past + 1\"");
  EXPECT_EQ(sym("past + 1").symbol_name(), "past + 1");
  EXPECT_EQ((sym("past + 1") + 1).symbol_name(), "");
}

TEST(Dim, SizeIsBounded) {
  Dim sum(0);
  for (int i = 0; i < 100; ++i) sum = sum + sym(("s" + std::to_string(i)).c_str());
  EXPECT_TRUE(sum.is_unknown());
  Dim power(1);
  for (int i = 0; i < 100; ++i) power = power * sym("a");
  EXPECT_TRUE(power.is_unknown());
  Dim nested = sym("a");
  for (int i = 0; i < 1000; ++i) nested = Dim::apply(Function::mod, nested, 7) + 1;
  EXPECT_TRUE(nested.is_unknown());
}

TEST(Dim, VisitsEverySymbol) {
  std::string seen;
  (Dim::apply(Function::max, sym("a"), sym("b") + 1) * sym("c")).for_each_symbol([&](std::string_view name) { seen += name; });
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, "abc");
}

}  // namespace
}  // namespace rh
