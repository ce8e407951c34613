#include <algorithm>
#include <cmath>

#include "compute/elementwise/narrow_floats.h"
#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "compute/scratch.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

constexpr int64_t kPiece = 2048;       // values that stay in the first-level cache while all is done to them
constexpr int64_t kPart = 8 * kPiece;  // of a group that several threads share
constexpr int64_t kFewGroups = 4;      // a thread

/// The groups of all images are rows of [channels, inner] values.
struct Groups {
  int64_t rows = 0, of_an_image = 0, channels = 0, inner = 0;

  int64_t length() const { return channels * inner; }
};

template <typename T>
struct Operands {
  const T* x;
  const T* sum;  ///< or null
  T* y;
};

}  // namespace

/// InstanceNormalization, GroupNormalization and FusedGroupNormalization: statistics over the channels of a group and all spatial
/// positions.
class GroupNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit GroupNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::GroupNormalization>()) {}

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}, {0, kSum, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() < 2) return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, C, ...]", x.shape().to_string());
    const int64_t channels = x.shape()[1], count = op_.groups > 0 ? op_.groups : channels;
    if (count > 0 && channels % count != 0) {
      return error_status(ErrorCode::invalid_argument, "{} channels cannot be divided among {} groups", channels, count);
    }
    const size_t parameters = static_cast<size_t>(op_.per_group_scale ? count : channels);
    const Call call{as_doubles(context, context.input(1)), as_doubles(context, context.input(2)), compute_activation(op_.activation)};
    if (call.scale.size() != parameters || call.bias.size() != parameters) {
      return error_status(ErrorCode::invalid_argument, "scale has {} values and bias {}, expected {}", call.scale.size(), call.bias.size(),
                          parameters);
    }
    RH_RETURN_IF_ERROR(check_slopes(op_.activation, channels));
    const TensorView sum = context.has_input(kSum) ? context.input(kSum) : TensorView();
    if (context.has_input(kSum) && (sum.dtype() != x.dtype() || !(sum.shape() == x.shape()))) {
      return error_status(ErrorCode::invalid_argument, "the sum is {} {}, expected {} {} as the input", to_string(sum.dtype()),
                          sum.shape().to_string(), to_string(x.dtype()), x.shape().to_string());
    }
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    const Groups groups{x.shape()[0] * count, count, channels / count, x.shape().product(2, x.rank())};
    return dispatch<Types>(x.dtype(), "GroupNormalization", [&]<typename T>() {
      const Operands<T> operands{x.data<T>(), context.has_input(kSum) ? sum.data<T>() : nullptr, y.data<T>()};
      if constexpr (std::is_same_v<T, double>) {
        run_doubles(context, groups, call, operands);
      } else {
        run_floats(context, groups, call, operands);
      }
    });
  }

 private:
  static constexpr int kSum = 3;

  struct Call {
    std::span<const double> scale, bias;
    compute::Activation activation;
  };

  /// A group of an image.
  struct Group {
    int64_t index;
    double mean, inverse_deviation;
  };

  Group group_of(const Groups& groups, int64_t row, const compute::RowStatistics& statistics) const {
    return {row % groups.of_an_image, statistics.mean, 1 / std::sqrt(statistics.variance + static_cast<double>(op_.epsilon))};
  }

  size_t parameter_of(const Groups& groups, int64_t group, int64_t channel) const {
    return static_cast<size_t>(op_.per_group_scale ? group : group * groups.channels + channel);
  }

  Cost cost(const Call& call, size_t element, int64_t values) const {
    const double operations = call.activation.kind == compute::ActivationKind::none ? 6 : 26, count = static_cast<double>(values);
    return {3.0 * static_cast<double>(element) * count, operations * count};
  }

  void run_doubles(RunContext& context, const Groups& groups, const Call& call, const Operands<double>& operands) const {
    const int64_t length = groups.length();
    context.parallel().for_range(groups.rows, cost(call, sizeof(double), length), [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const double *x = operands.x + i * length, *sum = operands.sum ? operands.sum + i * length : nullptr;
        double* y = operands.y + i * length;
        compute::RowStatistics row;
        for (int64_t k = 0; k < length; ++k) row.mean += x[k];
        row.mean /= static_cast<double>(length);
        for (int64_t k = 0; k < length; ++k) row.variance += (x[k] - row.mean) * (x[k] - row.mean);
        row.variance /= static_cast<double>(length);
        const Group group = group_of(groups, i, row);
        for (int64_t c = 0; c < groups.channels; ++c) {
          const size_t parameter = parameter_of(groups, group.index, c);
          const double factor = group.inverse_deviation * call.scale[parameter], offset = call.bias[parameter];
          const compute::Activation activation = call.activation.of_channel(group.index * groups.channels + c);
          for (int64_t k = c * groups.inner; k < (c + 1) * groups.inner; ++k)
            y[k] = compute::activated(activation, (x[k] - group.mean) * factor + offset + (sum ? sum[k] : 0));
        }
      }
    });
  }

  static Range part_of(int64_t part, int64_t length) { return {part * kPart, std::min(length, (part + 1) * kPart)}; }

  /// Those of a row's parts, joined in their order however many threads there are.
  template <typename OfPart>
  static compute::RowStatistics joined(int64_t length, OfPart of_part) {
    compute::RowStatistics all;
    for (int64_t part = 0; part * kPart < length; ++part)
      all = compute::joined(all, part * kPart, of_part(part), part_of(part, length).size());
    return all;
  }

  /// Few groups are shared by the threads, in parts.
  template <typename T>
  void run_floats(RunContext& context, const Groups& groups, const Call& call, const Operands<T>& operands) const {
    const Parallel& parallel = context.parallel();
    const int64_t length = groups.length(), threads = parallel.threads();
    const bool shares = groups.rows % threads != 0 && groups.rows < kFewGroups * threads && length >= 2 * kPart;
    if (!shares) {
      return parallel.for_range(groups.rows, cost(call, sizeof(T), length), [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const T* x = operands.x + row * length;
          const auto of_part = [&](int64_t i) { return statistics(x + i * kPart, part_of(i, length).size()); };
          normalize(groups, call, operands, row, {0, length}, joined(length, of_part));
        }
      });
    }
    const int64_t parts = (length + kPart - 1) / kPart;
    auto *found = context.scratch_array<compute::RowStatistics>(groups.rows * parts),
         *all = context.scratch_array<compute::RowStatistics>(groups.rows);
    parallel.for_range(groups.rows * parts, {sizeof(T) * static_cast<double>(kPart), 4.0 * kPart}, [&](Range some) {
      for (int64_t i = some.begin; i < some.end; ++i) {
        const Range values = part_of(i % parts, length);
        found[i] = statistics(operands.x + i / parts * length + values.begin, values.size());
      }
    });
    for (int64_t row = 0; row < groups.rows; ++row) all[row] = joined(length, [&](int64_t i) { return found[row * parts + i]; });
    parallel.for_range(groups.rows * parts, cost(call, sizeof(T), kPart), [&](Range some) {
      for (int64_t i = some.begin; i < some.end; ++i)
        normalize(groups, call, operands, i / parts, part_of(i % parts, length), all[i / parts]);
    });
  }

  static compute::RowStatistics statistics(const float* x, int64_t count) { return compute::row_statistics(x, count); }
  /// Of a half type.
  template <typename T>
  static compute::RowStatistics statistics(const T* x, int64_t count) {
    float* wide = compute::scratch_floats(compute::ScratchSlot::row, kPiece);
    compute::RowStatistics all;
    for (int64_t i = 0; i < count; i += kPiece) {
      const int64_t size = std::min(kPiece, count - i);
      compute::widen(x + i, wide, size);
      all = compute::joined(all, i, compute::row_statistics(wide, size), size);
    }
    return all;
  }

  /// Some values of a row, piece by piece.
  template <typename T>
  void normalize(const Groups& groups, const Call& call, const Operands<T>& operands, int64_t row, Range values,
                 const compute::RowStatistics& statistics) const {
    const Group group = group_of(groups, row, statistics);
    for (int64_t at = values.begin; at < values.end; at += kPiece) {
      const Range piece{at, std::min(at + kPiece, values.end)};
      const int64_t first = row * groups.length() + at;
      const T *x = operands.x + first, *sum = operands.sum ? operands.sum + first : nullptr;
      if constexpr (std::is_same_v<T, float>) {
        float* y = operands.y + first;
        if (sum == y) sum = std::copy_n(sum, piece.size(), compute::scratch_floats(compute::ScratchSlot::row, kPiece)) - piece.size();
        normalize_piece(groups, call, {x, sum, y}, group, piece);
      } else {
        float *wide = compute::scratch_floats(compute::ScratchSlot::row, 2 * kPiece), *wide_sum = sum ? wide + kPiece : nullptr;
        compute::widen(x, wide, piece.size());
        if (sum) compute::widen(sum, wide_sum, piece.size());
        normalize_piece(groups, call, {wide, wide_sum, wide}, group, piece);
        compute::narrow(wide, operands.y + first, piece.size());
      }
    }
  }

  /// `operands` begin with the piece's values.
  void normalize_piece(const Groups& groups, const Call& call, const Operands<float>& operands, const Group& group, Range piece) const {
    const auto [x, sum, y] = operands;
    const bool by_channel = call.activation.kind == compute::ActivationKind::prelu;
    const auto finish = [&](int64_t begin, int64_t end, int64_t channel) {
      if (sum) compute::binary(compute::Binary::add, y + begin, sum + begin, y + begin, end - begin);
      const compute::Activation activation = call.activation.of_channel(group.index * groups.channels + channel);
      compute::activate(activation, y + begin, y + begin, end - begin);
    };
    for (int64_t at = 0; at < piece.size();) {
      const int64_t channel = (piece.begin + at) / groups.inner, end = std::min(piece.end, (channel + 1) * groups.inner) - piece.begin;
      const size_t parameter = parameter_of(groups, group.index, channel);
      const float factor = static_cast<float>(group.inverse_deviation * call.scale[parameter]);
      compute::centre_scale(x + at, static_cast<float>(group.mean), factor, static_cast<float>(call.bias[parameter]), y + at, end - at);
      if (by_channel) finish(at, end, channel);
      at = end;
    }
    if (!by_channel) finish(0, piece.size(), 0);
  }

  ops::GroupNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GroupNormalizationKernel)
