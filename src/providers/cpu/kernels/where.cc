#include "ops/logic/where.h"

#include "compute/move/copy.h"
#include "compute/move/elements.h"
#include "compute/scratch.h"
#include "compute/sort/row_search.h"
#include "providers/cpu/element_rows.h"
#include "providers/cpu/operand_tiles.h"

namespace rh::cpu {

namespace {

constexpr int64_t kShortRow = 128;  // elements
constexpr int64_t kTile = 1024;     // elements

// Integers by a mask, which compilers vectorise.
template <typename T, typename X, typename Y>
void choose(const bool* condition, T* out, int64_t count, X x, Y y) {
  fill_row(out, count, [=](int64_t i) {
    if constexpr (std::is_integral_v<T>) {
      const T mask = static_cast<T>(T(0) - static_cast<T>(condition[i]));
      return static_cast<T>((x(i) & mask) | (y(i) & ~mask));
    } else {
      return condition[i] ? x(i) : y(i);
    }
  });
}

template <typename T>
void where_row(const bool* condition, int64_t step, const T* x, int64_t step_x, const T* y, int64_t step_y, T* out, int64_t count) {
  if (step == 0) {
    const T* source = *condition ? x : y;
    if (*condition ? step_x : step_y) {
      if (source != out) compute::copy_items(source, count, out);
    } else {
      std::fill_n(out, count, *source);
    }
    return;
  }
  if constexpr (std::is_same_v<T, uint32_t>) return compute::select_words(condition, x, step_x, y, step_y, out, count);
  if (step_x && step_y) {
    choose(condition, out, count, [=](int64_t i) { return x[i]; }, [=](int64_t i) { return y[i]; });
  } else if (step_x) {
    choose(condition, out, count, [=](int64_t i) { return x[i]; }, [second = *y](int64_t) { return second; });
  } else if (step_y) {
    choose(condition, out, count, [first = *x](int64_t) { return first; }, [=](int64_t i) { return y[i]; });
  } else {
    choose(condition, out, count, [first = *x](int64_t) { return first; }, [second = *y](int64_t) { return second; });
  }
}

}  // namespace

ChoiceRow choice_row(DType dtype) {
  return row_by_type<FloatingTypes, ChoiceRow>(dtype, []<typename T>() -> ChoiceRow {
    return [](const bool* condition, int64_t step, const void* x, int64_t step_x, const void* y, int64_t step_y, void* out, int64_t count) {
      using Moved = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
      where_row(condition, step, static_cast<const Moved*>(x), step_x, static_cast<const Moved*>(y), step_y, static_cast<Moved*>(out),
                count);
    };
  });
}

class WhereKernel final : public Kernel {
 public:
  using Types = rh::Types<bool>;

  explicit WhereKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView condition = context.input(0), x = context.input(1), y = context.input(2);
    const MutableView out = context.output(0, x.dtype(), broadcast(broadcast(condition.shape(), x.shape()), y.shape()));
    const Shape* const shapes[] = {&condition.shape(), &x.shape(), &y.shape()};
    const Broadcast loop(out.shape(), shapes);
    const bool is_short = loop.row_length() < kShortRow && loop.elements() > loop.row_length();
    if (is_short && x.dtype() != DType::string && bits_of(x.dtype()) >= 8) return run_tiles(context.parallel(), condition, x, y, out);
    compute::dispatch_kind(compute::element_kind(x.dtype()), [&]<typename T>() {
      loop.run(context.parallel(), {3.0 * sizeof(T) + 1, 2}, [&](int64_t at, const int64_t* inputs, int64_t count) {
        where_row(condition.data<bool>() + inputs[0], loop.step(0), x.data<T>() + inputs[1], loop.step(1), y.data<T>() + inputs[2],
                  loop.step(2), out.data<T>() + at, count);
      });
    });
    return {};
  }

  /// Rows of a few elements, many at once.
  static Status run_tiles(const Parallel& parallel, const TensorView& condition, const TensorView& x, const TensorView& y,
                          const MutableView& out) {
    const OperandTiles tiles_c(condition, out.shape()), tiles_x(x, out.shape()), tiles_y(y, out.shape());
    compute::dispatch_kind(compute::element_kind(x.dtype()), [&]<typename T>() {
      constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
      parallel.for_range(out.elements(), {3.0 * sizeof(T) + 1, 2}, [&](Range part) {
        char* rooms = static_cast<char*>(compute::thread_scratch(compute::ScratchSlot::row, kTile * (2 * sizeof(T) + 1)));
        for (int64_t at = part.begin; at < part.end; at += kTile) {
          const int64_t count = std::min(kTile, part.end - at);
          const Place a = tiles_x.tile(at, count, rooms), b = tiles_y.tile(at, count, rooms + kTile * kBytes);
          const Place c = tiles_c.tile(at, count, rooms + 2 * kTile * kBytes);
          where_row(reinterpret_cast<const bool*>(c.data), c.step, reinterpret_cast<const T*>(a.data), a.step,
                    reinterpret_cast<const T*>(b.data), b.step, out.data<T>() + at, count);
        }
      });
    });
    return {};
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias kAliases[] = {{0, 1, Alias::Kind::in_place}, {0, 2, Alias::Kind::in_place}};
    return kAliases;
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(WhereKernel)
