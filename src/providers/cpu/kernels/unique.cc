#include "ops/tensor/unique.h"

#include <algorithm>
#include <numeric>

#include "base/interruptible.h"
#include "providers/cpu/elements.h"

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

template <typename T>
std::vector<Group> group(const Items<T>& items, bool sorted, std::vector<int64_t>& inverse) {
  std::vector<int64_t> order(static_cast<size_t>(items.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), Interruptible([&](int64_t a, int64_t b) { return items.order(a, b) < 0; }));
  std::vector<Group> groups;
  inverse.resize(order.size());
  in_order(items.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t item = order[static_cast<size_t>(i)];
      if (groups.empty() || items.order(groups.back().first, item) != 0) groups.push_back({item, 0});
      ++groups.back().count;
      inverse[item] = static_cast<int64_t>(groups.size()) - 1;
    }
  });
  if (sorted) return groups;
  std::vector<int64_t> by_first(groups.size()), place(groups.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(), Interruptible([&](int64_t a, int64_t b) { return groups[a].first < groups[b].first; }));
  std::vector<Group> result;
  for (int64_t g : by_first) {
    place[g] = static_cast<int64_t>(result.size());
    result.push_back(groups[g]);
  }
  for (int64_t& i : inverse) i = place[i];
  return result;
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
      std::vector<int64_t> inverse;
      const std::vector<Group> groups = group(items, op_.sorted, inverse);
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
    });
  }

 private:
  static void write(RunContext& context, int output, int64_t count, FunctionRef<int64_t(int64_t)> value) {
    if (!context.has_output(output)) return;
    int64_t* y = context.output(output, DType::int64, Shape{count}).data<int64_t>();
    in_order(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = value(i);
    });
  }

  ops::Unique op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UniqueKernel)
