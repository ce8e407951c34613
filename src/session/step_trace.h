#pragma once

#include <string>

#include "session/frame.h"

namespace rh {

/// What a trace says of a step, as members of a JSON object: before it runs, of its inputs ("input_type_shape", "parameter_size": bytes of
/// weights, "activation_size": bytes of other inputs), and after it, of its outputs ("output_type_shape", "output_size") and the thread.
std::string inputs_in_trace(const Frame& frame, const Step& step);
std::string outputs_in_trace(const Frame& frame, const Step& step);

}  // namespace rh
