#pragma once

#include <string>

#include "session/frame.h"

namespace rh {

/// What a trace says of a step, as members of a JSON object: before it runs, of its inputs ("input_type_shape", "parameter_size": bytes of
/// weights, "activation_size": bytes of other inputs), and after it, of its outputs ("output_type_shape", "output_size") and the thread.
std::string inputs_in_trace(const Frame& frame, const Step& step);
std::string outputs_in_trace(const Frame& frame, const Step& step);

/// What the session holds, and what its runs use of it: all but weights.
struct MemoryInTrace {
  int64_t held = 0, used = 0;
};
MemoryInTrace memory_now(const Frame& frame);
/// The members that say so of a step ("mem_bytes_in_use" and six more), and how much came in it.
std::string memory_in_trace(const MemoryInTrace& before, const MemoryInTrace& after);

}  // namespace rh
