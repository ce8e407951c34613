#include "ops/tensor/unique.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <vector>

#include "base/interruptible.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kept_objects.h"

namespace rh::cpu {

namespace {

// -1, 0, 1; NaN stands after every number and equals itself.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (!std::is_same_v<T, std::string> && !std::is_integral_v<T>) {
    const bool a_nan = a != a, b_nan = b != b;
    if (a_nan || b_nan) return a_nan - b_nan;
  }
  return b < a ? 1 : a < b ? -1 : 0;
}

/// The input as `count` items: item i is made of `outer` runs of `inner` elements.
template <typename T>
struct Items {
  const T* data;
  int64_t count, outer, inner;

  const T* run(int64_t item, int64_t o) const { return data + (o * count + item) * inner; }
  int order(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        if (const int c = compare(run(a, o)[i], run(b, o)[i]); c != 0) return c;
      }
    }
    return 0;
  }
};

/// Items that are equal: the position of the first one, and how many.
struct Group {
  int64_t first, count;
};

/// What a run works out.
struct Lists {
  std::vector<Group> groups;
  std::vector<int64_t> inverse;  ///< the group of each item
  std::vector<Group> arranged;   ///< these and what follows: on the way there
  std::vector<int64_t> order, place, table;
  std::vector<uint64_t> keys;
};

/// Numbers by their bits, equal ones with equal bits; texts by a hash.
template <typename T>
uint64_t key_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::hash<std::string>()(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, float>) {
    return value != value ? ~uint64_t{0} : std::bit_cast<uint32_t>(value + 0.0f);
  } else {
    const double number = static_cast<double>(value);
    return number != number ? ~uint64_t{0} : std::bit_cast<uint64_t>(number + 0.0);
  }
}

/// Groups of single elements in the order of their first positions.
template <typename T>
void group_elements(const T* x, int64_t count, Lists& lists) {
  std::vector<Group>& groups = lists.groups;
  std::vector<int64_t>& inverse = lists.inverse;
  std::vector<uint64_t>& keys = lists.keys;  // of the groups
  keys.clear();
  const int bits = std::clamp<int>(static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 1) - 1))) + 2, 6, 12);
  std::vector<int64_t>& table = lists.table;  // groups by hash, at most a quarter full: a group is found at once
  table.assign(size_t{1} << bits, -1);
  int shift = 64 - bits;
  const auto is_in = [&](size_t found, uint64_t key, int64_t item) {
    if (keys[found] != key) return false;
    if constexpr (std::is_same_v<T, std::string>) return x[groups[found].first] == x[item];
    return true;
  };
  const auto slot_of = [&](uint64_t key, int64_t item) {
    size_t slot = static_cast<size_t>((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> shift);
    while (table[slot] >= 0 && !is_in(static_cast<size_t>(table[slot]), key, item)) slot = slot + 1 == table.size() ? 0 : slot + 1;
    return slot;
  };
  inverse.resize(static_cast<size_t>(count));
  in_order(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = key_of(x[i]);
      const size_t slot = slot_of(key, i);
      if (table[slot] < 0) {
        table[slot] = static_cast<int64_t>(groups.size());
        groups.push_back({i, 0});
        keys.push_back(key);
      }
      const int64_t found = table[slot];
      ++groups[static_cast<size_t>(found)].count;
      inverse[static_cast<size_t>(i)] = found;
      if (4 * groups.size() <= table.size()) continue;
      --shift;
      table.assign(2 * table.size(), -1);
      for (size_t g = 0; g < keys.size(); ++g) table[slot_of(keys[g], groups[g].first)] = static_cast<int64_t>(g);
    }
  });
}

/// Puts groups in the order that `before` gives their positions.
template <typename Before>
void arrange(Lists& lists, Before before) {
  std::vector<Group>& groups = lists.groups;
  std::vector<int64_t>&order = lists.order, &place = lists.place;
  order.resize(groups.size());
  place.resize(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), Interruptible(before));
  std::vector<Group>& result = lists.arranged;
  result.clear();
  for (int64_t g : order) {
    place[static_cast<size_t>(g)] = static_cast<int64_t>(result.size());
    result.push_back(groups[static_cast<size_t>(g)]);
  }
  for (int64_t& i : lists.inverse) i = place[static_cast<size_t>(i)];
  groups.swap(result);
}

template <typename T>
void group(const Items<T>& items, bool sorted, Lists& lists) {
  std::vector<Group>& groups = lists.groups;
  std::vector<int64_t>&order = lists.order, &inverse = lists.inverse;
  groups.clear();
  if (items.outer == 1 && items.inner == 1) {
    group_elements(items.data, items.count, lists);
    if (!sorted) return;
    return arrange(lists, [&](int64_t a, int64_t b) {
      return items.order(groups[static_cast<size_t>(a)].first, groups[static_cast<size_t>(b)].first) < 0;
    });
  }
  order.resize(static_cast<size_t>(items.count));
  std::iota(order.begin(), order.end(), 0);
  // Of equal ones the first comes first; std::stable_sort would take memory.
  std::sort(order.begin(), order.end(), Interruptible([&](int64_t a, int64_t b) {
              const int by_value = items.order(a, b);
              return by_value != 0 ? by_value < 0 : a < b;
            }));
  inverse.resize(order.size());
  in_order(items.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t item = order[static_cast<size_t>(i)];
      if (groups.empty() || items.order(groups.back().first, item) != 0) groups.push_back({item, 0});
      ++groups.back().count;
      inverse[item] = static_cast<int64_t>(groups.size()) - 1;
    }
  });
  if (sorted) return;
  arrange(lists, [&](int64_t a, int64_t b) { return groups[a].first < groups[b].first; });
}

}  // namespace

class UniqueKernel final : public Kernel {
 public:
  using Types = Concat<NumericTypes, rh::Types<bool, std::string>>;

  explicit UniqueKernel(const KernelInfo& info) : op_(info.attributes<ops::Unique>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& shape = x.shape();
    if (op_.vectors_only && shape.rank() != 1) {
      return error_status(ErrorCode::invalid_argument, "Unique: the input has shape {}, expected [N]", shape.to_string());
    }
    const int axis = op_.axis ? normalize_axis(*op_.axis, shape.rank(), "Unique: axis") : 0;
    return dispatch<Types>(x.dtype(), "Unique", [&]<typename T>() {
      const Items<T> items = op_.axis ? Items<T>{x.data<T>(), shape[axis], shape.product(0, axis), shape.product(axis + 1, shape.rank())}
                                      : Items<T>{x.data<T>(), x.elements(), 1, 1};
      const KeptObjects<Lists>::Loan lists(lists_);
      group(items, op_.sorted, *lists);
      const std::vector<Group>& groups = lists->groups;
      const std::vector<int64_t>& inverse = lists->inverse;
      const int64_t count = static_cast<int64_t>(groups.size());
      Shape y_shape{count};
      if (op_.axis) {
        y_shape = shape;
        y_shape[axis] = count;
      }
      T* y = context.output(0, x.dtype(), y_shape).template data<T>();
      for (int64_t o = 0; o < items.outer; ++o) {
        for (const Group& g : groups) y = std::copy_n(items.run(g.first, o), items.inner, y);
      }
      int output = 1;
      if (op_.first_positions) write(context, output++, count, [&](int64_t i) { return groups[i].first; });
      write(context, output++, static_cast<int64_t>(inverse.size()), [&](int64_t i) { return inverse[i]; });
      write(context, output, count, [&](int64_t i) { return groups[i].count; });
      if (items.count > kMostKept) *lists = Lists();
    });
  }

 private:
  template <typename F>
  static void write(RunContext& context, int output, int64_t count, F value) {
    if (!context.has_output(output)) return;
    int64_t* y = context.output(output, DType::int64, Shape{count}).data<int64_t>();
    in_order(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = value(i);
    });
  }

  static constexpr int64_t kMostKept = 1 << 16;  ///< items, of whose lists the memory stays

  ops::Unique op_;
  KeptObjects<Lists> lists_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UniqueKernel)
