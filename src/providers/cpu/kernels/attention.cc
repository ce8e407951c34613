#include "ops/nn/attention.h"

#include <cmath>
#include <limits>

#include "providers/cpu/attention_parts.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

/// [batch, heads, length, depth], or [batch, length, heads depth] as such.
struct Heads {
  int64_t batch, heads, length, depth;
  compute::MatrixStrides strides;

  Heads(const Shape& shape, int64_t given_heads, const char* name) {
    if (shape.rank() == 4) {
      batch = shape[0], heads = shape[1], length = shape[2], depth = shape[3];
      strides = {heads * length * depth, length * depth, depth};
      return;
    }
    if (shape.rank() != 3 || given_heads <= 0 || shape[2] % given_heads != 0) {
      fail(ErrorCode::invalid_argument, "Attention: {} has shape {}, expected four dimensions, or three of which {} heads divide the last",
           name, shape.to_string(), given_heads);
    }
    batch = shape[0], heads = given_heads, length = shape[1], depth = shape[2] / heads;
    strides = {length * shape[2], depth, shape[2]};
  }
  std::string to_string() const { return Shape{batch, heads, length, depth}.to_string(); }
};

}  // namespace

/// Numbers of float and the half types go through float, or through double where that is the type or the softmax is asked for in it.
class AttentionKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit AttentionKernel(const KernelInfo& info)
      : op_(info.attributes<ops::Attention>()), ways_(attention_ways(info)), variant_(expected_variant(info)) {}

  KernelVariant variant() const override { return variant_; }

  Status run(RunContext& context) const override {
    const DType q_type = context.input(0).dtype(), v_type = context.input(2).dtype();
    if (q_type == DType::float64 || v_type == DType::float64 || op_.softmax_precision == DType::float64) return run_as<double>(context);
    return run_as<float>(context);
  }

 private:
  KernelVariant expected_variant(const KernelInfo& info) const {
    const bool is_double =
        info.input_dtype(0) == DType::float64 || info.input_dtype(2) == DType::float64 || op_.softmax_precision == DType::float64;
    if (is_double || info.node().has_output(3)) return plain_attention();
    const auto depth_of = [&](int input, int64_t heads) {  // of three dimensions, or four
      const int64_t size = declared_size(info, input, -1);
      return size < 0 || declared_size(info, input, 3) >= 0 ? size : heads > 0 ? size / heads : -1;
    };
    compute::AttentionArgs args{.queries = declared_size(info, 0, -2), .keys = declared_size(info, 1, -2)};
    args.ways = ways_;
    if (info.node().has_input(4)) {
      args.past = declared_size(info, 4, 2);
      args.keys = args.keys < 0 || args.past < 0 ? -1 : args.keys + args.past;
      args.past = std::max<int64_t>(0, args.past);
    }
    args.depth = depth_of(0, op_.q_heads);
    args.value_depth = depth_of(2, op_.kv_heads);
    args.softcap = op_.softcap;
    args.left_window = op_.left_window;
    args.right_window = op_.is_causal ? 0 : op_.right_window;
    static constexpr float kNumber = 0;
    if (info.node().has_input(3)) {
      args.mask = &kNumber;
      args.mask_column = declared_size(info, 3, -1) == 1 && args.keys != 1 ? 0 : 1;
    }
    if (info.node().has_input(6)) args.keys = -1;  // a run says how many are seen
    return attention_variant(args);
  }

  template <typename T>
  Status run_as(RunContext& context) const {
    const Shape &q_shape = context.input(0).shape(), &k_shape = context.input(1).shape(), &v_shape = context.input(2).shape();
    const Heads q(q_shape, op_.q_heads, "Q");
    Heads k(k_shape, op_.kv_heads, "K"), v(v_shape, op_.kv_heads, "V");
    if (q_shape.rank() != k_shape.rank() || q_shape.rank() != v_shape.rank() || k.batch != q.batch || v.batch != q.batch ||
        k.heads != v.heads || k.length != v.length || k.depth != q.depth || (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)) {
      return error_status(ErrorCode::invalid_argument, "Attention: Q has shape {}, K {} and V {}, which do not fit each other",
                          q_shape.to_string(), k_shape.to_string(), v_shape.to_string());
    }
    compute::BasicAttentionArgs<T> args{.batch = q.batch, .heads = q.heads, .key_heads = k.heads, .value_heads = v.heads};
    args.ways = ways_;
    args.past = context.has_input(4) ? past_length(context, k, v) : 0;
    const AppendedRows appended[] = {present(context, 1, args.past, k), present(context, 2, args.past, v)};
    const auto fill = [&](int64_t batch, int64_t head) {
      for (const AppendedRows& part : appended)
        if (part.to) part.fill_head(batch, head);
    };
    const FunctionRef<void(int64_t, int64_t)> fill_head(fill);
    args.fill_head = &fill_head;
    args.queries = q.length;
    args.keys = k.length;
    args.depth = q.depth;
    args.value_depth = v.depth;
    args.scale = static_cast<T>(op_.scale ? *op_.scale : 1 / std::sqrt(std::max<double>(1, static_cast<double>(q.depth))));
    args.softcap = static_cast<T>(op_.softcap);
    args.masked_rows_are_zero = true;
    args.left_window = op_.left_window;
    args.right_window = op_.is_causal ? 0 : op_.right_window;
    args.q_strides = q.strides;
    args.k_strides = k.strides;
    args.v_strides = v.strides;
    args.q = converted(context, context.input(0), dtype_of<T>).template data<T>();
    const TensorView keys = appended[0].to ? TensorView(appended[0].view()) : context.input(1);
    const TensorView values = appended[1].to ? TensorView(appended[1].view()) : context.input(2);
    if (keys.dtype() != dtype_of<T> || values.dtype() != dtype_of<T>) {  // they are read when they are converted
      args.fill_heads(context.parallel());
      args.fill_head = nullptr;
    }
    args.k = converted(context, keys, dtype_of<T>).template data<T>();
    args.v = converted(context, values, dtype_of<T>).template data<T>();
    if (context.has_input(3)) set_mask(context, args);
    if (context.has_input(6)) args.valid_keys = valid_keys(context, args.batch, args.keys);
    compute_outputs(context, q_shape.rank() == 4, args);
    return {};
  }

  /// The length of the past, which is held against the present keys and values.
  static int64_t past_length(RunContext& context, const Heads& k, const Heads& v) {
    const Shape &keys = context.input(4).shape(), &values = context.input(5).shape();
    const auto fits = [](const Shape& past, const Heads& now) {
      return past.rank() == 4 && past[0] == now.batch && past[1] == now.heads && past[3] == now.depth;
    };
    if (!fits(keys, k) || !fits(values, v) || keys[2] != values[2] || context.input(4).dtype() != context.input(1).dtype() ||
        context.input(5).dtype() != context.input(2).dtype()) {
      fail(ErrorCode::invalid_argument, "Attention: past_key is {}{} and past_value {}{}, which do not fit K {}{} and V {}{}",
           to_string(context.input(4).dtype()), keys.to_string(), to_string(context.input(5).dtype()), values.to_string(),
           to_string(context.input(1).dtype()), k.to_string(), to_string(context.input(2).dtype()), v.to_string());
    }
    return keys[2];
  }

  /// The keys (input 1) or values (2) after their past, in the output that has them if it is wanted, which are yet to be filled. `now`
  /// becomes where they lie.
  static AppendedRows present(RunContext& context, int input, int64_t past, Heads& now) {
    const TensorView x = context.input(input);
    const bool has_past = context.has_input(input + 3), is_wanted = context.has_output(input);
    if (!has_past && !is_wanted) return {};
    AppendedRows all{.dtype = x.dtype(), .rows = {x.raw(), now.strides, now.length}};
    const Shape shape{now.batch, now.heads, now.length + past, now.depth};
    check_elements(shape, "Attention: present keys and values");
    now = Heads(shape, 0, "present");
    all.shape = shape;
    all.to = is_wanted ? context.output(input, x.dtype(), shape).raw() : context.scratch(bytes_of(x.dtype(), shape.elements()));
    if (has_past) all.past = context.input(input + 3).raw();
    all.past_capacity = past;
    all.past_lengths = equal_lengths(context, now.batch, past);
    return all;
  }

  template <typename T>
  void set_mask(RunContext& context, compute::BasicAttentionArgs<T>& args) const {
    const TensorView mask = context.input(3);
    const Shape target{args.batch, args.heads, args.queries, args.keys};
    int64_t steps[4] = {0, 0, 0, 0}, stride = 1;
    bool fits = mask.rank() >= 1 && mask.rank() <= 4;
    for (int i = 0; fits && i < mask.rank(); ++i) {
      const int64_t size = mask.shape()[mask.rank() - 1 - i];
      const bool is_short = i == 0 && size < args.keys && (op_.pads_mask || size != 1);
      if (size == target[3 - i] || is_short)
        steps[3 - i] = stride;
      else
        fits = size == 1;
      if (is_short) args.masked_keys = size;
      stride *= size;
    }
    if (!fits) {
      fail(ErrorCode::invalid_argument, "Attention: the mask has shape {}, expected one that broadcasts to {}", mask.shape().to_string(),
           target.to_string());
    }
    args.mask_strides = {steps[0], steps[1], steps[2]};
    args.mask_column = steps[3];
    if (mask.dtype() != DType::boolean) {
      args.mask = converted(context, mask, dtype_of<T>).template data<T>();
      return;
    }
    T* numbers = context.scratch_array<T>(mask.elements());
    const bool* sees = mask.data<bool>();
    for (int64_t i = 0; i < mask.elements(); ++i) numbers[i] = sees[i] ? T(0) : -std::numeric_limits<T>::infinity();
    args.mask = numbers;
  }

  static const int64_t* valid_keys(RunContext& context, int64_t batch, int64_t keys) {
    const TensorView lengths = context.input(6);
    if (lengths.elements() != batch) {
      fail(ErrorCode::invalid_argument, "Attention: nonpad_kv_seqlen has shape {}, expected [{}]", lengths.shape().to_string(), batch);
    }
    for (const int64_t length : lengths.span<int64_t>()) {
      if (length < 0 || length > keys) {
        fail(ErrorCode::invalid_argument, "Attention: nonpad_kv_seqlen has {}, expected lengths in [0, {}]", length, keys);
      }
    }
    return lengths.data<int64_t>();
  }

  /// Outputs 0 and 3.
  template <typename T>
  void compute_outputs(RunContext& context, bool heads_first, compute::BasicAttentionArgs<T>& args) const {
    const Shape shape = heads_first ? Shape{args.batch, args.heads, args.queries, args.value_depth}
                                    : Shape{args.batch, args.queries, args.heads * args.value_depth};
    const ConvertedOutput y(context, 0, shape, dtype_of<T>);
    args.y_strides = Heads(shape, args.heads, "Y").strides;
    args.y = y.template data<T>();
    std::optional<ConvertedOutput> scores;
    if (context.has_output(3)) {
      scores.emplace(context, 3, Shape{args.batch, args.heads, args.queries, args.keys}, dtype_of<T>);
      args.scores = scores->template data<T>();
      args.wanted = static_cast<compute::Scores>(static_cast<int>(op_.qk_output) + 1);
    }
    if constexpr (std::is_same_v<T, float>) {
      args.scores ? attention_reference(args, context.parallel()) : attention(args, context.parallel());
    } else {
      attention_reference(args, context.parallel());
    }
    y.store(context.parallel());
    if (scores) scores->store(context.parallel());
  }

  ops::Attention op_;
  compute::AttentionWays ways_;
  KernelVariant variant_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(AttentionKernel)
