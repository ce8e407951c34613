#include "ops/nn/rotary_embedding.h"

#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/rotary.h"

namespace rh::cpu {

class RotaryEmbeddingKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit RotaryEmbeddingKernel(const KernelInfo& info) : op_(info.attributes<ops::RotaryEmbedding>()) {}

  Status run(RunContext& context) const override {
    Turn turn;
    set_layout(context.input(0).shape(), depth_of_heads(context), turn);
    op_.sections.empty() ? set_angles(context, turn) : gather_angles(context, turn);
    const MutableView y = context.output(0, context.input(0).shape());
    return dispatch<Types>(context.input(0).dtype(), "RotaryEmbedding", [&]<typename T>() {
      const double bytes = 2.0 * static_cast<double>(turn.heads * turn.depth) * sizeof(T);
      context.parallel().for_range(turn.batch * turn.length, {bytes, bytes}, [&](Range part) {
        for (int64_t token = part.begin; token < part.end; ++token) rotate<T>(context, turn, token, y.data<T>());
      });
    });
  }

 private:
  struct Turn {
    int64_t batch, heads, length, depth, turned;
    int64_t batch_stride, head_stride, token_stride;
    const int64_t* positions = nullptr;                ///< null: the angles lie in the order of the tokens
    const float *cosines = nullptr, *sines = nullptr;  ///< gathered for each token; null: as the inputs are
  };

  /// That of com.microsoft where num_heads is left out: twice the angles of the caches.
  int64_t depth_of_heads(const RunContext& context) const {
    const Shape& cos = context.input(op_.cosines()).shape();
    return op_.is_contrib && op_.sections.empty() && op_.heads == 0 && cos.rank() == 2 ? 2 * cos[1] : 0;
  }

  void set_layout(const Shape& x, int64_t depth, Turn& turn) const {
    const int64_t heads = x.rank() == 3 && depth > 0 ? x[2] / depth : op_.heads;
    if (x.rank() == 4) {
      turn = {.batch = x[0], .heads = x[1], .length = x[2], .depth = x[3]};
      turn.token_stride = turn.depth;
      turn.head_stride = turn.length * turn.depth;
    } else if (x.rank() == 3 && heads > 0 && x[2] % heads == 0 && (depth == 0 || x[2] == heads * depth)) {
      turn = {.batch = x[0], .heads = heads, .length = x[1], .depth = x[2] / heads};
      turn.token_stride = x[2];
      turn.head_stride = turn.depth;
    } else {
      fail(ErrorCode::invalid_argument,
           "RotaryEmbedding: X has shape {}, expected 4 dimensions, or 3 of which num_heads = {} divides the last", x.to_string(), heads);
    }
    turn.batch_stride = turn.heads * turn.length * turn.depth;
    turn.turned = op_.rotary_depth == 0 ? turn.depth : op_.rotary_depth;
    if (turn.turned > turn.depth || turn.turned % 2 != 0) {
      fail(ErrorCode::invalid_argument, "RotaryEmbedding: {} elements of heads of {} would turn, expected an even number up to that",
           turn.turned, turn.depth);
    }
  }

  void set_angles(RunContext& context, Turn& turn) const {
    const int cosines = op_.cosines(), sines = op_.sines(), ids = op_.positions();
    const Shape &cos = context.input(cosines).shape(), &sin = context.input(sines).shape();
    const int64_t half = turn.turned / 2;
    const bool has_positions = context.has_input(ids);
    const Shape expected = has_positions ? Shape{cos.rank() > 0 ? cos[0] : 0, half} : Shape{turn.batch, turn.length, half};
    if (!(cos == expected) || !(sin == expected) || context.input(cosines).dtype() != context.input(0).dtype() ||
        context.input(sines).dtype() != context.input(0).dtype()) {
      fail(ErrorCode::invalid_argument, "RotaryEmbedding: cos_cache has shape {} and sin_cache {}, expected {} of the type of X",
           cos.to_string(), sin.to_string(), has_positions ? fmt::format("[positions, {}]", half) : expected.to_string());
    }
    if (has_positions) turn.positions = positions(context, turn, cos[0]);
  }

  /// MRotaryEmbedding: the angles of each token, some of each of its positions.
  void gather_angles(RunContext& context, Turn& turn) const {
    const Shape &cos = context.input(2).shape(), &sin = context.input(3).shape(), &ids = context.input(1).shape();
    const int64_t half = turn.turned / 2, tokens = turn.batch * turn.length;
    if (cos.rank() != 2 || cos[1] != half || !(sin == cos) || !(ids == Shape{3, turn.batch, turn.length})) {
      fail(ErrorCode::invalid_argument,
           "MRotaryEmbedding: cos_cache has shape {}, sin_cache {} and position_ids {}, expected [positions, {}] both and [3, {}, {}]",
           cos.to_string(), sin.to_string(), ids.to_string(), half, turn.batch, turn.length);
    }
    int64_t sum = 0;
    for (int64_t size : op_.sections) sum = size > half ? half + 1 : sum + size;
    if (sum != half) {
      fail(ErrorCode::invalid_argument, "MRotaryEmbedding: mrope_section is {}, expected a sum of {}, half the elements that turn",
           to_string(op_.sections), half);
    }
    const int64_t* positions = indices_of(context, 1);
    for (int64_t i = 0; i < 3 * tokens; ++i) {
      if (positions[i] < 0 || positions[i] >= cos[0]) {
        fail(ErrorCode::invalid_argument, "MRotaryEmbedding: position_ids has {}, expected positions in [0, {})", positions[i], cos[0]);
      }
    }
    turn.cosines = gathered(context, 2, turn, positions);
    turn.sines = gathered(context, 3, turn, positions);
  }

  const float* gathered(RunContext& context, int input, const Turn& turn, const int64_t* positions) const {
    const int64_t half = turn.turned / 2, tokens = turn.batch * turn.length;
    const float* from = converted(context, context.input(input), DType::float32).data<float>();
    float* to = context.scratch_array<float>(tokens * half);
    for (int64_t i = 0; i < half; ++i) {
      const int64_t* stream = positions + op_.stream_of(i) * tokens;
      for (int64_t token = 0; token < tokens; ++token) to[token * half + i] = op_.scale * from[stream[token] * half + i];
    }
    return to;
  }

  /// The position of each token, in [0, count). com.microsoft has also one position for the first token of all sequences.
  const int64_t* positions(RunContext& context, const Turn& turn, int64_t count) const {
    const Shape& shape = context.input(op_.positions()).shape();
    const int64_t tokens = turn.batch * turn.length;
    const bool is_first = op_.is_contrib && shape == Shape{1};
    if (!is_first && !(shape == Shape{turn.batch, turn.length})) {
      fail(ErrorCode::invalid_argument, "RotaryEmbedding: position_ids has shape {}, expected [{}, {}]", shape.to_string(), turn.batch,
           turn.length);
    }
    const int64_t* given = indices_of(context, op_.positions());
    const int64_t last = is_first ? turn.length - 1 : 0;
    for (int64_t i = 0; i < shape.elements(); ++i) {
      if (given[i] < 0 || given[i] >= count || given[i] + last >= count) {
        fail(ErrorCode::invalid_argument, "RotaryEmbedding: position_ids has {}, expected positions in [0, {})", given[i], count - last);
      }
    }
    if (!is_first) return given;
    int64_t* all = context.scratch_array<int64_t>(tokens);
    for (int64_t i = 0; i < tokens; ++i) all[i] = given[0] + i % turn.length;
    return all;
  }

  template <typename T>
  void rotate(RunContext& context, const Turn& turn, int64_t token, T* to) const {
    const int64_t half = turn.turned / 2, angle = (turn.positions ? turn.positions[token] : token) * half;
    const int64_t base = token / turn.length * turn.batch_stride + token % turn.length * turn.token_stride;
    const compute::RotatedHeads heads{turn.heads, turn.head_stride, turn.depth, half, op_.interleaved};
    const T* from = context.input(0).data<T>() + base;
    if (turn.cosines) return rotate_heads(heads, from, turn.cosines + angle, turn.sines + angle, to + base);
    rotate_heads(heads, from, context.input(op_.cosines()).data<T>() + angle, context.input(op_.sines()).data<T>() + angle, to + base);
  }

  ops::RotaryEmbedding op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RotaryEmbeddingKernel)
