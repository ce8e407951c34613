#include "session/interface_keys.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "base/paths.h"
#include "session/session.h"
#include "settings/keys.h"

namespace rh {

namespace {

void expect_file(const std::string& file, const char* key, const char* remedy) {
  if (file.empty() || std::filesystem::exists(as_path(file))) return;
  fail(ErrorCode::fail, "config entry '{}' names the file '{}', which does not exist{}", key, file, remedy);
}

// Which experts of a mixture were taken is counted by devices; what is asked of the counts must go together.
void check_expert_counts(const Settings& settings) {
  const auto expect_counts = [&](const std::string& text, const char* key) {
    if (text.empty() || settings.counts_experts || settings.keeps_expert_statistics) return;
    fail(ErrorCode::fail, "config entry '{}' is given, expected '{}' or '{}' beside it", key, kKeyOf<&Settings::counts_experts>,
         kKeyOf<&Settings::keeps_expert_statistics>);
  };
  expect_counts(settings.expert_counter_file, kKeyOf<&Settings::expert_counter_file>);
  expect_counts(settings.expert_counter_alpha, kKeyOf<&Settings::expert_counter_alpha>);
  expect_counts(settings.expert_counter_beta, kKeyOf<&Settings::expert_counter_beta>);
  expect_file(settings.expert_counter_file, kKeyOf<&Settings::expert_counter_file>, "");
}

// The numbers of the budget, and a file of memory per node; both are for devices with a budget.
void check_partitioning(const Settings& settings) {
  if (settings.partitioning.empty()) return;
  const size_t comma = settings.partitioning.find(',');
  if (comma == std::string::npos) {
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected 'limit,file', of which one may be empty",
         kKeyOf<&Settings::partitioning>, settings.partitioning);
  }
  expect_file(settings.partitioning.substr(comma + 1), kKeyOf<&Settings::partitioning>,
              ": 'session.collect_node_memory_stats_to_file' writes it");
}

// What is saved for other builds of ONNX Runtime is in its own format, which is only read here.
void check_minimal_build(const Settings& settings) {
  if (settings.minimal_build != MinimalBuildUse::save) return;
  fail(ErrorCode::invalid_argument, "config entry '{}' is 'save', which is for models in the ORT format: those are only read, leave it out",
       kKeyOf<&Settings::minimal_build>);
}

}  // namespace

void check_interface_keys(const Settings& settings) {
  check_expert_counts(settings);
  if (!settings.layers_by_annotation.empty() && !settings.layers_by_name.empty()) {
    fail(ErrorCode::invalid_argument, "config entries '{}' and '{}' are both given: leave out one", kKeyOf<&Settings::layers_by_annotation>,
         kKeyOf<&Settings::layers_by_name>);
  }
  check_partitioning(settings);
  check_minimal_build(settings);
  if (settings.compile_only) {
    fail(ErrorCode::fail, "config entry '{}' is 1, which compiling a model sets itself: use ModelCompiler, or leave it out",
         kKeyOf<&Settings::compile_only>);
  }
}

void check_max_shapes(const ShapesByName& shapes, const std::vector<ValueInfo>& inputs) {
  constexpr const char* kKey = kKeyOf<&Settings::max_shapes>;
  for (const auto& [name, dims] : shapes) {
    const auto input = std::ranges::find(inputs, name, &ValueInfo::name);
    if (input == inputs.end()) fail(ErrorCode::fail, "config entry '{}' names '{}', which is no input of the model", kKey, name);
    if (!input->type.is_tensor() || !input->type.tensor().has_rank()) continue;
    const SymbolicShape& declared = *input->type.tensor().dims;
    bool fits = declared.size() == dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) fits = !declared[i].is_constant() || declared[i].value() == dims[i];
    if (!fits) {
      fail(ErrorCode::fail, "config entry '{}' gives '{}' the shape [{}], the model declares {}", kKey, name, fmt::join(dims, ","),
           input->type.to_string());
    }
  }
}

}  // namespace rh
