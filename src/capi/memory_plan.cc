// What a session's runs take of memory, as JSON.
#include <nlohmann/json.hpp>

#include "abi/allocator.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::capi {

namespace {

using nlohmann::json;

json to_json(const std::vector<TensorMemory>& tensors) {
  json list = json::array();
  for (const TensorMemory& entry : tensors) list.push_back({{"tensor", entry.tensor}, {"node", entry.node}, {"bytes", entry.bytes}});
  return list;
}

json to_json(const MemoryForecast& forecast) {
  json symbols = json::object();
  for (const auto& [name, value] : forecast.symbols) symbols[name] = value;
  return {{"symbols", std::move(symbols)},           {"assumed", forecast.assumed},
          {"total_bytes", forecast.total_bytes()},   {"weight_bytes", forecast.weight_bytes},
          {"packed_bytes", forecast.packed_bytes},   {"arena_bytes", forecast.arena_bytes},
          {"live_bytes", forecast.live_bytes},       {"output_bytes", forecast.output_bytes},
          {"late_tensors", forecast.late_tensors},   {"late_bytes", forecast.late_bytes},
          {"scratch_bytes", forecast.scratch_bytes}, {"budget_bytes", forecast.budget_bytes},
          {"peak_node", forecast.peak_node},         {"at_peak", to_json(forecast.at_peak)},
          {"weights", to_json(forecast.weights)}};
}

}  // namespace

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhSessionTrim(OrtSession* session, size_t* bytes) {
  using namespace rh::capi;
  return guard([&] {
    const size_t freed = checked(session, "session").session->trim();
    if (bytes) *bytes = freed;
  });
}

OrtStatus* ORT_API_CALL RhSessionGetMemoryPlan(const OrtSession* session, const RhInputShape* shapes, size_t shape_count,
                                               const RhDimension* dimensions, size_t dimension_count, OrtAllocator* allocator,
                                               char** json) {
  using namespace rh;
  using namespace rh::capi;
  return guard([&] {
    char*& out = checked(json, "json");
    checked_array(shapes, shape_count, "shapes");
    checked_array(dimensions, dimension_count, "dimensions");
    std::vector<InputShape> inputs;
    for (size_t i = 0; i < shape_count; ++i) {
      const int64_t* dims = checked_array(shapes[i].dims, shapes[i].rank, "shapes[i].dims");
      inputs.push_back({&checked(shapes[i].input_name, "shapes[i].input_name"), Shape(dims, dims + shapes[i].rank)});
    }
    std::vector<std::pair<std::string, int64_t>> symbols;
    for (size_t i = 0; i < dimension_count; ++i)
      symbols.emplace_back(&checked(dimensions[i].name, "dimensions[i].name"), dimensions[i].value);
    const nlohmann::json plan = to_json(checked(session, "session").session->forecast(inputs, symbols));
    out = abi::copy_string(checked(allocator, "allocator"), plan.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}
