#include "compute/attention/attention_fip.h"

#include <functional>
#include <limits>

#include "attention_cases.h"

namespace rh::compute {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kLowest = std::numeric_limits<float>::lowest();

struct Data : AttentionData {
  using AttentionData::AttentionData;

  void compare(const std::string& what) {
    attention(ready(y), three_threads());
    std::vector<float> expected(y.size()), by_pairs(y.size());
    attention_reference(ready(expected), three_threads());
    expect_near(y, expected, what);
    if (!can_attend_by_pairs(args) || args.fill_head) return;
    ready(by_pairs);  // whether it is faster or not
    for (int64_t batch = 0; batch < args.batch; ++batch)
      for (int64_t head = 0; head < args.heads; ++head) attend_by_pairs(args, batch, head, {0, args.queries});
    expect_near(by_pairs, expected, what + ", by pairs");
  }
};

class AttentionTest : public EveryIsa {};

TEST_P(AttentionTest, is_the_reference_for_blocks_of_all_sizes) {
  for (const int64_t queries : {1, 2, 5, 113, 230})
    for (const int64_t keys : {1, 31, 256, 257, 530}) Data(queries, keys).compare(std::to_string(queries) + " x " + std::to_string(keys));
}

TEST_P(AttentionTest, values_that_are_read_where_they_lie) {
  for (const int64_t queries : {4, 16, 32})
    for (const int64_t keys : {5, 16, 33, 300})
      Data(queries, keys, 4, 2, 64, 64).compare(std::to_string(queries) + " x " + std::to_string(keys));
}

TEST_P(AttentionTest, narrow_heads) {
  for (const int64_t depth : {1, 4, 10, 12, 13}) {
    for (const int64_t queries : {3, 16, 49, 130}) {
      for (const int64_t keys : {7, 49, 300}) {
        Data data(queries, keys, 4, 4, depth, depth);
        const std::string what = std::to_string(queries) + " x " + std::to_string(keys) + " of " + std::to_string(depth);
        data.compare(what);
        data.args.mask = data.mask.data();
        data.compare(what + ", masked");
      }
    }
  }
}

TEST_P(AttentionTest, what_a_query_sees) {
  const std::vector<AttentionCase> rows = attention_cases();
  for (const AttentionCase& row : test::swept(rows)) {
    for (const int64_t queries : {1, 2, 120}) {
      for (const int64_t value_depth : {33, 64}) {
        Data data(queries, 600, 4, 2, 40, value_depth);
        row.set(data);
        data.compare(row.name);
      }
    }
  }
}

TEST_P(AttentionTest, keys_and_values_that_are_put_there_on_the_way) {
  for (const int64_t key_heads : {2, 4}) {
    for (const int64_t queries : {1, 40}) {
      Data data(queries, 70, 4, key_heads, 64, 64);
      const std::vector<float> k = data.k, v = data.v;
      std::fill(data.k.begin(), data.k.end(), kInf);
      std::fill(data.v.begin(), data.v.end(), kInf);
      const auto fill = [&](int64_t batch, int64_t head) { data.fill(k, v, batch, head); };
      const FunctionRef<void(int64_t, int64_t)> fill_head(fill);
      data.args.fill_head = &fill_head;
      data.compare(std::to_string(key_heads) + " heads, " + std::to_string(queries) + " queries");
    }
  }
}

TEST_P(AttentionTest, scores_that_are_no_numbers) {
  for (const int mode : {0, 1, 2}) {
    for (const int64_t queries : {2, 120}) {
      Data data(queries, 600, 4, 2, 40, queries == 2 ? 33 : 32);
      data.args.mask = data.mask.data();
      data.args.nan_is_zero = mode == 1;
      data.args.masked_rows_are_zero = mode == 2;
      const auto row = [&](int64_t i) { return data.mask.begin() + i * 600; };
      std::fill_n(row(0), 600, -kInf);        // sees nothing
      std::fill_n(row(1), 300, -kInf);        // nothing in the first blocks
      std::fill_n(row(2) + 200, 400, -kInf);  // nothing in the last ones
      if (mode == 0) row(3)[400] = NAN;
      data.compare("mode " + std::to_string(mode));
    }
  }
}

/// Keys that no query of a block sees are passed over, unless that could be told from the result.
TEST_P(AttentionTest, keys_that_masks_leave_out) {
  constexpr int64_t kKeys = 600;
  using Sees = std::function<bool(int64_t, int64_t)>;
  const Sees causal = [](int64_t query, int64_t key) { return key <= 3 * query; };
  const Sees window = [](int64_t query, int64_t key) { return key <= 3 * query + 100 && key > 3 * query + 60; };
  const Sees few = [](int64_t, int64_t key) { return key >= 370 && key < 390; };
  struct Row {
    const char* name;
    Sees sees;
    float least;
    std::function<void(Data&)> set;
  };
  const Row rows[] = {
      {"causal, the least number", causal, kLowest, {}},
      {"causal, infinite", causal, -kInf, {}},
      {"causal, a number that may be reached", causal, -1e4f, {}},
      {"window", window, kLowest, {}},
      {"few keys", few, kLowest, {}},
      {"one mask for all queries", few, kLowest, [](Data& d) { d.args.mask_strides = {kKeys, 0, 0}; }},
      {"a mask of keys", few, kLowest, [](Data& d) { d.args.mask = nullptr, d.args.key_mask = d.mask.data(); }},
      {"causal and a mask of keys", causal, kLowest,
       [](Data& d) {
         d.sinks.assign(kKeys, 0);
         d.args.key_mask = d.sinks.data();
         std::fill(d.sinks.begin() + 3, d.sinks.end(), kLowest);
       }},
      {"a mask of keys that leaves some queries nothing", causal, kLowest,
       [](Data& d) {
         d.sinks.assign(kKeys, 0);
         d.args.key_mask = d.sinks.data();
         std::fill_n(d.sinks.begin(), 30, kLowest);
       }},
      {"queries that see nothing", causal, kLowest,
       [](Data& d) {
         for (const int64_t query : {0, 7}) std::fill_n(d.mask.begin() + query * kKeys, kKeys, kLowest);
       }},
      {"queries that see nothing else than what they are not to see", causal, kLowest,
       [](Data& d) {
         d.args.right_window = 0;
         for (const int64_t query : {0, 1}) std::fill_n(d.mask.begin() + query * kKeys, query + 1, kLowest);
       }},
      {"a key that is no number", few, kLowest, [](Data& d) { d.k[d.k.size() / 2 - 1] = NAN; }},
      {"an infinite value", causal, -kInf, [](Data& d) { d.v[d.v.size() / 2 - 1] = kInf; }},
      {"scores beside which the mask is nothing", causal, -1e30f, [](Data& d) { d.args.scale = 1e30f; }},
      {"sinks and a soft cap", causal, kLowest, [](Data& d) { d.args.sinks = d.sinks.data(), d.args.softcap = 3; }},
  };
  for (const Row& row : test::swept(rows)) {
    for (const int64_t queries : {2, 120}) {
      for (const int64_t value_depth : {33, 64}) {
        Data data(queries, kKeys, 4, 2, 40, value_depth);
        for (size_t i = 0; i < data.mask.size(); ++i) {
          const int64_t at = static_cast<int64_t>(i);
          if (!row.sees(at / kKeys % queries, at % kKeys)) data.mask[i] = row.least;
        }
        data.args.mask = data.mask.data();
        if (row.set) row.set(data);
        data.compare(row.name);
      }
    }
  }
}

TEST_P(AttentionTest, scores_that_are_replaced) {
  for (const float score : {-1e4f, -2.0f, -kInf, kLowest}) {
    for (const bool is_zero : {false, true}) {
      for (const int64_t queries : {2, 120}) {
        Data data(queries, 600, 4, 2, 40, 64);
        data.args.mask = data.mask.data();
        data.args.replaces_masked = true;
        data.args.masked_score = score;
        data.args.masked_is_zero = is_zero;
        data.args.nan_is_zero = queries == 2;
        for (size_t i = 0; i < data.mask.size(); i += 3) data.mask[i] = kReplaced;
        const auto row = [&](int64_t i) { return data.mask.begin() + i * 600; };
        std::fill_n(row(0), 600, kReplaced);
        std::fill_n(row(1), 300, -kInf);
        std::fill_n(row(2), 600, -kInf);
        row(2)[7] = kReplaced;
        std::fill_n(row(3), 600, -kInf);
        if (is_zero) data.args.sinks = data.sinks.data();
        data.compare("score " + std::to_string(score) + (is_zero ? " without weight" : ""));
      }
    }
  }
}

TEST_P(AttentionTest, transposed_keys_and_lengths_of_each_batch) {
  for (const int64_t value_depth : {33, 64}) {
    Data data(40, 300, 4, 2, 40, value_depth);
    data.args.k_is_transposed = true;
    data.args.k_strides = {300 * 2 * 40, 300 * 40, 300};
    const int64_t valid[] = {290, 17};
    data.args.valid_keys = valid;
    data.args.right_window = 0;
    data.compare("transposed");
  }
}

RH_EVERY_ISA(AttentionTest);

}  // namespace
}  // namespace rh::compute
