#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

namespace rh::kit {

/// The runtime that a factory was made for. A process may have several, so nothing of it is kept but in what a factory makes.
struct Host {
  const OrtApi* api = nullptr;
  const OrtEpApi* ep = nullptr;
  uint32_t version = 0;        ///< the newest that both sides know
  bool is_roundhouse = false;  ///< which orders the streams of bodies behind what they take
};

/// Tells scalars from values of unknown rank, and nodes from each other across questions.
inline constexpr uint32_t kLeastHostVersion = 24;

/// Throws Error{fail} with the host's version where that is too old.
Host connect(const OrtApiBase& base);

/// Throws what a failed call says, with its code; releases the status.
void check(const Host& host, OrtStatus* status);

/// The status that stands for the exception in flight: an Error keeps its code. Call only inside a catch block.
OrtStatus* status_of_current_exception(const OrtApi& api) noexcept;

/// Runs what an entry of a table does; no exception leaves it.
template <typename Body>
OrtStatus* guard(const OrtApi& api, Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return status_of_current_exception(api);
  }
}

}  // namespace rh::kit
