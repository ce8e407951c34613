#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "ops/node_view.h"
#include "ops/registry.h"
#include "providers/compile_context.h"
#include "providers/kernel.h"
#include "tensor/dispatch.h"
#include "tensor/value.h"

namespace rh {
enum class RefusalCode : uint8_t;
}

namespace rh::cpu {

using rh::Alias;
using rh::Kernel;
using rh::RunContext;
using rh::SubgraphRunner;

/// What a kernel may know when it is made, once, at load: attributes, constant inputs, declared types. Large constants that it packs may be
/// released afterwards: a kernel that returns true from `owns_constant(i)` never reads input i again.
class KernelInfo {
 public:
  /// Both must live as long as this; without a context all is as by default.
  explicit KernelInfo(const NodeView& node, const CompileContext* context = nullptr)
      : node_(node), context_(context ? *context : kDefault) {}

  const NodeView& node() const { return node_; }
  template <typename Op>
  Op attributes() const {
    return Op::read(node_);
  }
  const Tensor* constant_input(int i) const { return node_.constant_input(i); }
  DType input_dtype(int i) const { return node_.input_type(i).tensor().dtype; }
  Precision precision() const { return context_.precision; }
  /// Products of floats may be made two at a time (compute/gemm/gemm_fip.h).
  bool by_pairs() const { return precision() != Precision::strict; }
  /// Packed constants may take no more memory than they do in the model.
  bool lean_memory() const { return context_.lean_memory; }
  /// Packed constants of products take fewer bytes where that loses nothing.
  bool compact_weights() const { return context_.compact_weights; }
  /// The number of this kernel among those of the session that draw random numbers; counts.
  uint64_t next_random_number() const { return context_.random_kernels ? context_.random_kernels->fetch_add(1) : 0; }
  /// The variant that is asked for; empty: none.
  std::string_view tuned(std::string_view problem) const { return context_.tuning.choice(problem); }

 private:
  static inline const CompileContext kDefault;

  const NodeView& node_;
  const CompileContext& context_;
};

/// One row of kernel_list.inc.
struct KernelEntry {
  std::string_view attributes;  ///< name of the attribute struct that the kernel reads
  DTypeSet types;               ///< element types of its leading input that it takes
  std::unique_ptr<Kernel> (*make)(const KernelInfo&);
};

/// Null where the CPU has no kernel for operators read by this attribute struct.
const KernelEntry* find_kernel(std::string_view attributes);

/// Why a node cannot run on the CPU, empty when it can: unknown operator, no kernel (op), or an element type outside the kernel's list
/// (type).
std::string why_unsupported(const NodeView& node, RefusalCode* code = nullptr);

/// The kernel for a node; throws Error{not_implemented} with why_unsupported.
std::unique_ptr<Kernel> make_kernel(const KernelInfo& info);

/// Runs a kernel by itself on host values; null stands for an input that is left out. An output that has a tensor of the type and shape
/// that it gets is written where that is; the others are replaced. Throws Error as evaluate_node does.
void run_alone(const Kernel& kernel, std::span<const Value* const> inputs, std::span<const DType> dtypes, std::span<const bool> wanted,
               std::span<Value> outputs, const Parallel& parallel = {}, size_t max_bytes = std::numeric_limits<size_t>::max());

/// Runs one node by itself on host values: constant folding and tests. Throws Error, also where an output or a piece of working memory
/// would have more than `max_bytes`.
std::vector<Value> evaluate_node(const Graph& graph, const Node& node, std::span<const Value> inputs, const Parallel& parallel = {},
                                 size_t max_bytes = std::numeric_limits<size_t>::max());

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
