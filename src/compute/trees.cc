#include "compute/trees.h"

#include <algorithm>
#include <cmath>

namespace rh::compute {

namespace {

constexpr int64_t kRowsAtOnce = 64;  // rows that walk one tree before the next: its nodes stay in the cache

}  // namespace

template <typename T>
Trees<T>::Trees(std::vector<Node> nodes, std::vector<Leaf> leaves, std::vector<Weight> weights, std::vector<int32_t> roots,
                std::vector<std::vector<double>> member_sets, int64_t targets)
    : leaves_(std::move(leaves)), weights_(std::move(weights)), member_sets_(std::move(member_sets)), targets_(targets) {
  lay_out(nodes, roots);
  only_leq_ = std::ranges::all_of(nodes_, [](const Node& node) { return node.test == Test::leq; });
  for (auto& set : member_sets_) std::sort(set.begin(), set.end());
}

template <typename T>
void Trees<T>::lay_out(const std::vector<Node>& nodes, const std::vector<int32_t>& roots) {
  std::vector<int32_t> place(nodes.size());
  std::vector<int32_t> order, pending;
  order.reserve(nodes.size());
  for (int32_t root : roots) {
    if (root >= 0) pending.push_back(root);
    while (!pending.empty()) {
      const int32_t at = pending.back();
      pending.pop_back();
      place[static_cast<size_t>(at)] = static_cast<int32_t>(order.size());
      order.push_back(at);
      const Node& node = nodes[static_cast<size_t>(at)];
      if (node.when_true >= 0) pending.push_back(node.when_true);
      if (node.when_false >= 0) pending.push_back(node.when_false);
    }
  }
  const auto moved = [&](int32_t child) { return child >= 0 ? place[static_cast<size_t>(child)] : child; };
  nodes_.reserve(order.size());
  for (int32_t at : order) {
    Node node = nodes[static_cast<size_t>(at)];
    node.when_true = moved(node.when_true);
    node.when_false = moved(node.when_false);
    nodes_.push_back(node);
  }
  for (int32_t root : roots) roots_.push_back(moved(root));
}

template <typename T>
template <bool kOnlyLeq>
int32_t Trees<T>::leaf_of(int32_t at, const T* row) const {
  while (at >= 0) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    const T value = row[node.feature];
    bool holds;
    if constexpr (kOnlyLeq) {
      holds = value <= node.split;
    } else {
      switch (node.test) {
        case Test::leq: holds = value <= node.split; break;
        case Test::lt: holds = value < node.split; break;
        case Test::gte: holds = value >= node.split; break;
        case Test::gt: holds = value > node.split; break;
        case Test::eq: holds = value == node.split; break;
        case Test::neq: holds = value != node.split && !std::isnan(value); break;
        default: {
          const auto& set = member_sets_[static_cast<size_t>(node.members)];
          holds = !std::isnan(value) && std::binary_search(set.begin(), set.end(), static_cast<double>(value));
        }
      }
    }
    holds = holds || (node.missing_is_true && std::isnan(value));
    at = holds ? node.when_true : node.when_false;
  }
  return ~at;
}

template <typename T>
void Trees<T>::add_rows(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  for (int32_t root : roots_) {
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x + i * features;
      const Leaf& leaf = leaves_[static_cast<size_t>(only_leq_ ? leaf_of<true>(root, row) : leaf_of<false>(root, row))];
      for (int32_t w = leaf.first; w < leaf.first + leaf.count; ++w) {
        const Weight& weight = weights_[static_cast<size_t>(w)];
        double& total = totals[i * targets_ + weight.target];
        bool& seen = reached[i * targets_ + weight.target];
        if (!seen || aggregate == Aggregate::sum) {
          total += weight.value;
        } else {
          total = aggregate == Aggregate::min ? std::min(total, weight.value) : std::max(total, weight.value);
        }
        seen = true;
      }
    }
  }
}

template <typename T>
void Trees<T>::run(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached,
                   const Parallel& parallel) const {
  const int64_t blocks = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  const double steps = 8.0 * static_cast<double>(roots_.size() * static_cast<size_t>(std::min(rows, kRowsAtOnce)));
  parallel.for_range(blocks, {.bytes = 0, .operations = 4 * steps}, [&](Range range) {
    for (int64_t block = range.begin; block < range.end; ++block) {
      const int64_t first = block * kRowsAtOnce, count = std::min(kRowsAtOnce, rows - first);
      double* part = totals + first * targets_;
      bool* seen = reached + first * targets_;
      std::fill(part, part + count * targets_, 0.0);
      std::fill(seen, seen + count * targets_, false);
      add_rows(x + first * features, count, features, aggregate, part, seen);
    }
  });
}

template class Trees<float>;
template class Trees<double>;

}  // namespace rh::compute
