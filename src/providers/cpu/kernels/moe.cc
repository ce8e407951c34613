#include "ops/nn/moe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm.h"
#include "compute/quant/nbits.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/member_lists.h"
#include "providers/cpu/weight_inputs.h"

namespace rh::cpu {

namespace {

/// The logits of a token, best expert first; of equal ones the last comes first, as in ONNX Runtime. NaN is the least.
void choose(const float* logits, int64_t experts, int64_t k, int64_t* order) {
  std::iota(order, order + experts, int64_t{0});
  const auto key = [&](int64_t i) { return std::isnan(logits[i]) ? -std::numeric_limits<float>::infinity() : logits[i]; };
  std::partial_sort(order, order + k, order + experts, [&](int64_t a, int64_t b) { return key(a) != key(b) ? key(a) > key(b) : a > b; });
}

}  // namespace

/// Experts one after the other, each over all of its tokens at once. Constant float weights are packed at load, others read where they lie.
class MoEKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit MoEKernel(const KernelInfo& info) : op_(info.attributes<ops::MoE>()) {
    for (int i = 0; i < 3; ++i) packed_[static_cast<size_t>(i)] = Packed(info.constant_input(op_.weights(i)));
    for (int i = 0; op_.quantized && i < 3; ++i) {
      const Tensor *weights = info.constant_input(op_.weights(i)), *zeros = info.constant_input(op_.zero_points(i));
      // What does not fit is said when it runs.
      if (!weights || !zeros || weights->shape().rank() != 3 || zeros->elements() == 0) continue;
      const Codes codes = codes_of(i, weights->shape());
      if (codes.columns < 1 || zeros->elements() != codes.zero_bytes()) continue;
      zero_points_[static_cast<size_t>(i)].resize(static_cast<size_t>(codes.rows * codes.row_codes));
      unpack_codes(zeros->data<uint8_t>(), static_cast<int>(op_.bits[i]), codes.rows, codes.row_codes,
                   zero_points_[static_cast<size_t>(i)].data());
    }
  }

  bool owns_constant(int input) const override {
    for (int i = 0; i < 3; ++i) {
      if (input == op_.zero_points(i) && !zero_points_[static_cast<size_t>(i)].empty()) return true;
      if (input == op_.weights(i) && is_packed(i)) return true;
    }
    return false;
  }
  size_t packed_bytes() const override {
    size_t bytes = zero_points_[0].size() + zero_points_[1].size() + zero_points_[2].size();
    for (const Packed& packed : packed_) {
      for (const auto& expert : packed.experts) bytes += expert.bytes();
    }
    return bytes;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), router = context.input(1);
    const int rank = x.rank();
    if (rank != 2 && rank != 3) {
      return error_status(ErrorCode::invalid_argument, "MoE: input has shape {}, expected two or three dimensions", x.shape().to_string());
    }
    Sizes sizes{.tokens = x.shape().product(0, rank - 1), .hidden = x.shape()[rank - 1]};
    if (router.rank() != 2 || router.shape()[0] != sizes.tokens) {
      return error_status(ErrorCode::invalid_argument, "MoE: router_probs have shape {}, expected [{}, experts]",
                          router.shape().to_string(), sizes.tokens);
    }
    sizes.experts = router.shape()[1];
    if (op_.k > sizes.experts) {
      return error_status(ErrorCode::invalid_argument, "MoE: k is {}, expected at most the {} experts", op_.k, sizes.experts);
    }
    Projection projections[3];
    RH_RETURN_IF_ERROR(read_projections(context, sizes, projections));
    const ConvertedOutput y(context, 0, x.shape(), DType::float32);
    if (x.elements() == 0) return {};
    std::fill_n(y.data<float>(), x.elements(), 0.0f);
    Routes routes{};
    RH_RETURN_IF_ERROR(route(context, sizes, routes));
    run_experts(context, sizes, projections, routes, converted(context, x, DType::float32).data<float>(), y.data<float>());
    y.store(context.parallel());
    return {};
  }

 private:
  struct Sizes {
    int64_t tokens = 0, hidden = 0, experts = 0, inner = 0;
  };

  /// Constant float weights [experts, rows, columns], packed one expert at a time; none for other tensors.
  struct Packed {
    Shape shape;
    std::vector<compute::PackedMatrix<float>> experts;

    Packed() = default;
    explicit Packed(const Tensor* weights) {
      // What does not fit is said when it runs.
      if (!weights || weights->dtype() != DType::float32 || weights->shape().rank() != 3 || weights->elements() == 0) return;
      shape = weights->shape();
      for (int64_t e = 0; e < shape[0]; ++e)
        experts.emplace_back(weights->data<float>() + e * shape[1] * shape[2], shape[2], shape[1], true);
    }
  };
  bool is_packed(int i) const { return !packed_[static_cast<size_t>(i)].experts.empty(); }
  bool has_weights(const RunContext& context, int i) const { return is_packed(i) || context.has_input(op_.weights(i)); }
  const Shape& weights_shape(const RunContext& context, int i) const {
    return is_packed(i) ? packed_[static_cast<size_t>(i)].shape : context.input(op_.weights(i)).shape();
  }

  /// The matrices [rows, columns] of fc1, fc2 or fc3.
  struct Projection {
    TensorView weights;
    const compute::PackedMatrix<float>* packed = nullptr;  ///< of each expert, in place of `weights`
    int64_t rows = 0, columns = 0;
    int64_t bits = 0;   ///< 0: not quantised
    int64_t block = 1;  ///< columns that share a scale
    const float *scales = nullptr, *bias = nullptr;
    const uint8_t* zero_points = nullptr;

    void multiply(int64_t expert, int64_t m, const float* a, float* y, const Parallel& parallel) const {
      const float* b = bias ? bias + expert * rows : nullptr;
      const int64_t first = expert * rows;
      if (bits > 0) {
        const int64_t blocks = columns / block;
        const compute::NBitsMatrix matrix{.n = rows,
                                          .k = columns,
                                          .bits = static_cast<int>(bits),
                                          .block = block,
                                          .data = weights.data<uint8_t>() + first * columns * bits / 8,
                                          .scales = scales + first * blocks,
                                          .zero_codes = zero_points ? zero_points + first * blocks : nullptr};
        return compute::nbits_multiply(matrix, m, a, b, y, parallel);
      }
      if (packed || weights.dtype() == DType::float32) {
        compute::GemmArgs<float> args{.m = m, .n = rows, .k = columns, .transpose_b = true};
        if (b) args.epilogue.bias_kind = compute::BiasKind::per_column, args.epilogue.bias = b;
        if (packed) return compute::gemm(args, a, packed[expert], y, parallel);
        return compute::gemm(args, a, weights.data<float>() + first * columns, y, parallel);
      }
      const auto as_floats = [&](int64_t row, int64_t count, float* out) {
        const Shape shape{count, columns};
        const auto* from = static_cast<const uint8_t*>(weights.raw()) + (first + row) * columns * 2;
        convert_elements(TensorView(weights.dtype(), shape, from), MutableView(DType::float32, shape, out), 0, count * columns);
      };
      compute::multiply_rows(rows, columns, as_floats, m, a, b, y, parallel);
    }
  };

  /// How the zero points of a projection lie: `rows` rows of `row_codes` codes, each padded to whole bytes.
  struct Codes {
    int64_t columns = 0, rows = 0, row_codes = 0, bits = 4;
    int64_t zero_bytes() const { return rows * ((row_codes * bits + 7) / 8); }
  };
  Codes codes_of(int i, const Shape& weights) const {
    Codes codes{.columns = checked_product(weights[2], 8 / op_.bits[i], "MoE: columns of the weights"), .bits = op_.bits[i]};
    const bool blocked = op_.block_size > 0;
    codes.rows = blocked ? weights[0] * weights[1] : weights[0];
    codes.row_codes = blocked ? codes.columns / op_.block_size : weights[1];
    return codes;
  }

  Status read_projections(RunContext& context, Sizes& sizes, Projection* projections) const {
    const Shape& second = weights_shape(context, 1);
    if (second.rank() != 3) return misfit(op_.weights(1), second, "three dimensions");
    sizes.inner = op_.quantized ? codes_of(1, second).columns : second[2];
    if (sizes.inner < 1 || sizes.hidden < 1) {
      return error_status(ErrorCode::invalid_argument, "MoE: hidden size is {} and inner size {}, expected at least 1", sizes.hidden,
                          sizes.inner);
    }
    const int64_t outer = checked_product(sizes.inner, op_.is_fused() ? 2 : 1, "MoE: inner size");
    RH_RETURN_IF_ERROR(read(context, 0, sizes.experts, outer, sizes.hidden, projections[0]));
    RH_RETURN_IF_ERROR(read(context, 1, sizes.experts, sizes.hidden, sizes.inner, projections[1]));
    return has_weights(context, 2) ? read(context, 2, sizes.experts, sizes.inner, sizes.hidden, projections[2]) : Status();
  }

  Status read(RunContext& context, int i, int64_t experts, int64_t rows, int64_t columns, Projection& projection) const {
    projection.rows = rows;
    projection.columns = columns;
    const int64_t width = op_.quantized ? columns * op_.bits[i] / 8 : columns;
    const Shape& found = weights_shape(context, i);
    if (const Shape expected{experts, rows, width}; !(found == expected)) return misfit(op_.weights(i), found, expected.to_string());
    if (is_packed(i)) {
      projection.packed = packed_[static_cast<size_t>(i)].experts.data();
    } else {
      projection.weights = context.input(op_.weights(i));
    }
    if (context.has_input(op_.bias(i))) {
      RH_RETURN_IF_ERROR(expect_shape(context, op_.bias(i), {experts, rows}));
      projection.bias = converted(context, context.input(op_.bias(i)), DType::float32).data<float>();
    }
    if (!op_.quantized) return {};
    projection.bits = op_.bits[i];
    projection.block = op_.block_size > 0 ? op_.block_size : columns;
    if (columns * projection.bits % 8 != 0 || columns % projection.block != 0) {
      return error_status(ErrorCode::invalid_argument, "QMoE: fc{} has {} columns, expected whole bytes and a multiple of block_size {}",
                          i + 1, columns, op_.block_size);
    }
    if (!context.has_input(op_.scales(i)))
      return error_status(ErrorCode::invalid_argument, "QMoE: input {} (scales) is left out", op_.scales(i));
    const Shape blocks = op_.block_size > 0 ? Shape{experts, rows, columns / projection.block} : Shape{experts, rows};
    RH_RETURN_IF_ERROR(expect_shape(context, op_.scales(i), blocks));
    projection.scales = converted(context, context.input(op_.scales(i)), DType::float32).data<float>();
    const std::vector<uint8_t>& known = zero_points_[static_cast<size_t>(i)];
    if (!known.empty()) projection.zero_points = known.data();
    if (!known.empty() || !context.has_input(op_.zero_points(i))) return {};
    const Codes codes = codes_of(i, projection.weights.shape());
    RH_RETURN_IF_ERROR(expect_elements(context.input(op_.zero_points(i)), "zero_points", codes.zero_bytes()));
    auto* zeros = context.scratch_array<uint8_t>(codes.rows * codes.row_codes);
    unpack_codes(context.input(op_.zero_points(i)).data<uint8_t>(), static_cast<int>(codes.bits), codes.rows, codes.row_codes, zeros);
    projection.zero_points = zeros;
    return {};
  }

  static Status misfit(int input, const Shape& found, const std::string& expected) {
    return error_status(ErrorCode::invalid_argument, "MoE: input {} has shape {}, expected {}", input, found.to_string(), expected);
  }
  static Status expect_shape(const RunContext& context, int input, const Shape& expected) {
    const Shape& found = context.input(input).shape();
    return found == expected ? Status() : misfit(input, found, expected.to_string());
  }

  /// The tokens of each expert, with their weights.
  struct Routes {
    const int64_t* begin;  ///< [experts + 1]: where each expert's tokens begin
    const int64_t* token;
    const float* weight;
  };

  Status route(RunContext& context, const Sizes& sizes, Routes& routes) const {
    const int64_t experts = sizes.experts, k = op_.k;
    const float *logits = converted(context, context.input(1), DType::float32).data<float>(), *given = nullptr;
    if (context.has_input(op_.router_weights())) {
      RH_RETURN_IF_ERROR(expect_shape(context, op_.router_weights(), {sizes.tokens, experts}));
      given = converted(context, context.input(op_.router_weights()), DType::float32).data<float>();
    }
    const int64_t count = checked_product(sizes.tokens, k, "MoE: chosen experts");
    auto *chosen = context.scratch_array<int64_t>(count), *order = context.scratch_array<int64_t>(experts),
         *token = context.scratch_array<int64_t>(count);
    float *chosen_weight = context.scratch_array<float>(count), *row = context.scratch_array<float>(experts),
          *weight = context.scratch_array<float>(count);
    for (int64_t t = 0; t < sizes.tokens; ++t) {
      choose(logits + t * experts, experts, k, order);
      std::copy_n(order, k, chosen + t * k);
      weigh(logits + t * experts, given ? given + t * experts : nullptr, experts, order, row, chosen_weight + t * k);
    }
    const MemberLists groups = group_members(context, count, experts, [&](int64_t i) { return chosen[i]; });
    for (int64_t at = 0; at < count; ++at) {
      token[at] = groups.member[at] / k;
      weight[at] = chosen_weight[groups.member[at]];
    }
    routes = {groups.begin, token, weight};
    return {};
  }

  /// The weights of a token's experts: MoE takes the softmax of all logits, QMoE that of the chosen ones, or numbers of their own.
  void weigh(const float* logits, const float* given, int64_t experts, const int64_t* chosen, float* row, float* weights) const {
    const int64_t k = op_.k;
    if (given) {
      for (int64_t i = 0; i < k; ++i) weights[i] = given[chosen[i]];
    } else if (op_.quantized) {
      for (int64_t i = 0; i < k; ++i) row[i] = logits[chosen[i]];
      return compute::softmax_rows(row, weights, 1, k, false);
    } else {
      compute::softmax_rows(logits, row, 1, experts, false);
      for (int64_t i = 0; i < k; ++i) weights[i] = row[chosen[i]];
    }
    const float sum = std::accumulate(weights, weights + k, 0.0f);
    if (op_.normalize && sum != 0) compute::binary_scalar(compute::Binary::div, weights, sum, weights, k);
  }

  void run_experts(RunContext& context, const Sizes& sizes, const Projection* projections, const Routes& routes, const float* x,
                   float* y) const {
    int64_t most = 0;
    for (int64_t e = 0; e < sizes.experts; ++e) most = std::max(most, routes.begin[e + 1] - routes.begin[e]);
    const auto buffer = [&](int64_t columns) {
      return context.scratch_array<float>(checked_product(most, columns, "MoE: rows of an expert"));
    };
    const bool has_factors = has_weights(context, 2);
    float *in = buffer(sizes.hidden), *wide = buffer(projections[0].rows), *narrow = buffer(sizes.inner), *out = buffer(sizes.hidden);
    float* factors = has_factors ? buffer(sizes.inner) : nullptr;
    const Cost copy{8.0 * static_cast<double>(sizes.hidden), 2.0 * static_cast<double>(sizes.hidden)};
    const Cost gate{16.0 * static_cast<double>(sizes.inner), 16.0 * static_cast<double>(sizes.inner)};
    for (int64_t e = 0; e < sizes.experts; ++e) {
      const int64_t first = routes.begin[e], count = routes.begin[e + 1] - first;
      if (count == 0) continue;
      const int64_t* tokens = routes.token + first;
      for (int64_t i = 0; i < count; ++i) std::copy_n(x + tokens[i] * sizes.hidden, sizes.hidden, in + i * sizes.hidden);
      projections[0].multiply(e, count, in, wide, context.parallel());
      if (has_factors) projections[2].multiply(e, count, in, factors, context.parallel());
      context.parallel().for_range(count, gate, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          activate(wide + i * projections[0].rows, factors ? factors + i * sizes.inner : nullptr, narrow + i * sizes.inner, sizes.inner);
        }
      });
      projections[1].multiply(e, count, narrow, out, context.parallel());
      context.parallel().for_range(count, copy, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          compute::add_scaled(out + i * sizes.hidden, routes.weight[first + i], y + tokens[i] * sizes.hidden, sizes.hidden);
        }
      });
    }
  }

  /// One row from fc1, and from fc3 where there is one (changed at will), to what fc2 takes.
  void activate(const float* from, float* factors, float* to, int64_t count) const {
    using A = ops::MoE::Activation;
    using compute::ActivationKind;
    if (op_.activation != A::swiglu) {
      const ActivationKind kind = op_.activation == A::relu   ? ActivationKind::relu
                                  : op_.activation == A::gelu ? ActivationKind::gelu_tanh
                                  : op_.activation == A::silu ? ActivationKind::silu
                                                              : ActivationKind::none;
      compute::activate({kind, 1}, from, to, count);
      if (factors) compute::binary(compute::Binary::mul, to, factors, to, count);
      return;
    }
    // Gates and factors lie apart, side by side, or one half after the other.
    const bool interleaved = op_.gates == ops::MoE::Gates::interleaved, halves = op_.gates == ops::MoE::Gates::halves;
    const float before = op_.limits_activated ? std::numeric_limits<float>::infinity() : op_.limit;
    for (int64_t i = 0; i < count; ++i) to[i] = std::min(interleaved ? from[2 * i] : from[i], before);
    compute::activate({ActivationKind::silu, op_.alpha}, to, to, count);
    if (op_.limits_activated) {
      for (int64_t i = 0; i < count; ++i) to[i] = std::min(to[i], op_.limit);
    }
    for (int64_t i = 0; i < count; ++i) {
      const float factor = interleaved ? from[2 * i + 1] : halves ? from[count + i] : factors[i];
      to[i] *= std::clamp(factor, -op_.limit, op_.limit) + op_.beta;
    }
  }

  ops::MoE op_;
  std::array<Packed, 3> packed_;                     ///< of the projections
  std::array<std::vector<uint8_t>, 3> zero_points_;  ///< of the projections, where they are constant
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MoEKernel)
