#include "session/compile/session_providers.h"

#include <algorithm>

#include "base/fork_mutex.h"
#include "providers/cpu/cpu_provider.h"
#include "providers/custom_operators.h"
#include "session/warn.h"
#include "settings/keys.h"

namespace rh {

const ProviderRegistry& provider_registry() {
  static constinit ForkOnce<const ProviderRegistry> registry;
  return registry.get([] {
    ProviderRegistry made;
    made.add(cpu::kProviderName, cpu::make_provider);
    return made;
  });
}

bool is_cpu_choice(const ProviderChoice& choice) {
  return !choice.make && provider_registry().canonical_name(choice.name) == cpu::kProviderName;
}

std::vector<std::shared_ptr<Provider>> make_providers(const SessionOptions& options, const std::shared_ptr<const ModelInfo>& model,
                                                      std::vector<MissingProvider>& missing) {
  const bool only_warn = options.settings.fallback == Fallback::warn;
  std::vector<std::shared_ptr<Provider>> providers;
  std::shared_ptr<Provider> cpu;
  const bool choose = options.providers.empty() && options.choose_providers;
  for (const ProviderChoice& choice : choose ? options.choose_providers(*model) : options.providers) {
    std::shared_ptr<Provider> provider;
    try {
      provider = choice.make ? choice.make(model) : provider_registry().make(choice.name, choice.options);
    } catch (const Error& error) {
      if (!only_warn) throw;
      warn(options.log.get(), fmt::format("goes on without {}: {}", choice.name, error.what()));
      missing.push_back({choice.name, error.what()});
      continue;
    }
    const bool is_cpu = provider->name() == cpu::kProviderName;
    const auto same = [&](const std::shared_ptr<Provider>& other) { return other->name() == provider->name(); };
    if (is_cpu ? cpu != nullptr : std::ranges::any_of(providers, same)) {
      fail(ErrorCode::fail, "Provider {} has already been registered: append each provider once, with all of its devices",
           provider->name());
    }
    if (is_cpu) {
      cpu = std::move(provider);
    } else {
      providers.push_back(std::move(provider));
    }
  }
  providers.push_back(cpu ? std::move(cpu) : provider_registry().make(cpu::kProviderName, {}));
  if (options.custom_operators) {
    for (auto& provider : providers) provider = options.custom_operators->added_to(provider);
  }
  return providers;
}

namespace {

// As the model has the node, where one of its nodes stands behind this one.
Where where_in_model(const Node& node) {
  if (node.provenance.empty()) return node.where();
  const OriginalNode& original = *node.provenance[0];
  const std::string op = original.domain.empty() ? original.op_type : original.domain + "::" + original.op_type;
  return {.file = {}, .node = original.display_name(), .op = fmt::format("{}({})", op, original.opset), .tensor = {}};
}

}  // namespace

void check_fallback(const Graph& graph, const Assignment& assignment, const SessionOptions& options,
                    const std::vector<std::shared_ptr<Provider>>& providers) {
  if (!options.settings.disable_cpu_fallback) return;
  constexpr const char* kKey = kKeyOf<&Settings::disable_cpu_fallback>;
  const auto is_cpu = [](const ProviderChoice& choice) { return provider_registry().canonical_name(choice.name) == cpu::kProviderName; };
  if (std::any_of(options.providers.begin(), options.providers.end(), is_cpu)) {
    fail(ErrorCode::invalid_argument, "'{}' is 1, but {} is among the providers asked for: leave out one of the two", kKey,
         cpu::kProviderName);
  }
  for (NodeId id : graph.nodes()) {
    if (assignment.of(graph, id).provider != static_cast<int>(providers.size()) - 1) continue;
    throw Error(ErrorCode::fail, fmt::format("'{}' is 1, but only {} takes this node", kKey, cpu::kProviderName),
                where_in_model(graph.node(id)));
  }
}

void tell_void_claims(const Assignment& assignment, const SessionOptions& options) {
  for (const VoidClaim& claim : assignment.void_claims) {
    const std::string text = fmt::format("{}: {}", claim.provider, claim.reason);
    if (options.settings.fallback == Fallback::error) throw Error(ErrorCode::ep_fail, text, claim.where);
    warn(options.log.get(), text + ": the claim does not count as it is; 'roundhouse.fallback' of \"error\" makes this an error");
  }
}

}  // namespace rh
