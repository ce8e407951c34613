#include "compute/trees.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rh::compute {

namespace {

constexpr int64_t kMostRows = 128;  // that walk one tree before the next: its nodes stay in the cache
constexpr uint32_t kNanHolds = uint32_t{1} << 31;
constexpr int32_t kStepsUnasked = 4;  // before it is asked whether all walks have ended
constexpr int32_t kShallow = 8;       // trees of so few steps are walked without asking

}  // namespace

template <typename T>
Trees<T>::Trees(std::vector<Node> nodes, std::vector<Leaf> leaves, std::vector<Weight> weights, std::vector<int32_t> roots,
                std::vector<std::vector<double>> member_sets, int64_t targets)
    : leaves_(std::move(leaves)), weights_(std::move(weights)), member_sets_(std::move(member_sets)), targets_(targets) {
  lay_out(nodes, roots);
  only_leq_ = std::ranges::all_of(nodes_, [](const Node& node) { return node.test == Test::leq; });
  for (auto& set : member_sets_) std::sort(set.begin(), set.end());
  lay_out_steps();
}

/// Tests become "less" or "less or equal", those that are the contrary with their branches changed over.
template <typename T>
void Trees<T>::lay_out_steps() {
  const auto is_less = [](const Node& node) { return node.test == Test::lt || node.test == Test::gte; };
  const auto is_leq = [](const Node& node) { return node.test == Test::leq || node.test == Test::gt; };
  steps_less_ = !nodes_.empty() && is_less(nodes_.front());
  if (!(steps_less_ ? std::ranges::all_of(nodes_, is_less) : std::ranges::all_of(nodes_, is_leq))) return;
  if (std::ranges::any_of(nodes_, [](const Node& node) { return node.split != node.split; })) return;  // nothing compares with NaN
  steps_.reserve(2 * nodes_.size() + roots_.size());
  std::vector<Pending> pending;
  for (int32_t root : roots_) {
    step_roots_.push_back(static_cast<int32_t>(steps_.size()));
    steps_.emplace_back();
    step_leaves_.push_back(-1);
    pending.push_back({step_roots_.back(), root, 0});
    int32_t deepest = 0;
    while (!pending.empty()) {
      const Pending next = pending.back();
      pending.pop_back();
      deepest = std::max(deepest, next.depth);
      fill_step(next, pending);
    }
    step_depths_.push_back(deepest);
  }
  settle_missing();
  settle_leaves();
}

/// Where each leaf has one weight, steps name that.
template <typename T>
void Trees<T>::settle_leaves() {
  single_weights_ = std::ranges::all_of(leaves_, [](const Leaf& leaf) { return leaf.count == 1; });
  if (!single_weights_) return;
  for (int32_t& leaf : step_leaves_) {
    if (leaf >= 0) leaf = leaves_[static_cast<size_t>(leaf)].first;
  }
}

/// Where NaN always fails, or always holds, no step has to say which.
template <typename T>
void Trees<T>::settle_missing() {
  bool all = true, none = true;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (step_leaves_[i] >= 0) continue;
    const bool holds = (steps_[i].feature & kNanHolds) != 0;
    all = all && holds;
    none = none && !holds;
  }
  steps_missing_ = none ? Missing::fails : all ? Missing::holds : Missing::mixed;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_missing_ != Missing::mixed) steps_[i].feature &= ~kNanHolds;
    // What is compared with NaN fails, and holds where the contrary is tested.
    if (step_leaves_[i] >= 0) steps_[i].child = static_cast<int32_t>(i) - (steps_missing_ == Missing::holds ? 1 : 0);
  }
}

template <typename T>
void Trees<T>::fill_step(const Pending& filled, std::vector<Pending>& pending) {
  Step& step = steps_[static_cast<size_t>(filled.step)];
  if (filled.child < 0) {
    step = {std::numeric_limits<T>::quiet_NaN(), 0, filled.step};
    step_leaves_[static_cast<size_t>(filled.step)] = ~filled.child;
    return;
  }
  const Node& node = nodes_[static_cast<size_t>(filled.child)];
  const bool contrary = node.test == Test::gte || node.test == Test::gt;
  const bool nan_holds = node.missing_is_true != contrary;
  const auto children = static_cast<int32_t>(steps_.size());
  step = {node.split, static_cast<uint32_t>(node.feature) | (nan_holds ? kNanHolds : 0), children};
  steps_.resize(steps_.size() + 2);
  step_leaves_.resize(steps_.size(), -1);
  pending.push_back({children + (contrary ? 0 : 1), node.when_true, filled.depth + 1});
  pending.push_back({children + (contrary ? 1 : 0), node.when_false, filled.depth + 1});
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
void Trees<T>::add_leaf(int32_t leaf, Aggregate aggregate, double* totals, bool* reached) const {
  const auto [first, count] = leaves_[static_cast<size_t>(leaf)];
  for (int32_t w = first; w < first + count; ++w) add_weight(weights_[static_cast<size_t>(w)], aggregate, totals, reached);
}

template <typename T>
void Trees<T>::add_weight(const Weight& weight, Aggregate aggregate, double* totals, bool* reached) {
  double& total = totals[weight.target];
  bool& seen = reached[weight.target];
  if (!seen || aggregate == Aggregate::sum) {
    total += weight.value;
  } else {
    total = aggregate == Aggregate::min ? std::min(total, weight.value) : std::max(total, weight.value);
  }
  seen = true;
}

template <typename T>
void Trees<T>::add_step_leaf(int32_t step, Aggregate aggregate, double* totals, bool* reached) const {
  const int32_t leaf = step_leaves_[static_cast<size_t>(step)];
  if (!single_weights_ || aggregate != Aggregate::sum) {
    return single_weights_ ? add_weight(weights_[static_cast<size_t>(leaf)], aggregate, totals, reached)
                           : add_leaf(leaf, aggregate, totals, reached);
  }
  const Weight& weight = weights_[static_cast<size_t>(leaf)];
  totals[weight.target] += weight.value;
  reached[weight.target] = true;
}

template <typename T>
void Trees<T>::add_rows(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  for (int32_t root : roots_) {
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x + i * features;
      const int32_t leaf = only_leq_ ? leaf_of<true>(root, row) : leaf_of<false>(root, row);
      add_leaf(leaf, aggregate, totals + i * targets_, reached + i * targets_);
    }
  }
}

template <typename T>
template <bool kLess, typename Trees<T>::Missing kMissing>
void Trees<T>::walk_side_by_side(int32_t depth, std::array<int32_t, kWalks>& at, const std::array<const T*, kWalks>& rows) const {
  const Step* steps = steps_.data();
  const int32_t unasked = depth <= kShallow ? kShallow : kStepsUnasked;
  for (bool goes_on = true; goes_on && depth > 0; depth -= unasked) {
    for (int32_t k = std::min(depth, unasked); k > 0; --k) {
      for (size_t j = 0; j < kWalks; ++j) {
        const Step& step = steps[at[j]];
        const T value = rows[j][kMissing == Missing::mixed ? step.feature & ~kNanHolds : step.feature];
        bool holds;
        if constexpr (kMissing == Missing::holds) {
          holds = kLess ? !(value >= step.split) : !(value > step.split);
        } else {
          holds = kLess ? value < step.split : value <= step.split;
        }
        if constexpr (kMissing == Missing::mixed) {
          const uint32_t is_nan = std::isnan(value) ? 1 : 0;
          holds = (static_cast<uint32_t>(holds) | (is_nan & step.feature >> 31)) != 0;
        }
        at[j] = step.child + static_cast<int32_t>(holds);
      }
    }
    goes_on = false;
    for (size_t j = 0; j < kWalks; ++j) goes_on |= steps[at[j]].child != at[j] - (kMissing == Missing::holds ? 1 : 0);
  }
}

template <typename T>
template <bool kLess, typename Trees<T>::Missing kMissing>
void Trees<T>::add_side_by_side(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  std::array<int32_t, kWalks> at;
  std::array<const T*, kWalks> from;
  const int64_t together = rows / kWalks * kWalks;
  for (size_t tree = 0; tree < step_roots_.size(); ++tree) {
    for (int64_t i = 0; i < together; i += kWalks) {
      at.fill(step_roots_[tree]);
      for (size_t j = 0; j < kWalks; ++j) from[j] = x + (i + static_cast<int64_t>(j)) * features;
      walk_side_by_side<kLess, kMissing>(step_depths_[tree], at, from);
      for (size_t j = 0; j < kWalks; ++j) {
        const int64_t place = (i + static_cast<int64_t>(j)) * targets_;
        add_step_leaf(at[j], aggregate, totals + place, reached + place);
      }
    }
  }
  if (together == rows) return;
  // The rows that are left walk several trees together, each tree once for all of them.
  const auto left = static_cast<size_t>(rows - together), trees_at_once = kWalks / left;
  for (size_t tree = 0; tree < step_roots_.size(); tree += trees_at_once) {
    const size_t count = std::min(trees_at_once, step_roots_.size() - tree);
    from.fill(x + together * features);
    at.fill(step_roots_[tree]);
    int32_t depth = 0;
    for (size_t j = 0; j < count * left; ++j) {
      at[j] = step_roots_[tree + j / left];
      from[j] = x + (together + static_cast<int64_t>(j % left)) * features;
      depth = std::max(depth, step_depths_[tree + j / left]);
    }
    walk_side_by_side<kLess, kMissing>(depth, at, from);
    for (size_t j = 0; j < count * left; ++j) {
      const int64_t place = (together + static_cast<int64_t>(j % left)) * targets_;
      add_step_leaf(at[j], aggregate, totals + place, reached + place);
    }
  }
}

template <typename T>
void Trees<T>::add(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  if (steps_.empty() || features == 0) return add_rows(x, rows, features, aggregate, totals, reached);
  const auto walk = [&]<bool kLess>() {
    switch (steps_missing_) {
      case Missing::fails: return add_side_by_side<kLess, Missing::fails>(x, rows, features, aggregate, totals, reached);
      case Missing::holds: return add_side_by_side<kLess, Missing::holds>(x, rows, features, aggregate, totals, reached);
      default: return add_side_by_side<kLess, Missing::mixed>(x, rows, features, aggregate, totals, reached);
    }
  };
  steps_less_ ? walk.template operator()<true>() : walk.template operator()<false>();
}

template <typename T>
void Trees<T>::run(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached,
                   const Parallel& parallel) const {
  const int64_t share = (rows + parallel.threads() - 1) / parallel.threads();
  const int64_t at_once = std::min(kMostRows, (share + kWalks - 1) / kWalks * kWalks);
  if (rows == 0) return;
  const int64_t blocks = (rows + at_once - 1) / at_once;
  const double steps = 8.0 * static_cast<double>(roots_.size() * static_cast<size_t>(std::min(rows, at_once)));
  parallel.for_range(blocks, {.bytes = 0, .operations = 4 * steps}, [&](Range range) {
    for (int64_t block = range.begin; block < range.end; ++block) {
      const int64_t first = block * at_once, count = std::min(at_once, rows - first);
      double* part = totals + first * targets_;
      bool* seen = reached + first * targets_;
      std::fill(part, part + count * targets_, 0.0);
      std::fill(seen, seen + count * targets_, false);
      add(x + first * features, count, features, aggregate, part, seen);
    }
  });
}

template class Trees<float>;
template class Trees<double>;

}  // namespace rh::compute
