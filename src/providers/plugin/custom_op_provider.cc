#include "providers/plugin/custom_op_provider.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "passes/driver/pass.h"
#include "providers/plugin/kernel_context.h"

namespace rh::plugin {

namespace {

constexpr std::string_view kCpu = "CPUExecutionProvider";

/// The operators of a session; kernels keep them.
class OpSet {
 public:
  OpSet(std::span<const CustomOpEntry> ops, std::shared_ptr<const CustomOpHost> host) : host_(std::move(host)) {
    for (const auto& [domain, op, list] : ops) add(CustomOp(domain, *op), list);
  }

  const std::shared_ptr<const CustomOpHost>& host() const { return host_; }

  bool has(const Node& node) const {
    return std::ranges::any_of(ops_, [&](const CustomOp& op) { return op.is_named_by(node); });
  }
  bool is_for(std::string_view provider) const {
    return std::ranges::any_of(ops_, [&](const CustomOp& op) { return op.provider() == provider; });
  }
  /// Null where none of that provider computes the node; an empty name stands for any provider. `wrong` says why, of each.
  const CustomOp* find(const NodeView& node, std::string_view provider, std::string* wrong = nullptr) const {
    const int since = since_version(node);
    for (const CustomOp& op : ops_) {
      if (!op.is_named_by(node.node())) continue;
      std::string reason = op.mismatch(node, since);
      if (reason.empty() && !provider.empty() && op.provider() != provider) reason = "is for " + op.provider();
      if (reason.empty()) return &op;
      if (wrong) *wrong += (wrong->empty() ? "the custom operator " : "; another ") + reason;
    }
    return nullptr;
  }

  /// Whether one of this name is for the node's version.
  bool has_version(const NodeView& node) const {
    const int since = since_version(node);
    return std::ranges::any_of(ops_, [&](const CustomOp& op) { return op.is_named_by(node.node()) && op.is_for_version(since); });
  }

  std::vector<std::string> domains() const {
    std::vector<std::string> names;
    for (const CustomOp& op : ops_) {
      if (!op.domain().empty() && std::ranges::find(names, op.domain()) == names.end()) names.push_back(op.domain());
    }
    return names;
  }
  bool are_standard() const {
    return std::ranges::any_of(ops_, [](const CustomOp& op) { return op.domain().empty(); });
  }

 private:
  void add(CustomOp op, size_t list) {
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!ops_[i].overlaps(op)) continue;
      if (lists_[i] == list) return;
      fail(ErrorCode::fail,
           "custom operator {} is registered twice with the same inputs and outputs: register its domain, or its library, once", op.text());
    }
    ops_.push_back(std::move(op));
    lists_.push_back(list);
  }

  /// The newest version of the node's operator that is no newer than the model's version of its domain; 0: none.
  int since_version(const NodeView& node) const {
    int since = 0;
    for (const CustomOp& op : ops_) {
      if (op.is_named_by(node.node()) && op.start_version() <= node.opset()) since = std::max(since, op.start_version());
    }
    return since;
  }

  std::shared_ptr<const CustomOpHost> host_;
  std::deque<CustomOp> ops_;
  std::vector<size_t> lists_;  // of each
};

/// A provider with kernels of custom operators beside its own.
class ExtendedProvider final : public Provider, public PlaceOfKernels {
 public:
  ExtendedProvider(std::shared_ptr<Provider> inner, std::shared_ptr<const OpSet> ops)
      : inner_(std::move(inner)), ops_(std::move(ops)), is_first_(inner_->name() == kCpu) {}

  std::string_view name() const override { return inner_->name(); }
  Device device() const override { return inner_->device(); }
  Allocator& allocator() const override { return inner_->allocator(); }
  DataTransfer* transfer() const override { return inner_->transfer(); }
  std::unique_ptr<Stream> make_stream() const override { return inner_->make_stream(); }
  KernelPlace kernel_place() const override {
    const auto* places = dynamic_cast<const PlaceOfKernels*>(inner_.get());
    return places ? places->kernel_place() : KernelPlace{};
  }

  /// The CPU computes custom operators before those that it knows by the same name; other providers may take or compile them themselves.
  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    std::vector<NodeId> others;
    Capability custom;
    for (NodeId id : candidates) {
      if (!is_first_ || !claim(graph, id, custom)) others.push_back(id);
    }
    Capability own = inner_->capability(graph, others);
    if (!is_first_) {
      std::unordered_set<NodeId> taken;
      for (const Claim& claim : own.claims) taken.insert(claim.nodes.begin(), claim.nodes.end());
      for (NodeId id : candidates) {
        if (!taken.contains(id)) claim(graph, id, custom);
      }
    }
    const auto is_answered = [&](const Capability::NodeRefusal& refusal) {
      return std::ranges::any_of(custom.claims, [&](const Claim& claim) { return claim.nodes[0] == refusal.node; }) ||
             std::ranges::any_of(custom.refusals, [&](const auto& other) { return other.node == refusal.node; });
    };
    if (!custom.claims.empty() || !custom.refusals.empty()) std::erase_if(own.refusals, is_answered);
    own.claims.insert(own.claims.end(), custom.claims.begin(), custom.claims.end());
    own.refusals.insert(own.refusals.end(), custom.refusals.begin(), custom.refusals.end());
    return own;
  }

  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, const CompileContext& context) override {
    const CustomOp* op = ops_->find(NodeView(graph, node), name());
    if (!op) return inner_->make_kernel(graph, node, context);
    try {
      KernelPlace place = kernel_place();
      place.host_inputs = op->host_inputs(node.inputs.size());
      return std::make_unique<KeptKernel>(op->make_kernel(graph, node, ops_->host(), std::move(place)), ops_);
    } catch (Error& error) {
      error.add(node.where());
      throw;
    }
  }

  std::span<const Pass> passes() const override { return inner_->passes(); }
  std::vector<std::unique_ptr<Kernel>> compile(std::span<const Unit* const> units) override { return inner_->compile(units); }
  std::optional<ContextNode> context_node(const Unit& unit) const override { return inner_->context_node(unit); }
  std::string compatibility_info(const Graph& graph) override { return inner_->compatibility_info(graph); }
  void finish() override { inner_->finish(); }
  bool wants_channels_last(const Node& node) const override { return inner_->wants_channels_last(node); }
  std::unique_ptr<ProviderProfiler> make_profiler() const override { return inner_->make_profiler(); }
  bool records_runs() const override { return inner_->records_runs(); }
  bool has_recorded(int number) const override { return inner_->has_recorded(number); }
  Status replay(int number) override { return inner_->replay(number); }
  Status forget_recorded(int number) override { return inner_->forget_recorded(number); }
  bool records_beside_cpu() const override { return inner_->records_beside_cpu(); }
  Status begin_run(const RunInfo& info) override { return inner_->begin_run(info); }
  Status end_run(const RunInfo& info) override { return inner_->end_run(info); }
  Status synchronize() override { return inner_->synchronize(); }
  void set_options(const std::map<std::string, std::string>& options) override { inner_->set_options(options); }

 private:
  /// A kernel that keeps the operators of its session.
  class KeptKernel final : public Kernel {
   public:
    KeptKernel(std::unique_ptr<Kernel> kernel, std::shared_ptr<const OpSet> ops) : ops_(std::move(ops)), kernel_(std::move(kernel)) {}
    Status run(RunContext& context) const override { return kernel_->run(context); }
    std::span<const Alias> aliases() const override { return kernel_->aliases(); }

   private:
    std::shared_ptr<const OpSet> ops_;
    std::unique_ptr<Kernel> kernel_;
  };

  /// Claims the node where an operator computes it here; where one has its name only, says why not.
  bool claim(const Graph& graph, NodeId id, Capability& answer) const {
    const Node& node = graph.node(id);
    if (!ops_->has(node)) return false;
    std::string wrong;
    const CustomOp* op = ops_->find(NodeView(graph, node), name(), &wrong);
    if (!op) {
      const NodeView view(graph, node);
      const RefusalCode code = ops_->find(view, {}) ? RefusalCode::op : ops_->has_version(view) ? RefusalCode::type : RefusalCode::opset;
      answer.refusals.push_back({id, code, std::move(wrong)});
      return false;
    }
    answer.claims.push_back({.nodes = {id}, .kernel = node.op_text(), .host_inputs = op->host_inputs(node.inputs.size())});
    return true;
  }

  std::shared_ptr<Provider> inner_;
  std::shared_ptr<const OpSet> ops_;
  bool is_first_;
};

class SessionOperators final : public CustomOperators {
 public:
  explicit SessionOperators(std::shared_ptr<const OpSet> ops) : ops_(std::move(ops)) {}

  bool infer(const NodeView& node, InferenceContext& context) const override {
    const CustomOp* op = ops_->find(node, {});
    if (op) op->infer(node, context);
    return op != nullptr;
  }
  std::vector<std::string> domains() const override { return ops_->domains(); }
  bool are_standard() const override { return ops_->are_standard(); }
  std::shared_ptr<Provider> added_to(std::shared_ptr<Provider> provider) const override {
    if (!ops_->is_for(provider->name()) && provider->name() != kCpu) return provider;
    return std::make_shared<ExtendedProvider>(std::move(provider), ops_);
  }

 private:
  std::shared_ptr<const OpSet> ops_;
};

}  // namespace

std::shared_ptr<const CustomOperators> make_custom_operators(std::span<const CustomOpEntry> ops, std::shared_ptr<const CustomOpHost> host) {
  if (ops.empty()) return nullptr;
  return std::make_shared<SessionOperators>(std::make_shared<const OpSet>(ops, std::move(host)));
}

}  // namespace rh::plugin
