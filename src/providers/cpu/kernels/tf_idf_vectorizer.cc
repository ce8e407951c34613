#include "ops/text/tf_idf_vectorizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "providers/cpu/elements.h"
#include "providers/cpu/integer_index.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

/// Where two numbers lead to: a table at most half full, whose places are looked at one after the other.
class PairIndex {
 public:
  static constexpr int32_t kNone = -1;

  explicit PairIndex(const std::unordered_map<uint64_t, int32_t>& pairs) : entries_(std::bit_ceil(2 * pairs.size() + 1)) {
    for (const auto& [key, value] : pairs) {
      size_t at = place(key);
      while (entries_[at].value != kNone) at = next(at);
      entries_[at] = {key, value};
    }
  }

  int32_t find(uint64_t key) const {
    for (size_t at = place(key); entries_[at].value != kNone; at = next(at))
      if (entries_[at].key == key) return entries_[at].value;
    return kNone;
  }

 private:
  struct Entry {
    uint64_t key = 0;
    int32_t value = kNone;
  };

  size_t place(uint64_t key) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio: near keys come to lie far from each other
    return static_cast<size_t>((key ^ key >> 32) * kGolden >> 32) & (entries_.size() - 1);
  }
  size_t next(size_t at) const { return (at + 1) & (entries_.size() - 1); }

  std::vector<Entry> entries_;
};

/// Elements become small numbers, and n-grams paths in a tree over them.
class TfIdfVectorizerKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string, int64_t, int32_t>;

  explicit TfIdfVectorizerKernel(const KernelInfo& info) : op_(info.attributes<ops::TfIdfVectorizer>()) {
    for (size_t i = 0; i < op_.grams.size(); ++i) add(static_cast<int32_t>(i));
    integers_.finish();
    paths_ = PairIndex(edges_);
    edges_.clear();
    bytes_.fill(kNone);
    for (const auto& [text, item] : strings_)
      if (text.size() == 1) bytes_[static_cast<unsigned char>(text[0])] = static_cast<int32_t>(item);
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() != 1 && x.rank() != 2) {
      return error_status(ErrorCode::invalid_argument, "TfIdfVectorizer: the input has shape {}, expected [C] or [N, C]",
                          x.shape().to_string());
    }
    if (op_.strings.empty() == (x.dtype() == DType::string)) {
      return error_status(ErrorCode::invalid_argument, "TfIdfVectorizer: the input has element type {}, expected that of the pool, {}",
                          to_string(x.dtype()), op_.strings.empty() ? "an integer" : "string");
    }
    const int64_t length = x.shape()[x.rank() - 1], rows = x.rank() == 2 ? x.shape()[0] : 1;
    Shape shape = x.shape();
    shape[x.rank() - 1] = op_.columns;
    check_elements(shape, "TfIdfVectorizer: the output");
    float* out = context.output(0, shape).data<float>();
    std::fill_n(out, rows * op_.columns, 0.0f);
    const double work = 20.0 * static_cast<double>(length) * (static_cast<double>(op_.max_skip) + 1);
    context.parallel().for_range(rows, Cost{.bytes = 0, .operations = work}, [&](Range range) {
      const std::span<int32_t> items = thread_list<int32_t>(ThreadList::first, length);
      for (int64_t row = range.begin; row < range.end; ++row) {
        find_items(x, row * length, items);
        count(items, out + row * op_.columns);
      }
    });
    return {};
  }

 private:
  static constexpr int32_t kNone = static_cast<int32_t>(IntegerIndex::kNone);

  void add(int32_t index) {
    const ops::TfIdfVectorizer::Gram& gram = op_.grams[static_cast<size_t>(index)];
    int32_t node = kNone;
    for (int64_t i = gram.first; i < gram.first + gram.length; ++i) {
      const auto at = static_cast<size_t>(i);
      const int64_t item =
          op_.strings.empty() ? integers_.add(op_.integers[at], items_) : strings_.try_emplace(op_.strings[at], items_).first->second;
      if (item == items_) ++items_;
      node = child(node, static_cast<int32_t>(item));
    }
    if (nodes_[static_cast<size_t>(node)].gram != kNone) {
      fail(ErrorCode::invalid_argument, "TfIdfVectorizer: n-gram {} of the pool stands in it before, expected each once", index);
    }
    nodes_[static_cast<size_t>(node)].gram = index;
  }

  /// The node that an item leads to from a node, or from the beginning (kNone); made where it is not there.
  int32_t child(int32_t node, int32_t item) {
    const auto next = static_cast<int32_t>(nodes_.size());
    if (node == kNone) {
      if (static_cast<size_t>(item) >= first_.size()) first_.resize(static_cast<size_t>(item) + 1, kNone);
      int32_t& first = first_[static_cast<size_t>(item)];
      if (first == kNone) first = next, nodes_.emplace_back();
      return first;
    }
    nodes_[static_cast<size_t>(node)].goes_on = true;
    const auto [edge, is_new] = edges_.emplace(edge_key(node, item), next);
    if (is_new) nodes_.emplace_back();
    return edge->second;
  }

  static uint64_t edge_key(int32_t node, int32_t item) { return static_cast<uint64_t>(node) << 32 | static_cast<uint32_t>(item); }

  /// Numbers of elements from `first` on, kNone where no n-gram has them.
  void find_items(const TensorView& x, int64_t first, std::span<int32_t> items) const {
    dispatch_or_throw<Types>(x.dtype(), "TfIdfVectorizer", [&]<typename T>() {
      const T* from = x.data<T>() + first;
      for (size_t i = 0; i < items.size(); ++i) {
        if constexpr (std::is_same_v<T, std::string>) {
          if (from[i].size() == 1) {  // as characters are
            items[i] = bytes_[static_cast<unsigned char>(from[i][0])];
            continue;
          }
          const auto at = strings_.find(from[i]);
          items[i] = at == strings_.end() ? kNone : static_cast<int32_t>(at->second);
        } else {
          items[i] = static_cast<int32_t>(integers_.find(from[i]));
        }
      }
    });
  }

  void count(std::span<const int32_t> items, float* out) const {
    const auto length = static_cast<int64_t>(items.size());
    for (int64_t skip = 0; skip <= std::min(op_.max_skip, length); ++skip) {
      const int64_t least = std::max<int64_t>(op_.min_length, skip == 0 ? 1 : 2);  // one element skips nothing
      for (int64_t start = 0; start < length; ++start) count_from(items, start, skip + 1, least, out);
    }
  }

  void count_from(std::span<const int32_t> items, int64_t start, int64_t step, int64_t least, float* out) const {
    int32_t node = kNone;
    int64_t at = start;
    for (int64_t n = 1; n <= op_.max_length && at < static_cast<int64_t>(items.size()); ++n, at += step) {
      node = next_node(node, items[static_cast<size_t>(at)]);
      if (node == kNone) return;
      const int32_t index = nodes_[static_cast<size_t>(node)].gram;
      if (index == kNone || n < least) continue;
      const ops::TfIdfVectorizer::Gram& gram = op_.grams[static_cast<size_t>(index)];
      using enum ops::TfIdfVectorizer::Mode;
      float& value = out[gram.output];
      if (op_.mode == tf) value += 1;
      if (op_.mode == idf) value = gram.weight;
      if (op_.mode == tfidf) value += gram.weight;
    }
  }

  int32_t next_node(int32_t node, int32_t item) const {
    if (item == kNone) return kNone;
    if (node == kNone) return static_cast<size_t>(item) < first_.size() ? first_[static_cast<size_t>(item)] : kNone;
    if (!nodes_[static_cast<size_t>(node)].goes_on) return kNone;
    return paths_.find(edge_key(node, item));
  }

  struct Node {
    int32_t gram = kNone;  ///< the n-gram that ends there
    bool goes_on = false;
  };

  ops::TfIdfVectorizer op_;
  int64_t items_ = 0;
  IntegerIndex integers_;
  std::unordered_map<std::string, int64_t> strings_;
  std::vector<int32_t> first_;                   ///< item to node
  std::unordered_map<uint64_t, int32_t> edges_;  ///< (node, item) to node, while the tree is made
  PairIndex paths_{{}};                          ///< the same afterwards
  std::array<int32_t, 256> bytes_;               ///< the numbers of elements of one byte
  std::vector<Node> nodes_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TfIdfVectorizerKernel)
