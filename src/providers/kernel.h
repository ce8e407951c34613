#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/fetch_list.h"
#include "base/inline_vector.h"
#include "base/thread_pool.h"
#include "tensor/value.h"

namespace rh {

class Stream;
class ValueType;

/// Runs subgraphs of the node for If, Loop, Scan, SequenceMap. Outer values are bound by the executor.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  virtual int input_count() const = 0;
  virtual int output_count() const = 0;
  /// `outputs` get the results, which share or own their memory and outlive the call.
  virtual Status run(std::span<const Value> inputs, std::span<Value> outputs) = 0;
  /// The types of what run() would give, for loops without iterations: sizes as far as the run's values tell them, else unknown. `types`
  /// stand for inputs that are empty.
  virtual std::vector<ValueType> output_types(std::span<const Value> inputs, std::span<const ValueType> types) = 0;

  /// So many values that stay with the frame from run to run, empty at first: what a kernel leaves there is memory for its next run.
  std::span<Value> kept(size_t count) {
    kept_.resize(count);
    return kept_;
  }
  std::span<const Value> kept() const { return kept_; }

 private:
  std::vector<Value> kept_;
};

/// What a kernel sees of one run. Loops of a kernel that take long outside parallel() call throw_if_cancelled() (base/cancellation.h).
/// Outputs are asked for by shape; their memory comes from the plan where it planned enough, else from an allocator.
class RunContext {
 public:
  RunContext(std::span<const Value* const> inputs, std::span<const DType> output_dtypes, std::span<const bool> outputs_wanted,
             Parallel parallel)
      : inputs_(inputs), output_dtypes_(output_dtypes), outputs_wanted_(outputs_wanted), parallel_(parallel) {}
  virtual ~RunContext() = default;

  int input_count() const { return static_cast<int>(inputs_.size()); }
  /// False beyond the node's inputs and for -1, which stands for inputs that an operator does not have.
  bool has_input(int i) const { return i >= 0 && i < input_count() && inputs_[i] != nullptr && !inputs_[i]->empty(); }
  /// Throws Error{invalid_graph} where the input is left out: operators without a schema are not held against one before they run.
  const Value& input_value(int i) const {
    if (i < 0 || i >= input_count() || inputs_[i] == nullptr) fail_left_out(i);
    return *inputs_[i];
  }
  const Tensor& input_tensor(int i) const { return input_value(i).tensor(); }
  TensorView input(int i) const { return input_value(i).tensor().view(); }
  /// Elements of an integer tensor input (axes, shapes, sizes); few.
  InlineVector<int64_t, 8> input_ints(int i) const;

  int output_count() const { return static_cast<int>(output_dtypes_.size()); }
  bool has_output(int i) const { return i >= 0 && i < output_count() && outputs_wanted_[i]; }
  DType output_dtype(int i) const { return output_dtypes_[i]; }
  /// Memory for output i; its element type is the inferred one, or `dtype` where that is given. The view is valid to the end of run.
  MutableView output(int i, const Shape& shape) { return output(i, output_dtypes_[i], shape); }
  virtual MutableView output(int i, DType dtype, const Shape& shape) = 0;
  /// Output i becomes a value that the kernel made (sequences, maps, shared tensors).
  virtual void set_output(int i, Value value) = 0;
  /// Memory that a value for set_output(i) may be made in: that of a run before; empty where there is none.
  virtual Value spare_output(int) { return {}; }
  /// Output `i` is input `from` under another shape (Reshape, Squeeze, Identity): no copy where the plan allowed it, else one.
  void output_view(int i, int from, const Shape& shape) { output_part(i, from, 0, shape); }
  /// Output `i` is the elements of input `from` that begin at `first`, as many as `shape` has: no copy where the plan allowed it, else one.
  virtual void output_part(int i, int from, int64_t first, const Shape& shape) = 0;
  /// The shape of output i as far as its type and the sizes of the run's inputs tell it, else sizes of 0; none where not even their number
  /// is known. For results whose inputs tell nothing.
  virtual Shape told_shape(int) const { return {}; }
  /// Uninitialised memory, 64-byte aligned, until the end of run; each call gives another piece.
  virtual void* scratch(size_t bytes) = 0;
  template <typename T>
  T* scratch_array(int64_t count) {
    return static_cast<T*>(scratch(static_cast<size_t>(count) * sizeof(T)));
  }

  const Parallel& parallel() const { return parallel_; }
  /// Constants that later kernels read: what one whose own work leaves memory idle fetches into the caches; see Kernel::fetches_ahead.
  virtual FetchList ahead() const { return {}; }
  /// Where the node's provider submits its work; null where work is done when calls return.
  virtual Stream* stream() const { return nullptr; }
  /// Subgraph k of the node, in the order of its graph attributes sorted by name (If: else_branch, then_branch).
  virtual SubgraphRunner& subgraph(int k) = 0;

 private:
  [[noreturn]] static void fail_left_out(int i);

  std::span<const Value* const> inputs_;
  std::span<const DType> output_dtypes_;
  std::span<const bool> outputs_wanted_;
  Parallel parallel_;
};

/// Which input's memory an output may take over.
struct Alias {
  enum class Kind : uint8_t {
    in_place,  ///< element-wise: the output may overwrite the input where both have the same bytes and nobody else needs it
    view,      ///< the output is the input's bytes; the kernel calls output_view
    part,      ///< elements of the input without gaps, where dimensions before the one that differs are 1: the kernel calls output_part
  };
  int output;
  int input;
  Kind kind;
};

/// The least accuracy that a session asks for: one order of summation for any number of threads; float sums; about 16 bits of mantissa;
/// products of bfloat16.
enum class Precision : uint8_t { strict, fp32, fast, bf16 };

/// One of several ways to compute, for reports and tuning.
struct KernelVariant {
  std::string problem;                     ///< what is computed: operator, type, sizes; empty where there is one way alone
  std::string_view variant;                ///< the way that was taken
  std::vector<std::string_view> variants;  ///< all that can compute it
};

/// A node, or the nodes that a provider compiled into one, made ready to run. Made once at load, run many times, from several threads at
/// once: run() is const and keeps no state.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status run(RunContext& context) const = 0;
  virtual std::span<const Alias> aliases() const { return {}; }
  /// The axis of its one output along which inputs follow each other as they are: run() may find them there, and has nothing to copy.
  virtual std::optional<int64_t> joins_along() const { return {}; }
  /// True where the kernel packed constant input i and does not read it again.
  virtual bool owns_constant(int) const { return false; }
  /// Bytes of constants that it keeps in a form of its own.
  virtual size_t packed_bytes() const { return 0; }
  virtual KernelVariant variant() const { return {}; }
  /// Whether run() fetches RunContext::ahead().
  virtual bool fetches_ahead() const { return false; }
};

}  // namespace rh
