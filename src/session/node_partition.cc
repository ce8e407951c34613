#include "session/node_partition.h"

#include <filesystem>

#include <fmt/ranges.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "session/warn.h"

namespace rh {

void write_node_partition(const Plan& plan, const SessionOptions& options) {
  const std::string& path = options.settings.node_partition_file;
  if (path.empty()) return;
  std::error_code unknown;  // a name that is too long, and the like: writing says what is wrong
  if (std::filesystem::exists(as_path(path), unknown)) {
    return warn(options.log.get(), fmt::format("nodes run in their own order, not in that of the file '{}'", path));
  }
  std::vector<std::string> names;
  for (const Step& step : plan.steps) names.push_back(json_text(step.node->display_name()));
  write_file(path, fmt::format(R"({{"devices":["0"],"streams":[[{}]],"type":"DeviceBasedPartitioner"}})", fmt::join(names, ",")));
}

}  // namespace rh
