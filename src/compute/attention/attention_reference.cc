#include <cmath>
#include <limits>

#include "compute/attention/attention.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

template <typename T>
struct Query {
  const BasicAttentionArgs<T>& args;
  int64_t batch, head, query;

  const T* of(const T* from, const MatrixStrides& strides, int64_t heads) const {
    return from + batch * strides.batch + head / (args.heads / heads) * strides.head;
  }
  T mask_at(int64_t key) const {
    const MatrixStrides &s = args.mask_strides, &k = args.key_mask_strides;
    const T mask = args.mask ? args.mask[batch * s.batch + head * s.head + query * s.row + key * args.mask_column] : T(0);
    return args.key_mask ? mask + args.key_mask[batch * k.batch + head * k.head + key] : mask;
  }

  bool is_replaced(int64_t key) const { return args.replaces_masked && mask_at(key) == T(kReplaced); }

  void run(T* scores, T* wanted) const {
    const auto keep = [&](Scores kind) {
      if (args.wanted == kind) std::copy_n(scores, args.keys, wanted);
    };
    multiply(scores);
    keep(Scores::products);
    if (args.softcap != 0) {
      for (int64_t key = 0; key < args.keys; ++key) scores[key] = args.softcap * std::tanh(scores[key] / args.softcap);
    }
    keep(Scores::capped);
    const Range seen = args.keys_of(batch, query);
    bool all_masked = true;
    for (int64_t key = 0; key < args.keys; ++key) {
      const bool sees = key >= seen.begin && key < seen.end;
      const T mask = !sees ? -std::numeric_limits<T>::infinity() : mask_at(key);
      all_masked &= mask == -std::numeric_limits<T>::infinity();
      scores[key] = sees && is_replaced(key) ? args.masked_score : sees ? scores[key] + mask : mask;
    }
    keep(Scores::masked);
    weigh(scores, all_masked && (args.masked_rows_are_zero || seen.size() == 0));
    for (int64_t key = seen.begin; key < seen.end && args.masked_is_zero; ++key)
      if (is_replaced(key)) scores[key] = T(0);
    keep(Scores::weights);
    add_values(scores, seen);
  }

  void multiply(T* scores) const {
    const T* q = of(args.q, args.q_strides, args.heads) + query * args.q_strides.row;
    const T* k = of(args.k, args.k_strides, args.key_heads);
    const int64_t row = args.k_is_transposed ? 1 : args.k_strides.row, column = args.k_is_transposed ? args.k_strides.row : 1;
    for (int64_t key = 0; key < args.keys; ++key) {
      T sum = 0;
      for (int64_t i = 0; i < args.depth; ++i) sum += q[i] * k[key * row + i * column];
      scores[key] = sum * args.scale;
    }
  }

  void weigh(T* scores, bool is_zero) const {
    T largest = -std::numeric_limits<T>::infinity(), sum = 0;
    for (int64_t key = 0; key < args.keys; ++key) largest = std::max(largest, scores[key]);
    if (args.sinks) {
      largest = std::max(largest, args.sinks[head]);
      sum = std::exp(args.sinks[head] - largest);
    }
    for (int64_t key = 0; key < args.keys; ++key) sum += scores[key] = std::exp(scores[key] - largest);
    for (int64_t key = 0; key < args.keys; ++key) {
      scores[key] = is_zero || (args.nan_is_zero && std::isnan(sum)) ? T(0) : scores[key] / sum;
    }
  }

  void add_values(const T* weights, Range seen) const {
    const T* v = of(args.v, args.v_strides, args.value_heads);
    T* y = args.y + batch * args.y_strides.batch + head * args.y_strides.head + query * args.y_strides.row;
    std::fill_n(y, args.value_depth, T(0));
    for (int64_t key = seen.begin; key < seen.end; ++key) {
      for (int64_t i = 0; i < args.value_depth; ++i) y[i] += weights[key] * v[key * args.v_strides.row + i];
    }
  }
};

}  // namespace

template <typename T>
void attention_reference(const BasicAttentionArgs<T>& args, const Parallel& parallel) {
  args.fill_heads(parallel);
  const double products = static_cast<double>(args.keys) * static_cast<double>(args.depth + args.value_depth + 16);
  parallel.for_range(args.batch * args.heads * args.queries, {sizeof(T) * products, products}, [&](Range range) {
    T* scores = static_cast<T*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(args.keys) * sizeof(T)));
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t matrix = i / args.queries;
      Query<T>{args, matrix / args.heads, matrix % args.heads, i % args.queries}.run(scores,
                                                                                     args.scores ? args.scores + i * args.keys : nullptr);
    }
  });
}

template void attention_reference(const BasicAttentionArgs<float>&, const Parallel&);
template void attention_reference(const BasicAttentionArgs<double>&, const Parallel&);

}  // namespace rh::compute
