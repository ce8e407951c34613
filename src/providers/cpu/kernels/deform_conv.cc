#include "ops/nn/deform_conv.h"

#include <cmath>

#include "compute/gemm/gemm.h"
#include "compute/move/transpose.h"
#include "compute/reduce/weighted_rows.h"
#include "compute/scratch.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

/// Moved elements are gathered into columns, a block of positions at a time, which the filters are multiplied with. Half types go through
/// float.
class DeformConvKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit DeformConvKernel(const KernelInfo& info) : op_(info.attributes<ops::DeformConv>()) {}

  Status run(RunContext& context) const override {
    Problem problem;
    RH_RETURN_IF_ERROR(set_problem(context, problem));
    return compute_type(context.input(0).dtype()) == DType::float64 ? run_as<double>(context, problem) : run_as<float>(context, problem);
  }

 private:
  static constexpr int64_t kPositions = 128;  ///< of a block

  struct Problem {
    ops::Window window;
    Shape input, output;  ///< spatial
    int64_t batch, channels, filters, kernel, positions;
  };

  template <typename T>
  struct Data {
    const T *x, *weights, *offsets, *bias, *mask;
  };

  struct Tap {
    int64_t offset;
    double weight;
  };

  /// Data and filters with their channels last.
  struct Moved {
    float* x = nullptr;
    float* weights = nullptr;
  };
  static constexpr int64_t kVectorChannels = 8;  ///< from which on channels are taken side by side

  Status set_problem(const RunContext& context, Problem& p) const {
    const Shape &x = context.input(0).shape(), &w = context.input(1).shape();
    if (x.rank() < 3 || w.rank() != x.rank() || x[1] % op_.group != 0 || x[1] / op_.group != w[1] || w[0] % op_.group != 0 ||
        x[1] % op_.offset_group != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "DeformConv: X has shape {} and the weights {}, which do not fit group {} and offset_group {}", x.to_string(),
                          w.to_string(), op_.group, op_.offset_group);
    }
    const size_t rank = x.size() - 2;
    p.window = with_kernel(op_.window, {w.begin() + 2, rank});
    p.input = Shape(std::span<const int64_t>(x.begin() + 2, rank));
    for (size_t i = 0; i < rank; ++i) p.output.push_back(std::max<int64_t>(0, p.window.output_size(i, p.input[i])));
    p.batch = x[0];
    p.channels = x[1];
    p.filters = w[0];
    p.kernel = w.product(2, w.rank());
    p.positions = p.output.elements();
    const auto check = [&](int input, const char* name, int64_t numbers) {
      Shape expected{p.batch, checked_product(op_.offset_group, checked_product(p.kernel, numbers, "DeformConv"), "DeformConv")};
      for (int64_t size : p.output) expected.push_back(size);
      if (context.input(input).shape() == expected) return Status();
      return error_status(ErrorCode::invalid_argument, "DeformConv: {} has shape {}, expected {}", name,
                          context.input(input).shape().to_string(), expected.to_string());
    };
    RH_RETURN_IF_ERROR(check(2, "offset", static_cast<int64_t>(rank)));
    if (context.has_input(4)) RH_RETURN_IF_ERROR(check(4, "mask", 1));
    if (context.has_input(3) && !(context.input(3).shape() == Shape{p.filters}))
      return error_status(ErrorCode::invalid_argument, "DeformConv: B has shape {}, expected [{}]", context.input(3).shape().to_string(),
                          p.filters);
    return {};
  }

  template <typename T>
  Status run_as(RunContext& context, const Problem& p) const {
    const auto input = [&](int i) {
      return context.has_input(i) ? converted(context, context.input(i), dtype_of<T>).template data<T>() : nullptr;
    };
    const Data<T> data{input(0), input(1), input(2), input(3), input(4)};
    Shape shape{p.batch, p.filters};
    for (int64_t size : p.output) shape.push_back(size);
    const ConvertedOutput y(context, 0, shape, dtype_of<T>);
    if (y.view().elements() == 0) return {};
    const int64_t blocks = (p.positions + kPositions - 1) / kPositions;
    Moved moved;
    if constexpr (std::is_same_v<T, float>) {
      if (p.input.rank() == 2 && op_.group == 1 && p.channels / op_.offset_group >= kVectorChannels) {
        moved = {context.scratch_array<float>(context.input(0).elements()), context.scratch_array<float>(context.input(1).elements())};
        const int64_t x_dims[] = {p.batch, p.channels, p.input.elements()}, w_dims[] = {p.filters, p.channels, p.kernel},
                      swap[] = {0, 2, 1};
        compute::transpose(data.x, x_dims, swap, sizeof(float), moved.x, context.parallel());
        compute::transpose(data.weights, w_dims, swap, sizeof(float), moved.weights, context.parallel());
      }
    }
    const double work = static_cast<double>(p.kernel * p.channels) * kPositions * 8;
    context.parallel().for_range(p.batch * blocks, {work, work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t first = i % blocks * kPositions;
        if constexpr (std::is_same_v<T, float>) {
          if (moved.x) {
            run_channels_last(p, data, moved, i / blocks, {first, std::min(first + kPositions, p.positions)}, y.template data<T>());
            continue;
          }
        }
        run_block(p, data, i / blocks, {first, std::min(first + kPositions, p.positions)}, y.template data<T>());
      }
    });
    y.store(context.parallel());
    return {};
  }

  template <typename T>
  void run_block(const Problem& p, const Data<T>& data, int64_t batch, Range positions, T* y) const {
    const int64_t count = positions.size(), rows = p.channels * p.kernel, group_rows = rows / op_.group,
                  group_filters = p.filters / op_.group;
    T* columns = static_cast<T*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(rows * count) * sizeof(T)));
    InlineVector<Tap, 8> taps;  // of three axes
    const int64_t image = p.input.elements(), channels = p.channels / op_.offset_group;
    for (int64_t group = 0; group < op_.offset_group; ++group) {
      for (int64_t i = 0; i < p.kernel * count; ++i) {
        const int64_t element = i / count, position = positions.begin + i % count;
        find_taps(p, data, (batch * op_.offset_group + group) * p.kernel + element, element, position, taps);
        for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
          const T* from = data.x + (batch * p.channels + c) * image;
          T sum = 0;
          for (const Tap& tap : taps) sum += static_cast<T>(tap.weight) * from[tap.offset];
          columns[(c * p.kernel + element) * count + i % count] = sum;
        }
      }
    }
    for (int64_t group = 0; group < op_.group; ++group) {
      T* to = y + (batch * p.filters + group * group_filters) * p.positions + positions.begin;
      compute::GemmArgs<T> args{.m = group_filters, .n = count, .k = group_rows};
      args.ldc = p.positions;
      if (data.bias) {
        args.epilogue.bias_kind = compute::BiasKind::per_row;
        args.epilogue.bias = data.bias + group * group_filters;
      }
      compute::gemm<T>(args, data.weights + group * group_filters * group_rows, columns + group * group_rows * count, to, {});
    }
  }

  /// The same in two dimensions, where channels lie next to each other: a kernel element takes all of them at once.
  void run_channels_last(const Problem& p, const Data<float>& data, const Moved& moved, int64_t batch, Range positions, float* y) const {
    const int64_t count = positions.size(), length = p.channels * p.kernel, channels = p.channels / op_.offset_group;
    float* columns =
        static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(length * count) * sizeof(float)));
    BoundedList<compute::WeightedRow> rows(thread_list<compute::WeightedRow>(ThreadList::first, 4 * count));
    const std::span<size_t> ends = thread_list<size_t>(ThreadList::second, count);
    const float* image = moved.x + batch * p.input.elements() * p.channels;
    for (int64_t group = 0; group < op_.offset_group; ++group) {
      for (int64_t element = 0; element < p.kernel; ++element) {
        rows.clear();
        for (int64_t i = 0; i < count; ++i) {
          add_neighbours(p, data, (batch * op_.offset_group + group) * p.kernel + element, element, positions.begin + i, rows);
          ends[static_cast<size_t>(i)] = rows.size();
        }
        compute::sum_rows(image + group * channels, p.channels, channels, rows.data(), ends.data(), count,
                          columns + element * p.channels + group * channels, length);
      }
    }
    compute::GemmArgs<float> args{.m = p.filters, .n = count, .k = length};
    args.transpose_b = true;
    args.ldc = p.positions;
    if (data.bias) {
      args.epilogue.bias_kind = compute::BiasKind::per_row;
      args.epilogue.bias = data.bias;
    }
    compute::gemm<float>(args, moved.weights, columns, y + batch * p.filters * p.positions + positions.begin, {});
  }

  /// find_taps in two dimensions.
  static void add_neighbours(const Problem& p, const Data<float>& data, int64_t moved, int64_t element, int64_t position,
                             BoundedList<compute::WeightedRow>& rows) {
    const int64_t out[2] = {position / p.output[1], position % p.output[1]};
    const int64_t tap[2] = {element / p.window.kernel[1], element % p.window.kernel[1]};
    const float weight = data.mask ? data.mask[moved * p.positions + position] : 1.0f;
    int64_t low[2];
    float rest[2];
    for (size_t k = 0; k < 2; ++k) {
      const int64_t base = out[k] * p.window.strides[k] - p.window.pads[k] + tap[k] * p.window.dilations[k];
      const double at =
          static_cast<double>(base) + static_cast<double>(data.offsets[(moved * 2 + static_cast<int64_t>(k)) * p.positions + position]);
      if (!(at > -1 && at < static_cast<double>(p.input[k]))) return;
      low[k] = static_cast<int64_t>(at + 1) - 1;  // rounds down, as at is above -1
      rest[k] = static_cast<float>(at - static_cast<double>(low[k]));
    }
    for (int i = 0; i < 2; ++i) {
      const int64_t row = low[0] + i;
      const float down = i == 0 ? 1 - rest[0] : rest[0];
      if (row < 0 || row >= p.input[0] || (i == 1 && rest[0] == 0)) continue;
      for (int k = 0; k < 2; ++k) {
        const int64_t column = low[1] + k;
        if (column < 0 || column >= p.input[1] || (k == 1 && rest[1] == 0)) continue;
        rows.push_back({row * p.input[1] + column, weight * down * (k == 0 ? 1 - rest[1] : rest[1])});
      }
    }
  }

  /// The neighbours of a kernel element at a position, with what each counts; those outside are left out. `moved` is its place among the
  /// mask's rows.
  template <typename T>
  static void find_taps(const Problem& p, const Data<T>& data, int64_t moved, int64_t element, int64_t position,
                        InlineVector<Tap, 8>& taps) {
    const int64_t rank = p.input.rank();
    int64_t stride = 1, left = position;
    taps.clear();
    taps.push_back({0, data.mask ? static_cast<double>(data.mask[moved * p.positions + position]) : 1.0});
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      const size_t k = static_cast<size_t>(axis);
      const int64_t base =
          left % p.output[k] * p.window.strides[k] - p.window.pads[k] + element % p.window.kernel[k] * p.window.dilations[k];
      const double at = static_cast<double>(base) + static_cast<double>(data.offsets[(moved * rank + axis) * p.positions + position]);
      left /= p.output[k];
      element /= p.window.kernel[k];
      if (!(at > -1 && at < static_cast<double>(p.input[k]))) return taps.clear();
      const int64_t low = static_cast<int64_t>(std::floor(at));
      const double rest = at - static_cast<double>(low);
      const size_t before = taps.size();
      for (size_t i = 0; i < before; ++i) {
        const Tap tap = taps[i];
        taps[i] = {tap.offset + std::max<int64_t>(low, 0) * stride, low >= 0 ? tap.weight * (1 - rest) : 0};
        if (low + 1 < p.input[k] && rest > 0) taps.push_back({tap.offset + (low + 1) * stride, tap.weight * rest});
      }
      stride *= p.input[k];
    }
  }

  ops::DeformConv op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DeformConvKernel)
