#include "ops/nn/rotary_embedding.h"

#include "providers/cpu/elements.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

class RotaryEmbeddingKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit RotaryEmbeddingKernel(const KernelInfo& info) : op_(info.attributes<ops::RotaryEmbedding>()) {}

  Status run(RunContext& context) const override {
    Turn turn;
    set_layout(context.input(0).shape(), turn);
    set_angles(context, turn);
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
    const int64_t* positions = nullptr;  ///< null: the angles lie in the order of the tokens
  };

  void set_layout(const Shape& x, Turn& turn) const {
    if (x.rank() == 4) {
      turn = {.batch = x[0], .heads = x[1], .length = x[2], .depth = x[3]};
      turn.token_stride = turn.depth;
      turn.head_stride = turn.length * turn.depth;
    } else if (x.rank() == 3 && op_.heads > 0 && x[2] % op_.heads == 0) {
      turn = {.batch = x[0], .heads = op_.heads, .length = x[1], .depth = x[2] / op_.heads};
      turn.token_stride = x[2];
      turn.head_stride = turn.depth;
    } else {
      fail(ErrorCode::invalid_argument,
           "RotaryEmbedding: X has shape {}, expected 4 dimensions, or 3 of which num_heads = {} divides the last", x.to_string(),
           op_.heads);
    }
    turn.batch_stride = turn.heads * turn.length * turn.depth;
    turn.turned = op_.rotary_depth == 0 ? turn.depth : op_.rotary_depth;
    if (turn.turned > turn.depth || turn.turned % 2 != 0) {
      fail(ErrorCode::invalid_argument, "RotaryEmbedding: {} elements of heads of {} would turn, expected an even number up to that",
           turn.turned, turn.depth);
    }
  }

  static void set_angles(RunContext& context, Turn& turn) {
    const Shape &cos = context.input(1).shape(), &sin = context.input(2).shape();
    const int64_t half = turn.turned / 2;
    const bool has_positions = context.has_input(3);
    const Shape expected = has_positions ? Shape{cos.rank() > 0 ? cos[0] : 0, half} : Shape{turn.batch, turn.length, half};
    if (!(cos == expected) || !(sin == expected) || context.input(1).dtype() != context.input(0).dtype() ||
        context.input(2).dtype() != context.input(0).dtype()) {
      fail(ErrorCode::invalid_argument, "RotaryEmbedding: cos_cache has shape {} and sin_cache {}, expected {} of the type of X",
           cos.to_string(), sin.to_string(), has_positions ? fmt::format("[positions, {}]", half) : expected.to_string());
    }
    if (!has_positions) return;
    if (!(context.input(3).shape() == Shape{turn.batch, turn.length})) {
      fail(ErrorCode::invalid_argument, "RotaryEmbedding: position_ids has shape {}, expected [{}, {}]",
           context.input(3).shape().to_string(), turn.batch, turn.length);
    }
    turn.positions = indices_of(context, 3);
    for (int64_t i = 0; i < turn.batch * turn.length; ++i) {
      if (turn.positions[i] < 0 || turn.positions[i] >= cos[0]) {
        fail(ErrorCode::invalid_argument, "RotaryEmbedding: position_ids has {}, expected positions in [0, {})", turn.positions[i], cos[0]);
      }
    }
  }

  template <typename T>
  void rotate(RunContext& context, const Turn& turn, int64_t token, T* to) const {
    const int64_t half = turn.turned / 2, angle = (turn.positions ? turn.positions[token] : token) * half;
    const T *cos = context.input(1).data<T>() + angle, *sin = context.input(2).data<T>() + angle;
    const int64_t base = token / turn.length * turn.batch_stride + token % turn.length * turn.token_stride;
    const int64_t step = op_.interleaved ? 2 : 1, other = op_.interleaved ? 1 : half;
    for (int64_t head = 0; head < turn.heads; ++head) {
      const T* x = context.input(0).data<T>() + base + head * turn.head_stride;
      T* y = to + base + head * turn.head_stride;
      for (int64_t i = 0; i < half; ++i) {
        const float c = static_cast<float>(cos[i]), s = static_cast<float>(sin[i]);
        const float a = static_cast<float>(x[i * step]), b = static_cast<float>(x[i * step + other]);
        y[i * step] = static_cast<T>(c * a - s * b);
        y[i * step + other] = static_cast<T>(s * a + c * b);
      }
      std::copy(x + turn.turned, x + turn.depth, y + turn.turned);
    }
  }

  ops::RotaryEmbedding op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RotaryEmbeddingKernel)
