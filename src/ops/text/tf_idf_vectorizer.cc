#include "ops/text/tf_idf_vectorizer.h"

#include <algorithm>

#include "ops/registry.h"

namespace rh::ops {

namespace {

constexpr int64_t kMostColumns = int64_t{1} << 31;

TfIdfVectorizer::Mode read_weighting(const NodeView& node) {
  const std::string mode = node.required_string("mode");
  if (mode == "TF") return TfIdfVectorizer::Mode::tf;
  if (mode == "IDF") return TfIdfVectorizer::Mode::idf;
  if (mode == "TFIDF") return TfIdfVectorizer::Mode::tfidf;
  node.fail("attribute 'mode' is '{}', expected TF, IDF or TFIDF", mode);
}

/// `counts[n]` is where the (n + 1)-grams begin in a pool of `size` elements.
void read_grams(TfIdfVectorizer& op, const NodeView& node, int64_t size) {
  const std::vector<int64_t> counts = node.required_ints("ngram_counts"), columns = node.required_ints("ngram_indexes");
  const std::vector<float> weights = node.floats_or("weights");
  if (op.max_length > static_cast<int64_t>(counts.size())) {
    node.fail("attribute 'max_gram_length' is {}, expected at most {} as there are ngram_counts", op.max_length, counts.size());
  }
  for (size_t n = 0; n < counts.size(); ++n) {
    const int64_t length = static_cast<int64_t>(n) + 1, end = n + 1 < counts.size() ? counts[n + 1] : size;
    if (counts[n] < 0 || end < counts[n] || end > size || (end - counts[n]) % length != 0) {
      node.fail("attribute 'ngram_counts' puts the {}-grams at [{}, {}) of a pool of {}, expected whole ones in order", length, counts[n],
                end, size);
    }
    for (int64_t first = counts[n]; first < end; first += length) op.grams.push_back({first, length, 0, 1});
  }
  if (columns.size() < op.grams.size()) {
    node.fail("has {} ngram_indexes for {} n-grams in the pool, expected one each", columns.size(), op.grams.size());
  }
  if (!weights.empty() && weights.size() != columns.size()) {
    node.fail("has {} weights for {} ngram_indexes, expected one each", weights.size(), columns.size());
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0 || columns[i] >= kMostColumns) {
      node.fail("attribute 'ngram_indexes' has {}, expected [0, {})", columns[i], kMostColumns);
    }
    op.columns = std::max(op.columns, columns[i] + 1);
    if (i >= op.grams.size()) continue;  // one too many: an empty column
    op.grams[i].output = columns[i];
    if (!weights.empty()) op.grams[i].weight = weights[i];
  }
}

}  // namespace

TfIdfVectorizer TfIdfVectorizer::read(const NodeView& node) {
  TfIdfVectorizer op;
  op.mode = read_weighting(node);
  op.min_length = node.required_int("min_gram_length");
  op.max_length = node.required_int("max_gram_length");
  op.max_skip = node.required_int("max_skip_count");
  if (op.min_length < 1 || op.max_length < op.min_length || op.max_skip < 0) {
    node.fail("has min_gram_length {}, max_gram_length {} and max_skip_count {}, expected 1 <= min <= max and skips from 0", op.min_length,
              op.max_length, op.max_skip);
  }
  op.integers = node.ints_or("pool_int64s");
  op.strings = node.strings_or("pool_strings");
  if (op.integers.empty() == op.strings.empty()) {
    node.fail("has {} pool_int64s and {} pool_strings, expected n-grams in one of them", op.integers.size(), op.strings.size());
  }
  read_grams(op, node, static_cast<int64_t>(op.integers.size() + op.strings.size()));
  return op;
}

void infer(const TfIdfVectorizer& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, DType::float32);
  if (x.rank() != 1 && x.rank() != 2) context.node().fail("input has shape {}, expected [C] or [N, C]", to_string(*x.dims));
  SymbolicShape shape = *x.dims;
  shape.back() = op.columns;
  context.set_output(0, DType::float32, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(TfIdfVectorizer)
