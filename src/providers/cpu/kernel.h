#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "ops/node_view.h"
#include "ops/registry.h"
#include "tensor/dispatch.h"
#include "tensor/value.h"

namespace rh::cpu {

enum class Precision : uint8_t { strict, fp32, fast, bf16 };

/// What a kernel may know when it is made, once, at load: attributes, constant inputs, declared types. Large constants that it packs may be
/// released afterwards: a kernel that returns true from `owns_constant(i)` never reads input i again.
class KernelInfo {
 public:
  KernelInfo(const NodeView& node, Precision precision = Precision::fp32) : node_(node), precision_(precision) {}

  const NodeView& node() const { return node_; }
  template <typename Op>
  Op attributes() const {
    return Op::read(node_);
  }
  const Tensor* constant_input(int i) const { return node_.constant_input(i); }
  DType input_dtype(int i) const { return node_.input_type(i).tensor().dtype; }
  Precision precision() const { return precision_; }

 private:
  const NodeView& node_;
  Precision precision_;
};

/// Runs subgraphs of the node for If, Loop, Scan, SequenceMap. Outer values are bound by the executor.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  virtual int input_count() const = 0;
  virtual int output_count() const = 0;
  /// `outputs` get the results, which share or own their memory and outlive the call.
  virtual Status run(std::span<const Value> inputs, std::span<Value> outputs) = 0;
};

/// What a kernel sees of one run. Outputs are asked for by shape; their memory comes from the plan where it planned enough, else from an
/// allocator.
class RunContext {
 public:
  RunContext(std::span<const Value* const> inputs, std::span<const DType> output_dtypes, std::span<const bool> outputs_wanted,
             Parallel parallel)
      : inputs_(inputs), output_dtypes_(output_dtypes), outputs_wanted_(outputs_wanted), parallel_(parallel) {}
  virtual ~RunContext() = default;

  int input_count() const { return static_cast<int>(inputs_.size()); }
  bool has_input(int i) const { return i < input_count() && inputs_[i] != nullptr && !inputs_[i]->empty(); }
  const Value& input_value(int i) const { return *inputs_[i]; }
  const Tensor& input_tensor(int i) const { return inputs_[i]->tensor(); }
  TensorView input(int i) const { return inputs_[i]->tensor().view(); }
  /// Elements of an integer tensor input (axes, shapes, sizes); few.
  InlineVector<int64_t, 8> input_ints(int i) const;

  int output_count() const { return static_cast<int>(output_dtypes_.size()); }
  bool has_output(int i) const { return i < output_count() && outputs_wanted_[i]; }
  DType output_dtype(int i) const { return output_dtypes_[i]; }
  /// Memory for output i; its element type is the inferred one, or `dtype` where that is given. The view is valid to the end of run.
  MutableView output(int i, const Shape& shape) { return output(i, output_dtypes_[i], shape); }
  virtual MutableView output(int i, DType dtype, const Shape& shape) = 0;
  /// Output i becomes a value that the kernel made (sequences, maps, shared tensors).
  virtual void set_output(int i, Value value) = 0;
  /// Output `i` is input `from` under another shape (Reshape, Squeeze, Identity): no copy where the plan allowed it, else one.
  virtual void output_view(int i, int from, const Shape& shape) = 0;
  /// Uninitialised memory, 64-byte aligned, until the end of run; each call gives another piece.
  virtual void* scratch(size_t bytes) = 0;
  template <typename T>
  T* scratch_array(int64_t count) {
    return static_cast<T*>(scratch(static_cast<size_t>(count) * sizeof(T)));
  }

  const Parallel& parallel() const { return parallel_; }
  /// True when the caller asked the run to stop: loops of kernels that take long look at it now and then.
  virtual bool cancelled() const { return false; }
  /// Subgraph k of the node, in the order of its graph attributes sorted by name (If: else_branch, then_branch).
  virtual SubgraphRunner& subgraph(int k) = 0;

 private:
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
  };
  int output;
  int input;
  Kind kind;
};

/// An operator's implementation on the CPU. Made once at load, run many times, from several threads at once: run() is const and keeps no
/// state.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status run(RunContext& context) const = 0;
  virtual std::span<const Alias> aliases() const { return {}; }
  /// True where the kernel packed constant input i and does not read it again.
  virtual bool owns_constant(int) const { return false; }
};

/// One row of kernel_list.inc.
struct KernelEntry {
  std::string_view attributes;  ///< name of the attribute struct that the kernel reads
  DTypeSet types;               ///< element types of its leading input that it takes
  std::unique_ptr<Kernel> (*make)(const KernelInfo&);
};

/// Null where the CPU has no kernel for operators read by this attribute struct.
const KernelEntry* find_kernel(std::string_view attributes);

/// Why a node cannot run on the CPU, empty when it can: unknown operator, no kernel, or an element type outside the kernel's list.
std::string why_unsupported(const NodeView& node);

/// The kernel for a node; throws Error{not_implemented} with why_unsupported.
std::unique_ptr<Kernel> make_kernel(const KernelInfo& info);

/// Runs one node by itself on host values: constant folding and tests. Throws Error.
std::vector<Value> evaluate_node(const Graph& graph, const Node& node, std::span<const Value> inputs, const Parallel& parallel = {});

}  // namespace rh::cpu

/// In providers/cpu/kernels/<op>.cc, outside any namespace: ties the kernel to its row in kernel_list.inc. The class has `using Types`.
#define RH_DEFINE_KERNEL(KernelClass)                                                            \
  namespace rh::cpu {                                                                            \
  KernelEntry kernel_entry(Tag<KernelClass>) {                                                   \
    return {{}, KernelClass::Types::set, [](const KernelInfo& info) -> std::unique_ptr<Kernel> { \
              return std::make_unique<KernelClass>(info);                                        \
            }};                                                                                  \
  }                                                                                              \
  }
