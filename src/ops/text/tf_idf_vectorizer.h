#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// TfIdfVectorizer: ai.onnx 9. How often each n-gram of a pool stands in [C] or each row of [N, C], where elements of an n-gram may have up
/// to `max_skip` others between them (as many between each two).
struct TfIdfVectorizer {
  enum class Mode : uint8_t { tf, idf, tfidf };
  struct Gram {
    int64_t first = 0, length = 0;  ///< in the pool
    int64_t output = 0;             ///< column of the result
    float weight = 1;
  };

  Mode mode = Mode::tf;
  int64_t min_length = 1, max_length = 1, max_skip = 0;
  std::vector<int64_t> integers;  ///< the pool is one of these
  std::vector<std::string> strings;
  std::vector<Gram> grams;  ///< all of the pool, the ones of other lengths included
  int64_t columns = 0;

  static TfIdfVectorizer read(const NodeView& node);
};

void infer(const TfIdfVectorizer& op, InferenceContext& context);

}  // namespace rh::ops
