#pragma once

#include "session/options.h"
#include "session/plan.h"

namespace rh {

/// "session.node_partition_config_file": where there is no such file, writes the order in which nodes run, as ONNX Runtime's one stream of
/// one device. A file that is there is left alone: nodes run in their own order whatever it says, and the log says so.
void write_node_partition(const Plan& plan, const SessionOptions& options);

}  // namespace rh
