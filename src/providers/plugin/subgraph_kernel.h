#pragma once

#include <functional>

#include "providers/plugin/call.h"
#include "providers/plugin/kernel_context.h"
#include "providers/plugin/kernel_info.h"

namespace rh::plugin {

// What the host's kernels for If, Loop and Scan share.

/// Throws Error{invalid_argument} unless the node is that operator of the standard.
void check_operator(const OrtKernelInfo& info, const char* op);

/// A kernel of ours in the form of a plugin's.
OrtKernelImpl* make_subgraph_kernel(std::function<Status(OrtKernelContext&)> work);

/// The plugin's helper, released with the last owner.
template <typename Helper>
std::shared_ptr<Helper> hold(Helper& helper) {
  return std::shared_ptr<Helper>(&helper, [](Helper* h) {
    if (RH_HAS(*h, 24, Release)) tell([&] { h->Release(h); });
  });
}

/// What moves the tensors of a node that runs subgraphs.
class Mover {
 public:
  explicit Mover(const OrtKernelInfo& info) : allocator_(info.allocator), transfer_(info.transfer) {}

  /// Elements of equal type and number. Throws Error{ep_fail} where the provider does not copy them.
  void copy(const Tensor& from, Tensor& to) const;
  /// Uninitialised, where `device` is. Throws Error{ep_fail} where the provider has no memory.
  Tensor make(DType dtype, const Shape& shape, Device device) const;

 private:
  OrtAllocator* allocator_;
  DataTransfer* transfer_;
};

/// Memory of the run for output i.
Tensor output_tensor(OrtKernelContext& context, int i, DType dtype, const Shape& shape);

/// The value becomes output i: as it is where it keeps its memory, else copied.
void give(OrtKernelContext& context, const Mover& mover, int i, const Value& value);

/// Throws Error{ep_fail} with a remedy where input i is on a device. `what`: "Loop: the trip count".
void check_on_host(const RunContext& run, int i, const char* what);

/// For the plugin's helper, with its description of the memory.
OrtValue as_value(const OrtKernelContext& context, const Tensor& tensor);

}  // namespace rh::plugin
