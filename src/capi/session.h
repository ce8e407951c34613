#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi/env.h"
#include "abi/value.h"
#include "session/session.h"

struct OrtSession {
  explicit OrtSession(const OrtEnv& environment);
  ~OrtSession();

  const OrtEnv* env;  ///< kept alive
  std::unique_ptr<rh::Session> session;
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
    OrtValue value;      ///< bound, or given by the last run
    bool bound = false;  ///< by the caller; otherwise runs allocate it, and runs of the same input shapes write into the same memory
  };

  OrtSession* session = nullptr;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<rh::Shape> last_shapes;  ///< of the inputs of the last run; tensors alone have one
};

namespace rh::capi {

/// The session layer's form of the options. Throws Error{invalid_argument} where the environment lacks what they ask for.
SessionOptions session_options(const OrtEnv& env, const OrtSessionOptions* options);
/// The same of a run; null gives the defaults. Refers to `options`.
RunOptions run_options(const OrtRunOptions* options);

/// Tells a caller's function of each step.
std::shared_ptr<RunObserver> node_callback_observer(RhNodeCallback callback, void* state);

}  // namespace rh::capi
