#include "session/binding.h"

#include <gtest/gtest.h>

#include <random>

namespace rh::test {
namespace {

Dim d(const char* name) { return Dim::symbol(name); }

TEST(SizeProgram, EvaluatesExpressions) {
  SizeProgram program;
  program.add_symbol("a");
  program.add_symbol("b");
  using F = Dim::Function;
  const std::pair<Dim, int64_t> cases[] = {
      {Dim(7), 7},
      {d("a"), 10},
      {d("a") * d("b") * Dim(3) + Dim(1), 91},
      {d("a") - d("b") * d("b"), 1},
      {Dim::apply(F::floor_div, d("a"), Dim(4)), 2},
      {Dim::apply(F::ceil_div, d("a"), Dim(4)), 3},
      {Dim::apply(F::mod, d("a"), d("b")), 1},
      {Dim::apply(F::max, d("a"), d("b")) + Dim::apply(F::min, d("a"), d("b")), 13},
  };
  std::vector<SizeProgram::Register> registers;
  for (const auto& [dim, expected] : cases) registers.push_back(program.add(dim));
  std::vector<int64_t> values(static_cast<size_t>(program.registers()));
  values[0] = 10;
  values[1] = 3;
  program.evaluate(values);
  for (size_t i = 0; i < registers.size(); ++i) {
    EXPECT_EQ(values[static_cast<size_t>(registers[i])], cases[i].second) << cases[i].first.to_string();
  }
}

TEST(SizeProgram, SharesEqualExpressionsAndRefusesUnknownSymbols) {
  SizeProgram program;
  program.add_symbol("a");
  EXPECT_EQ(program.add(d("a") + Dim(1)), program.add(Dim(1) + d("a")));
  EXPECT_EQ(program.add(d("z") * Dim(2)), SizeProgram::kNone);
  EXPECT_EQ(program.add(Dim()), SizeProgram::kNone);
}

TEST(SizeProgram, SaysWhereNothingCanBeTold) {
  SizeProgram program;
  program.add_symbol("a");
  program.add_symbol("b");
  const auto divided = program.add(Dim::apply(Dim::Function::floor_div, d("a"), d("b")) + Dim(1));
  const auto large = program.add(d("a") * d("a") * d("a"));
  std::vector<int64_t> values(static_cast<size_t>(program.registers()));
  values[0] = int64_t{1} << 40;
  values[1] = 0;
  program.evaluate(values);
  EXPECT_EQ(values[static_cast<size_t>(divided)], SizeProgram::kInvalid);
  EXPECT_EQ(values[static_cast<size_t>(large)], SizeProgram::kInvalid);
}

TEST(Bucket, RoundsUpByAnEighth) {
  const std::pair<int64_t, int64_t> cases[] = {{0, 0}, {5, 5}, {16, 16}, {17, 18}, {100, 104}, {1000, 1024}, {1025, 1152}};
  for (const auto& [value, expected] : cases) EXPECT_EQ(bucket(value), expected) << value;
}

/// Two buffers of n and n * m floats.
struct Bound {
  SizeProgram program;
  std::vector<BufferSize> sizes;
  MemoryPlanner planner{Schedule{1, 2, {{0, {}, {}, {0}}, {0, {}, {0}, {1}}}}};
  std::unique_ptr<BindingCache> cache;

  Bound() {
    program.add_symbol("n");
    program.add_symbol("m");
    sizes.push_back({program.add(d("n")), 0, 32});
    sizes.push_back({program.add(d("n") * d("m")), 0, 32});
    cache = std::make_unique<BindingCache>(program, sizes, planner);
  }
  std::shared_ptr<const Binding> find(int64_t n, int64_t m) { return cache->find(std::vector<int64_t>{n, m}); }
};

TEST(BindingCache, CoversWhatIsAskedFor) {
  Bound bound;
  const auto binding = bound.find(100, 3);
  EXPECT_TRUE(binding->covers(std::vector<int64_t>{100, 3}));
  EXPECT_FALSE(binding->covers(std::vector<int64_t>{100, 4}));
  EXPECT_GE(binding->bytes[0], 400);
  EXPECT_GE(binding->bytes[1], 1200);
  EXPECT_GE(binding->arena_bytes, binding->bytes[0] + binding->bytes[1]);
  EXPECT_EQ(bound.find(90, 2), binding);
}

TEST(BindingCache, GrowthBindsOLogTimes) {
  Bound bound;
  GrowthTracker growth;
  for (int64_t n = 1; n <= 10'000; ++n) {
    const std::vector<int64_t> symbols{n, 2};
    growth.note(symbols);
    bound.cache->find(symbols, growth);
  }
  EXPECT_LE(bound.cache->bindings_made(), 16);
}

TEST(BindingCache, RandomShapesNeverNeedMuchMoreThanTheLargest) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Bound bound;
    GrowthTracker growth;
    std::mt19937 random(seed);
    int64_t largest = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::vector<int64_t> symbols{static_cast<int64_t>(1 + random() % 128), static_cast<int64_t>(1 + random() % 8)};
      growth.note(symbols);
      bound.cache->find(symbols, growth);
      largest = std::max(largest, 4 * symbols[0] + 4 * symbols[0] * symbols[1]);
    }
    EXPECT_LE(bound.cache->peak_bytes(), largest * 5 / 4 + 128) << "seed " << seed;
  }
}

TEST(BindingCache, WhatFoundNoMemoryIsNotFoundAgain) {
  Bound bound;
  const auto large = bound.find(1000, 8);
  bound.cache->forget(large);
  EXPECT_LT(bound.find(10, 8)->arena_bytes, large->arena_bytes / 50);
}

TEST(BindingCache, AlternatingShapesKeepTheirBindings) {
  Bound bound;
  for (int i = 0; i < 10; ++i) {
    bound.find(1, 1000);
    bound.find(1000, 1);
  }
  EXPECT_LE(bound.cache->bindings_made(), 2);
  EXPECT_LT(bound.cache->peak_bytes(), 64 * 1000 * 4);
}

}  // namespace
}  // namespace rh::test
