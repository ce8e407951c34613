#include "providers/cpu/cpu_provider.h"

#include "compute/gemm/amx.h"
#include "passes/pass_lists.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

class CpuProvider final : public Provider {
 public:
  std::string_view name() const override { return kProviderName; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }

  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    Capability answer;
    for (NodeId id : candidates) {
      const Node& node = graph.node(id);
      RefusalCode code = RefusalCode::op;
      std::string reason = why_unsupported(NodeView(graph, node), &code);
      if (reason.empty()) {
        answer.claims.push_back({.nodes = {id}, .kernel = node.op_text()});
      } else {
        answer.refusals.push_back({id, code, std::move(reason)});
      }
    }
    return answer;
  }

  std::span<const Pass> passes() const override { return cpu_passes(); }

  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, const CompileContext& context) override {
    const NodeView view(graph, node);
    return cpu::make_kernel(KernelInfo(view, &context));
  }
};

}  // namespace

std::shared_ptr<Provider> make_provider(const std::map<std::string, std::string>& options) {
  // The interface takes options that its CPU provider does not know; one list of options often serves several providers.
  const auto arena = options.find("use_arena");
  constexpr std::string_view kValues[] = {"0", "1", "true", "false", "True", "False"};
  if (arena != options.end() && std::ranges::find(kValues, arena->second) == std::end(kValues)) {
    fail(ErrorCode::invalid_argument, "option use_arena of the CPU provider is '{}', expected 0, 1, true or false", arena->second);
  }
  return std::make_shared<CpuProvider>();
}

std::string why_no_amx() { return compute::amx_status().reason; }

}  // namespace rh::cpu
