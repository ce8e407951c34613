#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "partition/assignment.h"
#include "providers/provider.h"
#include "providers/registry.h"
#include "session/options.h"
#include "session/session.h"

namespace rh {

/// The providers that a session may ask for.
const ProviderRegistry& provider_registry();

/// Whether the choice is the CPU provider of ours.
bool is_cpu_choice(const ProviderChoice& choice);

/// The providers of a session in order of preference, the CPU last, with kernels for the operators that the user brings. Those that the
/// session goes on without ("roundhouse.fallback") are added to `missing`. Throws Error.
std::vector<std::shared_ptr<Provider>> make_providers(const SessionOptions& options, const std::shared_ptr<const ModelInfo>& model,
                                                      std::vector<MissingProvider>& missing);

/// "session.disable_cpu_ep_fallback": only providers that were asked for may run nodes. Throws Error.
void check_fallback(const Graph& graph, const Assignment& assignment, const SessionOptions& options,
                    const std::vector<std::shared_ptr<Provider>>& providers);

/// Claims that cannot be are warnings, or an Error where "roundhouse.fallback" says so.
void tell_void_claims(const Assignment& assignment, const SessionOptions& options);

}  // namespace rh
