#pragma once

#include "compute/attention/attention_head.h"

namespace rh::compute {

inline constexpr int64_t kAttentionKeys = 256;      ///< whose scores are made at a time
inline constexpr int64_t kMostAttentionChunks = 8;  ///< of queries in a block

/// One head of one batch whose scores are made for a chunk of queries and a block of keys at a time: softmax over blocks of keys, whichever
/// way the products are made.
class BlockedHead : public AttentionHead {
 protected:
  /// A chunk has at most `chunk_rows` queries; the first key of a part of a block is a multiple of `key_unit`.
  BlockedHead(const AttentionArgs& args, int64_t batch, int64_t head, int64_t chunk_rows, int64_t key_unit)
      : AttentionHead(args, batch, head), chunk_rows_(chunk_rows), key_unit_(key_unit) {}
  ~BlockedHead() = default;

  /// Of a row of scores, so that vectors of all rows lie alike.
  static int64_t row_stride(int64_t keys) { return (keys + 15) / 16 * 16; }

  /// Of a block of queries: what is known of their weights after some of the keys, and the scores of those that are worked on.
  struct Scratch {
    Scratch(int64_t rows, int64_t chunk_rows, int64_t keys);
    float* shifts;          ///< by which scores are less in the exponent
    float* sums;            ///< of the weights
    float *before, *parts;  ///< shifts before some keys, sums of theirs
    float* scores;
  };

  /// Queries and keys whose products are made.
  struct Some {
    Range queries;
    int64_t chunk;   ///< of the block, which these queries are
    Range keys;      ///< of one block of keys
    Range in_block;  ///< the block's own
  };

  int64_t chunks_of(Range queries) const { return (queries.size() + chunk_rows_ - 1) / chunk_rows_; }
  Range chunk_of(Range queries, int64_t chunk) const;

  /// All keys of a block of at most kMostAttentionChunks chunks of queries; the last of them sees the keys before `keys`.
  void run_block(Range queries, int64_t keys, int64_t key_block, const Scratch& scratch);

  /// What masks add to products as they are made; null: nothing.
  struct ScoreMasks {
    const float* column;  ///< the same for all queries
    const float* each;    ///< of each query and key,
    int64_t each_row;     ///< rows of which lie so far apart
    bool any() const { return column || each; }
  };
  ScoreMasks score_masks(Range queries, Range keys) const;

  /// Scores of some keys into rows of row_stride(keys).
  virtual void multiply_keys(const Some& some, float* scores) = 0;
  /// Weights, which lie where the scores did, times values: into rows of y, or added to them.
  virtual void multiply_values(const Some& some, const float* weights, bool adds) = 0;

 private:
  void weigh(Range queries, Range keys, bool adds, const Scratch& scratch, int64_t first) const;
  void mask_scores(int64_t query, Range keys, float* scores) const;

  int64_t chunk_rows_, key_unit_;
};

}  // namespace rh::compute
