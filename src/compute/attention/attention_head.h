#pragma once

#include <optional>

#include "compute/attention/attention.h"

namespace rh::compute {

/// One head of one batch: where its matrices lie, which keys its queries see, and how rows of y begin and end.
class AttentionHead {
 protected:
  AttentionHead(const AttentionArgs& args, int64_t batch, int64_t head);

  float* row_of_y(int64_t query) const { return y_ + query * args_.y_strides.row; }
  const float* mask_of(int64_t query, int64_t key) const {
    return mask_ ? mask_ + query * args_.mask_strides.row + key * args_.mask_column : nullptr;
  }

  void clear(Range queries) const;
  /// The shift and the sum of weights that a query has before its keys.
  void start(int64_t query, float& shift, float& sum) const;
  /// By what a row of y is to be multiplied; one without weights is filled. `shift` is its largest score.
  float finish(int64_t query, float shift, float sum) const;

  /// Those of the keys that a query sees; none: an empty range at their begin or end.
  Range seen_of(int64_t query, Range keys) const {
    const Range seen = args_.keys_of(batch_, query);
    const int64_t begin = std::clamp(seen.begin, keys.begin, keys.end);
    return {begin, std::clamp(seen.end, begin, keys.end)};
  }
  /// Whether some of the queries do not see some of the keys.
  bool cuts(Range queries, Range keys) const {
    return seen_of(queries.begin, keys).end < keys.end || seen_of(queries.end - 1, keys).begin > keys.begin;
  }
  /// The keys that some of the queries see, without those at either end that masks leave out for all of these: their weights are exactly 0,
  /// since scores and values are finite, and each query has a key beside whose score nothing is left of theirs.
  Range used_by(Range queries) const;
  /// softcap tanh(score / softcap)
  void cap(float* scores, int64_t count) const;
  bool is_masked(const float* mask, int64_t count) const;

  const AttentionArgs& args_;
  int64_t batch_, head_;
  const float *q_, *k_, *v_, *mask_, *key_mask_;
  float scale_, factor_;  ///< of products, of what exponents of two are made from
  bool adds_mask_;        ///< to products as they are made
  float* y_;

 private:
  void attend_plainly(int64_t query) const;
  Range used_of(int64_t query, Range seen) const;
  bool leaves_out(int64_t query, Range keys) const;
  bool keeps_one(int64_t query, Range keys) const;
  bool are_scores_small(Range queries, Range keys) const;

  mutable std::optional<float> largest_key_;  ///< infinite where a key or value is not finite
  mutable int64_t alike_query_ = -1;          ///< one all of whose keys have the same score: that of those that are replaced
};

}  // namespace rh::compute
