#include "probe.h"

#include <vector>

#include "child_process.h"

namespace rh::cli {

using nlohmann::json;

json probe_plugin(const std::string& library, std::chrono::milliseconds limit) {
  ChildProcess child({kThisProgram, kProbeArgument, library});
  const auto end = ChildProcess::Clock::now() + limit;
  json result{{"verdict", "works"}, {"step", "start"}, {"detail", ""}, {"providers", json::array()}};
  std::string error;
  ChildProcess::Next next;
  for (json line; (next = child.next(end, line)) == ChildProcess::Next::line;) {
    result["step"] = line.value("step", result["step"].get<std::string>());
    if (line.contains("providers")) result["providers"] = line["providers"];
    if (line.contains("error")) error = line["error"];
  }
  const bool in_time = next == ChildProcess::Next::end && child.wait(end);
  child.kill();
  const std::string step = result["step"], ended = child.how_it_ended();
  if (!in_time) {
    result["verdict"] = "hangs";
    result["detail"] = "did not end within " + std::to_string(limit.count()) + " ms; it was to " + step;
  } else if (!error.empty()) {
    result["verdict"] = "fails";
    result["detail"] = error;
  } else if (!ended.empty() || step != "end") {
    result["verdict"] = "crashes";
    result["detail"] = (ended.empty() ? "ended the process with code 0" : ended) + "; it was to " + step;
  }
  result["output"] = child.output();
  return result;
}

}  // namespace rh::cli
