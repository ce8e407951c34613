#include "providers/cpu/kernel.h"

#include <algorithm>

#include "base/fork_mutex.h"
#include "base/nearest.h"
#include "base/out_of_memory.h"
#include "providers/provider.h"

namespace rh::cpu {

#define RH_KERNEL(Struct, KernelClass) \
  class KernelClass;                   \
  KernelEntry kernel_entry(Tag<KernelClass>);
#include "providers/cpu/kernel_list.inc"
#undef RH_KERNEL

namespace {

constinit ForkOnce<const std::vector<KernelEntry>> g_table;

const std::vector<KernelEntry>& table() {
  return g_table.get([] {
    std::vector<KernelEntry> entries;
#define RH_KERNEL(Struct, KernelClass)                 \
  entries.push_back(kernel_entry(Tag<KernelClass>())); \
  entries.back().attributes = #Struct;
#include "providers/cpu/kernel_list.inc"
#undef RH_KERNEL
    std::sort(entries.begin(), entries.end(), [](const KernelEntry& a, const KernelEntry& b) { return a.attributes < b.attributes; });
    return entries;
  });
}

// The first input that decides the element type: the first tensor input whose type is known.
DType leading_dtype(const NodeView& node) {
  const ValueType& type = node.input_type(0);
  return type.is_tensor() ? type.tensor().dtype : DType::undefined;
}

std::string nearest_operator(const NodeView& node) {
  std::vector<std::string_view> names;
  for (const OpEntry& op : all_ops()) {
    if (op.domain == node.domain()) names.push_back(op.op_type);
  }
  const std::string_view best = nearest(node.op_type(), names);
  return best.empty() ? std::string() : fmt::format("; the nearest is {}", best);
}

}  // namespace

const KernelEntry* find_kernel(std::string_view attributes) {
  const auto& list = table();
  const auto at = std::lower_bound(list.begin(), list.end(), attributes,
                                   [](const KernelEntry& e, std::string_view name) { return e.attributes < name; });
  return at != list.end() && at->attributes == attributes ? &*at : nullptr;
}

std::string why_unsupported(const NodeView& node, RefusalCode* code) {
  if (code) *code = RefusalCode::op;
  const OpEntry* op = find_op(node.domain(), node.op_type());
  if (!op) return fmt::format("operator {} is not known{}", node.node().op_text(), nearest_operator(node));
  const KernelEntry* kernel = find_kernel(op->attributes);
  if (!kernel) return fmt::format("the CPU has no kernel for {}", node.node().op_text());
  const DType dtype = leading_dtype(node);
  if (dtype != DType::undefined && !kernel->types.contains(dtype)) {
    if (code) *code = RefusalCode::type;
    return fmt::format("the CPU kernel of {} does not take element type {}, expected one of {}", node.node().op_text(), to_string(dtype),
                       kernel->types.to_string());
  }
  return {};
}

std::unique_ptr<Kernel> make_kernel(const KernelInfo& info) {
  const NodeView& node = info.node();
  if (std::string reason = why_unsupported(node); !reason.empty())
    throw Error(ErrorCode::not_implemented, std::move(reason), node.node().where());
  try {
    return find_kernel(find_op(node.domain(), node.op_type())->attributes)->make(info);
  } catch (Error& error) {
    error.add(node.node().where());
    throw;
  } catch (const std::bad_alloc& problem) {
    Error error = error_of(problem);
    error.add(node.node().where());
    throw error;
  }
}

}  // namespace rh::cpu
