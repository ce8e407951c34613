#include "memory_plan.h"

#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "model_options.h"
#include "print.h"

namespace rh::cli {

nlohmann::json memory_plan(const Ort::Session& session, const std::vector<NamedValue>& inputs, const std::vector<std::string>& dims) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<RhInputShape> given;
  shapes.reserve(inputs.size());
  for (const auto& [name, value] : inputs) {
    if (!value.IsTensor()) continue;
    shapes.push_back(value.GetTensorTypeAndShapeInfo().GetShape());
    given.push_back({name.c_str(), shapes.back().data(), shapes.back().size()});
  }
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string& text : dims) {
    const auto [name, size] = split_entry(text, "--dim");
    if (size.empty() || size.size() > 18 || size.find_first_not_of("0123456789") != std::string::npos) {
      throw std::runtime_error("--dim '" + text + "': the size is '" + size + "', expected a whole number");
    }
    sizes.emplace_back(name, std::stoll(size));
  }
  std::vector<RhDimension> dimensions;
  for (const auto& [name, size] : sizes) dimensions.push_back({name.c_str(), size});
  Ort::AllocatorWithDefaultOptions allocator;
  char* text = nullptr;
  Ort::ThrowOnError(RhSessionGetMemoryPlan(session, given.data(), given.size(), dimensions.data(), dimensions.size(), allocator, &text));
  return nlohmann::json::parse(Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get());
}

void print_memory_plan(const Globals& globals, const nlohmann::json& plan, size_t top) {
  const auto bytes = [&](const char* key) { return bytes_text(plan[key].get<double>()); };
  std::printf("planned    %s in all: weights %s, packed %s, arena %s, outputs %s\n", bytes("total_bytes").c_str(),
              bytes("weight_bytes").c_str(), bytes("packed_bytes").c_str(), bytes("arena_bytes").c_str(), bytes("output_bytes").c_str());
  std::string assumed;
  for (const auto& name : plan["assumed"]) assumed += (assumed.empty() ? "" : ", ") + name.get<std::string>();
  if (!assumed.empty()) std::printf("           with dimensions of 1: %s (see --dim)\n", assumed.c_str());
  if (plan["at_peak"].empty()) return;
  Table table(
      {{.title = "live at the planned peak", .elastic = true}, {.title = "node", .elastic = true}, {.title = "bytes", .right = true}});
  for (size_t i = 0; i < std::min(top, plan["at_peak"].size()); ++i) {
    const nlohmann::json& t = plan["at_peak"][i];
    table.add({t["tensor"], t["node"], bytes_text(t["bytes"])});
  }
  table.print(globals);
}

}  // namespace rh::cli
