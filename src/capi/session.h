#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "abi/env.h"
#include "abi/value.h"
#include "base/paths.h"
#include "graph/graph.h"
#include "session/async_queue.h"
#include "session/model_options.h"
#include "session/session.h"
#include "tensor/arena.h"

struct OrtEpAssignedNode {
  std::string name, domain, op_type;
};

/// Nodes that a provider took together.
struct OrtEpAssignedSubgraph {
  std::string provider;
  std::vector<OrtEpAssignedNode> nodes;
  std::vector<const OrtEpAssignedNode*> node_list;
};

struct OrtSession {
  /// A model that is being edited, with what it takes and gives so far.
  struct Editing {
    rh::Model model;
    rh::Signature signature;
  };
  explicit OrtSession(const OrtEnv& environment);
  ~OrtSession();

  const OrtEnv* env;                     ///< kept alive
  std::unique_ptr<rh::Session> session;  ///< null as long as the model is being edited
  std::unique_ptr<Editing> editing;

  /// Runs of RunAsync; made by the first one.
  rh::AsyncQueue& async_runs();
  /// Of the allocators that callers are given; made by the first call.
  const std::shared_ptr<rh::Arena>& arena_for_callers() const;
  /// Who took which nodes of the model; made by the first call.
  const std::vector<const OrtEpAssignedSubgraph*>& assigned_subgraphs() const;

 private:
  mutable std::once_flag assigned_once_;
  mutable std::vector<std::unique_ptr<const OrtEpAssignedSubgraph>> assigned_;
  mutable std::vector<const OrtEpAssignedSubgraph*> assigned_list_;
  mutable std::once_flag arena_once_;
  mutable std::shared_ptr<rh::Arena> arena_;
  std::once_flag async_once_;
  std::unique_ptr<rh::AsyncQueue> async_runs_;
};

struct OrtModelMetadata {
  rh::ModelMetadata metadata;
};

/// Values bound to the inputs and outputs of a session, by name, in the order in which they were bound.
struct OrtIoBinding {
  struct Input {
    std::string name;
    rh::Value value;
  };
  struct Output {
    std::string name;
    OrtValue value;          ///< bound, or given by the last run
    bool bound = false;      ///< by the caller; otherwise runs allocate it, and runs of the same input shapes write into the same memory
    rh::Device device = {};  ///< where the result is to lie; of one that is not bound
  };

  OrtSession* session = nullptr;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<rh::Shape> last_shapes;  ///< of the inputs of the last run; tensors alone have one
};

namespace rh::capi {

/// Settings that the model's metadata holds count instead of those of the options, where the environment or the options ask for it.
/// Throws Error{fail} for values that make no sense.
void apply_model_config(const std::string& path, SessionOptions& options);
void apply_model_config(std::span<const std::byte> model, SessionOptions& options);

/// The session behind the handle. Throws Error{fail} where its model is still being edited.
Session& session_of(const OrtSession* session);

/// The session layer's form of the options. Throws Error{invalid_argument} where the environment lacks what they ask for.
SessionOptions session_options(const OrtEnv& env, const OrtSessionOptions* options);
/// Takes messages about a session; null options: as the environment does.
std::shared_ptr<const OrtLogger> session_logger(const OrtEnv& env, const OrtSessionOptions* options);
/// Those of the domains that the options, and the providers that they name, bring; null where there are none. Throws Error.
std::shared_ptr<const CustomOperators> custom_operators(const OrtEnv& env, const OrtSessionOptions& options);
/// The same of a run; null gives the defaults. Refers to `options`.
RunOptions run_options(const OrtRunOptions* options);

/// Tells a caller's function of each step.
std::shared_ptr<RunObserver> node_callback_observer(RhNodeCallback callback, void* state);

}  // namespace rh::capi
