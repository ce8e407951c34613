#include "providers/cpu/cpu_provider.h"

#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

class CpuProvider final : public Provider {
 public:
  std::string_view name() const override { return kProviderName; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }

  std::vector<Answer> capability(const Graph& graph, std::span<const NodeId> candidates) const override {
    std::vector<Answer> answers;
    answers.reserve(candidates.size());
    for (NodeId id : candidates) {
      const Node& node = graph.node(id);
      Answer answer{id, why_unsupported(NodeView(graph, node)), {}};
      if (answer.refusal.empty()) answer.kernel = node.op_text();
      answers.push_back(std::move(answer));
    }
    return answers;
  }

  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, const CompileContext& context) const override {
    const NodeView view(graph, node);
    const Precision precision = context.strict_precision ? Precision::strict : context.fast_precision ? Precision::fast : Precision::fp32;
    return cpu::make_kernel(KernelInfo(view, precision));
  }
};

}  // namespace

std::shared_ptr<Provider> make_provider(const std::map<std::string, std::string>& options) {
  // The interface takes options that its CPU provider does not know; one list of options often serves several providers.
  const auto arena = options.find("use_arena");
  if (arena != options.end() && arena->second != "0" && arena->second != "1") {
    fail(ErrorCode::invalid_argument, "option use_arena of the CPU provider is '{}', expected 0 or 1", arena->second);
  }
  return std::make_shared<CpuProvider>();
}

}  // namespace rh::cpu
