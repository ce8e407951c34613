#pragma once

#include <memory>
#include <string>
#include <vector>

#include "providers/plugin/kernel_context.h"
#include "providers/plugin/kernel_info.h"
#include "providers/plugin/kernel_registry.h"
#include "providers/plugin/library.h"

struct OrtNodeComputeContext {
  std::string node_name;
};

namespace rh::plugin {

/// A plugin's provider: what it made is released before it, and it before its library.
struct Ep {
  Ep(std::shared_ptr<Library> owner, OrtEpFactory& made_by, OrtEp& made, std::string ep_name)
      : library(std::move(owner)), factory(made_by), raw(made), name(std::move(ep_name)) {}
  ~Ep();
  Ep(const Ep&) = delete;
  Ep& operator=(const Ep&) = delete;

  std::shared_ptr<Library> library;
  OrtEpFactory& factory;
  OrtEp& raw;
  std::string name;
};

/// The results of one call of OrtEp::Compile, which are released together.
struct ComputeInfos {
  ComputeInfos(std::shared_ptr<Ep> owner, size_t count) : ep(std::move(owner)), infos(count) {}
  ~ComputeInfos();
  ComputeInfos(const ComputeInfos&) = delete;
  ComputeInfos& operator=(const ComputeInfos&) = delete;

  std::shared_ptr<Ep> ep;
  std::vector<OrtNodeComputeInfo*> infos;
};

/// A compiled unit and its state, which the plugin makes once the session is whole, and not where a model is compiled to a file alone.
class UnitState {
 public:
  UnitState(std::shared_ptr<ComputeInfos> infos, size_t index, const std::string& node);
  ~UnitState();
  UnitState(const UnitState&) = delete;
  UnitState& operator=(const UnitState&) = delete;

  /// Once. Throws Error.
  void make();
  Status compute(OrtKernelContext& context) const;

 private:
  std::shared_ptr<ComputeInfos> infos_;
  OrtNodeComputeInfo& info_;
  OrtNodeComputeContext context_;
  void* state_ = nullptr;
  bool is_made_ = false;
};

std::unique_ptr<Kernel> make_unit_kernel(std::shared_ptr<const UnitState> state, KernelPlace place);

/// Lets the plugin make its kernel for a node. Throws Error.
std::unique_ptr<Kernel> make_node_kernel(std::shared_ptr<Ep> ep, const OrtKernelRegistry::Entry& entry, std::unique_ptr<OrtKernelInfo> info,
                                         KernelPlace place);

}  // namespace rh::plugin
