#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "amx/support.h"
#include "compute/attention/attention_split.h"
#include "compute/attention_cases.h"

namespace rh::compute {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kMost = std::numeric_limits<float>::max();

class AttentionAmx : public test::AmxTest {
 protected:
  /// By tiles, and that they were used.
  std::vector<float> by_tiles(AttentionData& data, const Parallel& parallel = three_threads()) {
    const int64_t before = emulator_->instructions();
    std::vector<float> y(data.y.size(), 7.0f);
    data.args.ways.tiles = TileUse::wherever_possible;
    attention(data.ready(y), parallel);
    const bool sees_any = data.args.keys_of(0, data.args.queries - 1).size() > 0;
    EXPECT_TRUE(test::AmxEmulator::native() || !sees_any || emulator_->instructions() > before);
    return y;
  }

  void compare(AttentionData& data, const std::string& what, double bound = 1e-5);
};

std::vector<float> plainly(AttentionData& data) {
  std::vector<float> y(data.y.size());
  data.args.ways.tiles = TileUse::never;
  attention(data.ready(y), three_threads());
  return y;
}

std::vector<double> widened(const std::vector<float>& from) { return {from.begin(), from.end()}; }

/// In double, with these values in place of v.
std::vector<double> exactly(AttentionData& data, const std::vector<float>& values) {
  const AttentionArgs& from = data.ready(data.y);
  const std::vector<double> q = widened(data.q), k = widened(data.k), v = widened(values), mask = widened(data.mask),
                            sinks = widened(data.sinks);
  std::vector<double> y(data.y.size());
  const auto same = [&](const float* given) {
    return !given ? nullptr : given == data.sinks.data() ? sinks.data() : mask.data() + (given - data.mask.data());
  };
  BasicAttentionArgs<double> args{.batch = from.batch,
                                  .heads = from.heads,
                                  .key_heads = from.key_heads,
                                  .value_heads = from.value_heads,
                                  .queries = from.queries,
                                  .keys = from.keys,
                                  .depth = from.depth,
                                  .value_depth = from.value_depth,
                                  .scale = static_cast<double>(from.scale),
                                  .softcap = static_cast<double>(from.softcap),
                                  .k_is_transposed = from.k_is_transposed,
                                  .nan_is_zero = from.nan_is_zero,
                                  .masked_rows_are_zero = from.masked_rows_are_zero,
                                  .replaces_masked = from.replaces_masked,
                                  .masked_is_zero = from.masked_is_zero,
                                  .masked_score = static_cast<double>(from.masked_score),
                                  .valid_keys = from.valid_keys,
                                  .past = from.past,
                                  .one_position = from.one_position,
                                  .left_window = from.left_window,
                                  .right_window = from.right_window,
                                  .q = q.data(),
                                  .k = k.data(),
                                  .v = v.data(),
                                  .mask = same(from.mask),
                                  .key_mask = same(from.key_mask),
                                  .sinks = same(from.sinks),
                                  .y = y.data(),
                                  .q_strides = from.q_strides,
                                  .k_strides = from.k_strides,
                                  .v_strides = from.v_strides,
                                  .mask_strides = from.mask_strides,
                                  .key_mask_strides = from.key_mask_strides,
                                  .y_strides = from.y_strides,
                                  .mask_column = from.mask_column,
                                  .masked_keys = from.masked_keys};
  attention_reference(args, three_threads());
  return y;
}

void AttentionAmx::compare(AttentionData& data, const std::string& what, double bound) {
  const std::vector<float> y = by_tiles(data);
  const std::vector<double> exact = exactly(data, data.v);
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(exact[i])) {
      ASSERT_TRUE(std::isnan(y[i])) << what << ", element " << i << " is " << y[i];
    } else {
      ASSERT_NEAR(y[i], exact[i], bound) << what << ", element " << i;
    }
  }
}

TEST_F(AttentionAmx, is_the_reference_for_blocks_of_all_sizes) {
  for (const int64_t queries : {1, 2, 31, 33, 70, 290}) {
    for (const int64_t keys : {1, 31, 33, 256, 257}) {
      if (queries == 290 && keys < 256) continue;
      AttentionData data(queries, keys, 2, 1);
      compare(data, std::to_string(queries) + " x " + std::to_string(keys));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(AttentionAmx, heads_of_all_depths) {
  for (const int64_t depth : {1, 15, 16, 32, 33, 64, 100, 256}) {
    for (const int64_t value_depth : {1, 31, 32, 65}) {
      AttentionData data(35, 47, 2, 2, depth, value_depth);
      data.args.scale = 1 / std::sqrt(static_cast<float>(depth));
      compare(data, std::to_string(depth) + ", " + std::to_string(value_depth));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(AttentionAmx, what_a_query_sees) {
  for (const AttentionCase& row : attention_cases()) {
    for (const int64_t queries : {2, 40}) {
      AttentionData data(queries, 600, 2, 1);
      row.set(data);
      compare(data, row.name);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(AttentionAmx, transposed_keys_and_lengths_of_each_batch) {
  for (const int64_t keys : {300, 288}) {
    AttentionData data(40, keys);
    data.args.k_is_transposed = true;
    data.args.k_strides = {keys * 2 * 40, keys * 40, keys};
    const int64_t valid[] = {keys - 10, 17};
    data.args.valid_keys = valid;
    data.args.right_window = 0;
    compare(data, std::to_string(keys));
    data.args.valid_keys = nullptr;
    data.args.right_window = -1;
    compare(data, std::to_string(keys) + ", all");
    if (HasFatalFailure()) return;
  }
}

TEST_F(AttentionAmx, single_queries_of_heads_that_share_keys) {
  AttentionData data(1, 100, 12, 2);
  data.args.sinks = data.sinks.data();
  data.args.mask = data.mask.data();
  compare(data, "groups of six");
}

TEST_F(AttentionAmx, scores_that_are_replaced) {
  for (const bool is_zero : {false, true}) {
    AttentionData data(40, 600);
    data.args.mask = data.mask.data();
    data.args.replaces_masked = true;
    data.args.masked_score = -2;
    data.args.masked_is_zero = is_zero;
    for (size_t i = 0; i < data.mask.size(); i += 3) data.mask[i] = kReplaced;
    const auto row = [&](int64_t i) { return data.mask.begin() + i * 600; };
    std::fill_n(row(0), 600, kReplaced);
    std::fill_n(row(1), 300, -kInf);
    std::fill_n(row(2), 600, -kInf);
    row(2)[7] = kReplaced;
    compare(data, is_zero ? "without weight" : "with weight");
    if (HasFatalFailure()) return;
  }
}

TEST_F(AttentionAmx, rows_without_keys) {
  for (const int mode : {0, 1, 2}) {
    AttentionData data(40, 600);
    data.args.mask = data.mask.data();
    data.args.nan_is_zero = mode == 1;
    data.args.masked_rows_are_zero = mode == 2;
    const auto row = [&](int64_t i) { return data.mask.begin() + i * 600; };
    std::fill_n(row(0), 600, -kInf);
    std::fill_n(row(1), 300, -kInf);
    std::fill_n(row(2) + 200, 400, -kInf);
    if (mode == 0) row(3)[400] = NAN;
    compare(data, "mode " + std::to_string(mode));
    if (HasFatalFailure()) return;
  }
}

TEST_F(AttentionAmx, keys_and_values_that_are_put_there_on_the_way) {
  for (const int64_t key_heads : {2, 4}) {
    AttentionData data(40, 70, 4, key_heads, 64, 64);
    const std::vector<float> k = data.k, v = data.v;
    const std::vector<double> exact = exactly(data, v);
    std::fill(data.k.begin(), data.k.end(), kInf);
    std::fill(data.v.begin(), data.v.end(), kInf);
    const auto fill = [&](int64_t batch, int64_t head) { data.fill(k, v, batch, head); };
    const FunctionRef<void(int64_t, int64_t)> fill_head(fill);
    data.args.fill_head = &fill_head;
    const std::vector<float> y = by_tiles(data);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], exact[i], 5e-6) << key_heads << " heads, element " << i;
  }
}

TEST_F(AttentionAmx, the_bits_do_not_depend_on_the_number_of_threads) {
  for (const bool causal : {false, true}) {
    AttentionData data(130, 300, 2, 1, 64, 64);
    if (causal) data.args.right_window = 0, data.args.past = 170;
    const std::vector<float> shared = by_tiles(data), serial = by_tiles(data, {});
    ASSERT_EQ(shared, serial);
    data.args.ways.by_pairs = false;  // parts of so many queries whatever the threads
    ASSERT_EQ(by_tiles(data), by_tiles(data, {}));
  }
}

TEST_F(AttentionAmx, errors_are_no_greater_than_those_of_multiply_add) {
  for (const int64_t depth : {64, 128}) {
    AttentionData data(64, 500, 2, 1, depth, 64);
    data.args.scale = 1 / std::sqrt(static_cast<float>(depth));
    const std::vector<double> exact = exactly(data, data.v);
    const auto squares = [&](const std::vector<float>& y) {
      double sum = 0;
      for (size_t i = 0; i < y.size(); ++i) sum += (y[i] - exact[i]) * (y[i] - exact[i]);
      return sum;
    };
    EXPECT_LE(squares(by_tiles(data)), squares(plainly(data))) << depth;
  }
}

TEST_F(AttentionAmx, a_processor_that_multiplies_wrongly_is_seen) {
  if (test::AmxEmulator::native()) return;
  AttentionData data(40, 64);
  const std::vector<double> exact = exactly(data, data.v);
  emulator_->fail_products(true);
  const std::vector<float> y = by_tiles(data);
  double worst = 0;
  for (size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::isnan(y[i]) ? 1 : std::fabs(y[i] - exact[i]));
  EXPECT_GT(worst, 1e-4);
}

/// NaN where multiply-add has NaN, infinite where it is infinite; elsewhere within the bound beside the magnitudes of the row's values,
/// or what multiply-add is off by: scores of 1e30 have errors of their own.
void check_special(AttentionData& data, const std::vector<float>& y, const std::vector<float>& plain, const std::string& what) {
  std::vector<float> magnitudes = data.v;
  for (float& x : magnitudes) x = std::fabs(x);
  const std::vector<double> exact = exactly(data, data.v), bounds = exactly(data, magnitudes);
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(plain[i])) {
      ASSERT_TRUE(std::isnan(y[i])) << what << ", element " << i << " is " << y[i];
    } else if (std::isinf(plain[i])) {
      ASSERT_EQ(y[i], plain[i]) << what << ", element " << i;
    } else {
      const double bound = 5e-6 * bounds[i] + 2 * std::fabs(plain[i] - exact[i]) + 1e-43;
      ASSERT_LE(std::fabs(y[i] - exact[i]), bound) << what << ", element " << i << " is " << y[i] << ", by multiply-add " << plain[i];
    }
  }
}

TEST_F(AttentionAmx, values_out_of_range_as_by_multiply_add) {
  constexpr std::array kSpecial{NAN,      kInf,      -kInf,     kMost,  -0x1.fffffep126f, 1e30f, 0x1p60f, 0x1.234566p-50f,
                                0x1p-90f, 0x1p-101f, 0x1p-126f, 1e-40f, 0x1p-149f,        0.0f,  -0.0f};
  for (const float special : kSpecial) {
    for (const char operand : {'q', 'k', 'v'}) {
      for (const bool whole_rows : {false, true}) {
        AttentionData data(36, 290, 2, 1, 40, 33);
        std::vector<float>& values = operand == 'q' ? data.q : operand == 'k' ? data.k : data.v;
        const int64_t row = operand == 'q' ? 2 * 40 : operand == 'k' ? 40 : 33, width = operand == 'v' ? 33 : 40;
        for (const int64_t at : {1, 5, operand == 'q' ? 34 : 270}) {
          if (whole_rows)
            std::fill_n(values.begin() + at * row, width, special);
          else
            values[static_cast<size_t>(at * row + 7)] = special;
        }
        const std::vector<float> plain = plainly(data), y = by_tiles(data);
        check_special(data, y, plain, std::to_string(special) + " in " + operand + (whole_rows ? ", whole rows" : ""));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(AttentionAmx, great_magnitudes_whose_products_are_usual_ones) {
  for (const bool in_queries : {false, true}) {
    AttentionData data(36, 290, 2, 1, 40, 33);
    for (float& x : in_queries ? data.q : data.k) x = std::ldexp(x, -80);
    for (float& x : in_queries ? data.k : data.q) x = std::ldexp(x, 78);
    (in_queries ? data.k : data.q)[7] = kMost;  // which bfloat16 would round to infinity
    const std::vector<float> plain = plainly(data), y = by_tiles(data);
    ASSERT_FALSE(std::isnan(plain[0]));
    check_special(data, y, plain, in_queries ? "keys" : "queries");
  }
}

TEST_F(AttentionAmx, windows_that_begin_within_blocks_of_values_out_of_range) {
  for (const float special : {kInf, 1e-40f, 1.0f}) {
    AttentionData data(60, 600, 2, 1);
    data.args.right_window = 0;
    data.args.left_window = 70;
    data.args.past = 300;  // from key 230 on, in the first block, to key 359
    const int64_t first = 230 * 33;
    data.v[static_cast<size_t>(first + 100 * 33 + 3)] = data.v[static_cast<size_t>(first + 20 * 33 + 7)] = special;
    const std::vector<float> plain = plainly(data), y = by_tiles(data);
    check_special(data, y, plain, std::to_string(special));
    if (HasFatalFailure()) return;
  }
}

TEST_F(AttentionAmx, small_magnitudes_keep_their_bound) {
  for (int exponent = -20; exponent >= -140; exponent -= 30) {
    for (const bool in_values : {false, true}) {
      AttentionData data(33, 40, 2, 1, 40, 33);
      for (float& x : in_values ? data.v : data.k) x = std::ldexp(x, exponent);
      if (!in_values) data.args.scale = std::ldexp(0.3f, std::min(120, -exponent));
      const std::vector<float> plain = plainly(data), y = by_tiles(data);
      check_special(data, y, plain, (in_values ? "values of 2^" : "keys of 2^") + std::to_string(exponent));
      if (HasFatalFailure()) return;
    }
  }
}

/// Weights down to the least that is not 0: blocks of keys whose products with values are lost in parts go by multiply-add.
TEST_F(AttentionAmx, scores_far_below_the_largest) {
  for (const float slope : {0.05f, 0.3f, 2.0f}) {
    AttentionData data(40, 520, 2, 1, 40, 33);
    data.args.mask = data.mask.data();
    for (size_t i = 0; i < data.mask.size(); ++i) data.mask[i] = -slope * static_cast<float>(i % 520);
    const double bound = 1e-5 + 2 * 0x1p-24 * 520 * static_cast<double>(slope);  // scores are rounded beside what the mask adds
    compare(data, "slope " + std::to_string(slope), bound);
    for (size_t i = 0; i < data.mask.size(); ++i) data.mask[i] = slope * static_cast<float>(i % 520);
    compare(data, "slope " + std::to_string(slope) + " towards the last", bound);
    if (HasFatalFailure()) return;
  }
}

TEST_F(AttentionAmx, is_chosen_where_it_pays) {
  const struct {
    int64_t queries, keys, depth;
    TileUse tiles;
    bool expected;
  } rows[] = {
      {1500, 1500, 64, TileUse::where_faster, false},
      {197, 197, 64, TileUse::where_faster, false},
      {128, 128, 64, TileUse::where_faster, false},
      {1024, 1024, 128, TileUse::where_faster, true},
      {1024, 1024, 96, TileUse::where_faster, true},
      {1024, 1024, 80, TileUse::where_faster, false},
      {1024, 1024, 256, TileUse::where_faster, true},
      {1, 1024, 128, TileUse::where_faster, false},
      {40, 1024, 128, TileUse::where_faster, false},
      {1024, 20, 128, TileUse::where_faster, false},
      {1024, 1024, 257, TileUse::where_faster, false},
      {1024, 100000, 128, TileUse::where_faster, false},
      {1024, 1024, 128, TileUse::never, false},
      {1, 1, 1, TileUse::wherever_possible, true},
      {1024, 1024, 257, TileUse::wherever_possible, false},
  };
  for (const auto& row : rows) {
    const AttentionArgs args{
        .queries = row.queries, .keys = row.keys, .depth = row.depth, .value_depth = row.depth, .ways = {.tiles = row.tiles}};
    EXPECT_EQ(attends_by_tiles(args), row.expected) << row.queries << "x" << row.keys << "x" << row.depth;
  }
  const AttentionArgs args{.queries = 1024, .keys = 1024, .depth = 128, .value_depth = 128};
  EXPECT_FALSE(attends_by_tiles(args, 32)) << "parts of few queries";
  const ScopedCpuFeatures lower(lowered(cpu_features(), "avx512"));
  EXPECT_FALSE(attends_by_tiles(args));
  EXPECT_FALSE(can_attend_by_tiles(args));
}

}  // namespace
}  // namespace rh::compute
