#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compute/attention/attention.h"
#include "compute/support.h"

namespace rh::compute {

/// Queries, keys, values and masks of heads that lie side by side, and what attention makes of them.
struct AttentionData {
  AttentionArgs args;
  std::vector<float> q, k, v, mask, sinks, y;

  AttentionData(int64_t queries, int64_t keys, int64_t heads = 4, int64_t key_heads = 2, int64_t depth = 40, int64_t value_depth = 33) {
    constexpr int64_t kBatch = 2;
    q = random_values(kBatch * queries * heads * depth, 1, -3, 3);
    k = random_values(kBatch * keys * key_heads * depth, 2, -3, 3);
    v = random_values(kBatch * keys * key_heads * value_depth, 3);
    mask = random_values(kBatch * heads * queries * keys, 4);
    sinks = random_values(heads * std::max<int64_t>(1, queries), 5);
    y.assign(static_cast<size_t>(kBatch * queries * heads * value_depth), 7);
    args.batch = kBatch;
    args.heads = heads;
    args.key_heads = args.value_heads = key_heads;
    args.queries = queries;
    args.keys = keys;
    args.depth = depth;
    args.value_depth = value_depth;
    args.scale = 0.3f;
    args.q_strides = {queries * heads * depth, depth, heads * depth};
    args.k_strides = {keys * key_heads * depth, depth, key_heads * depth};
    args.v_strides = {keys * key_heads * value_depth, value_depth, key_heads * value_depth};
    args.mask_strides = {heads * queries * keys, queries * keys, keys};
    args.y_strides = {queries * heads * value_depth, value_depth, heads * value_depth};
  }

  /// Puts the depths of a head's keys and values, which are alike, from `from_k` and `from_v` in their place.
  void fill(const std::vector<float>& from_k, const std::vector<float>& from_v, int64_t batch, int64_t head) {
    for (int64_t key = 0; key < args.keys; ++key) {
      const int64_t at = batch * args.k_strides.batch + head * args.k_strides.head + key * args.k_strides.row;
      std::copy_n(from_k.data() + at, args.depth, k.data() + at);
      std::copy_n(from_v.data() + at, args.depth, v.data() + at);
    }
  }

  /// The operands as they are now, and where results go.
  const AttentionArgs& ready(std::vector<float>& to) {
    args.q = q.data();
    args.k = k.data();
    args.v = v.data();
    args.y = to.data();
    return args;
  }

  static void expect_near(const std::vector<float>& y, const std::vector<float>& expected, const std::string& what) {
    for (size_t i = 0; i < y.size(); ++i) {
      if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(y[i])) << what << ", element " << i << " is " << y[i];
      } else {
        ASSERT_NEAR(y[i], expected[i], 1e-5) << what << ", element " << i;
      }
    }
  }
};

/// What a query sees of 600 keys.
struct AttentionCase {
  const char* name;
  std::function<void(AttentionData&)> set;
};

inline std::vector<AttentionCase> attention_cases() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return {
      {"causal", [](AttentionData& d) { d.args.right_window = 0, d.args.past = 100; }},
      {"causal, the first see nothing", [](AttentionData& d) { d.args.right_window = 0, d.args.past = -50; }},
      {"window", [](AttentionData& d) { d.args.right_window = 3, d.args.left_window = 20, d.args.past = 300; }},
      {"window far from the first key", [](AttentionData& d) { d.args.right_window = 0, d.args.left_window = 40, d.args.past = 470; }},
      {"window of more than a block", [](AttentionData& d) { d.args.right_window = 0, d.args.left_window = 300, d.args.past = 400; }},
      {"mask", [](AttentionData& d) { d.args.mask = d.mask.data(); }},
      {"mask of one number a row",
       [](AttentionData& d) { d.args.mask = d.mask.data(), d.args.mask_column = 0, d.args.mask_strides = {0, 0, 1}; }},
      {"mask of all queries", [](AttentionData& d) { d.args.mask = d.mask.data(), d.args.mask_strides = {600, 0, 0}; }},
      {"mask of the least number",
       [](AttentionData& d) { std::fill_n(d.mask.begin(), 2000, std::numeric_limits<float>::lowest()), d.args.mask = d.mask.data(); }},
      {"negative scale", [](AttentionData& d) { d.args.scale = -0.2f; }},
      {"scale of zero", [](AttentionData& d) { d.args.scale = 0; }},
      {"mask and causal", [](AttentionData& d) { d.args.mask = d.mask.data(), d.args.right_window = 0, d.args.past = 300; }},
      {"short mask", [](AttentionData& d) { d.args.mask = d.mask.data(), d.args.masked_keys = 270; }},
      {"mask of keys", [](AttentionData& d) { d.args.key_mask = d.mask.data(), d.args.key_mask_strides = {600, 70, 0}; }},
      {"masks of scores and of keys", [](AttentionData& d) { d.args.mask = d.args.key_mask = d.mask.data(); }},
      {"masks of all queries and of keys",
       [](AttentionData& d) {
         d.args.mask = d.args.key_mask = d.mask.data();
         d.args.mask_strides = {600, 0, 0};
         d.args.key_mask_strides = {0, 30, 0};
       }},
      {"masks of one number a row and of keys, causal",
       [](AttentionData& d) {
         d.args.mask = d.args.key_mask = d.mask.data();
         d.args.mask_column = 0;
         d.args.mask_strides = {0, 0, 1};
         d.args.right_window = 0;
         d.args.past = 100;
       }},
      {"soft cap", [](AttentionData& d) { d.args.softcap = 2; }},
      {"sinks", [](AttentionData& d) { d.args.sinks = d.sinks.data(); }},
      {"sinks without weight", [](AttentionData& d) { std::fill(d.sinks.begin(), d.sinks.end(), -kInf), d.args.sinks = d.sinks.data(); }},
  };
}

}  // namespace rh::compute
