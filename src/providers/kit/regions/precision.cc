#include "providers/kit/regions/precision.h"

#include <algorithm>

#include "base/file.h"
#include "passes/precision/convert_floats.h"
#include "passes/precision/insert_quantization.h"
#include "passes/precision/known_names.h"

namespace rh::kit {

namespace {

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = text.find(',');
    if (end != 0) names.emplace_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return names;
}

/// Of the settings' names, those that a graph has: a region has some of the model's nodes.
void collect_known(const Graph& graph, const std::vector<std::string>& names, std::vector<std::string>& operators,
                   std::vector<std::string>& nodes) {
  const auto add = [&](const std::string& name, std::vector<std::string>& to) {
    if (std::ranges::find(names, name) != names.end() && std::ranges::find(to, name) == to.end()) to.push_back(name);
  };
  for (NodeId id : graph.nodes()) {
    add(precision::operator_name(graph.node(id)), operators);
    add(graph.node(id).name, nodes);
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { collect_known(body, names, operators, nodes); });
  }
}

}  // namespace

PrecisionSettings precision_settings(const Options& options) {
  PrecisionSettings settings;
  const std::string_view precision = options.text(kPrecisionOption.name);
  settings.floats = precision == "fp16" ? DType::float16 : precision == "bf16" ? DType::bfloat16 : DType::float32;
  const std::string table(options.text(kCalibrationOption.name));
  if (!table.empty()) settings.scales = precision::parse_calibration(read_file(table));
  settings.keep_float32 = list_of(options.text(kKeepFloat32Option.name));
  return settings;
}

Region in_precision(const Region& region, const PrecisionSettings& settings, precision::Report* report) {
  if (!settings.changes()) return region;
  const std::shared_ptr<Graph> graph = region.graph->clone();
  std::vector<std::string> operators, nodes;
  collect_known(*graph, settings.keep_float32, operators, nodes);
  const auto tell = [&](precision::Report told) {
    if (!report) return;
    report->converted.insert(report->converted.end(), told.converted.begin(), told.converted.end());
    report->kept.insert(report->kept.end(), told.kept.begin(), told.kept.end());
    report->added_nodes += told.added_nodes;
    report->constants += told.constants;
  };
  graph->set_outputs(region.outputs);
  if (settings.scales) tell(precision::insert_quantization(*graph, *settings.scales, {.keep_operators = operators, .keep_nodes = nodes}));
  if (settings.floats != DType::float32) {
    const precision::Calibration* ranges = settings.scales ? &*settings.scales : nullptr;
    tell(precision::convert_floats(
        *graph, {.to = settings.floats, .keep_operators = operators, .keep_nodes = nodes, .in_region = {}, .ranges = ranges}));
  }
  Region made = region;
  made.graph = graph;
  made.outputs = graph->outputs();
  for (ValueId& input : made.inputs) input = graph->find_value(region.graph->value(input).name);
  if (region.constants) region.constants->keep(graph);
  return made;
}

}  // namespace rh::kit
