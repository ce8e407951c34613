#include <roundhouse/onnxruntime_cxx_api.h>
#include <roundhouse/roundhouse_c_api.h>

#include <cstdio>

#include "command.h"
#include "memory_plan.h"
#include "model_options.h"
#include "print.h"
#include "system.h"

namespace rh::cli {

namespace {

void print_values(const char* title, const nlohmann::json& values) {
  std::printf("%s\n", title);
  for (const auto& value : values) {
    std::printf("  %-32s %s\n", value["name"].get<std::string>().c_str(), value["type"].get<std::string>().c_str());
  }
}

void print_report(const nlohmann::json& r) {
  std::printf("IR version %s", r["ir_version"].dump().c_str());
  for (const auto& [domain, version] : r["opsets"].items())
    std::printf(", %s %s", domain.empty() ? "ai.onnx" : domain.c_str(), version.dump().c_str());
  if (!r["producer"].get<std::string>().empty()) std::printf(", made by %s", r["producer"].get<std::string>().c_str());
  std::printf("\n");
  print_values("inputs", r["inputs"]);
  print_values("outputs", r["outputs"]);
  std::printf("weights\n  %s tensors, %s elements, %s\n", r["weights"]["tensors"].dump().c_str(), r["weights"]["elements"].dump().c_str(),
              bytes_text(r["weights"]["bytes"].get<double>()).c_str());
  std::printf("operators (%s nodes, those of subgraphs included)\n", r["nodes"].dump().c_str());
  for (const auto& [name, count] : r["operators"].items()) std::printf("  %6s %s\n", count.dump().c_str(), name.c_str());
  if (r["unsupported"].empty()) {
    std::printf("every operator has a kernel\n");
    return;
  }
  std::printf("not supported\n");
  for (const auto& item : r["unsupported"]) {
    std::printf("  %6s x %s: %s\n", item["count"].dump().c_str(), item["operator"].get<std::string>().c_str(),
                item["reason"].get<std::string>().c_str());
  }
}

}  // namespace

Command declare_inspect(CLI::App& app, const Globals& globals) {
  struct Inspect {
    std::string model;
    bool memory = false;
    std::vector<std::string> dims;
  };
  auto inspect = std::make_shared<Inspect>();
  app.add_option("model", inspect->model, "The .onnx file")->required();
  app.add_flag("--memory", inspect->memory, "Load the model and tell what a run takes of memory");
  app.add_option("-d,--dim", inspect->dims, "Size of a symbolic dimension for --memory, name=size")->needs("--memory");
  return [inspect, &globals] {
    Ort::AllocatorWithDefaultOptions allocator;
    char* text = nullptr;
    Ort::ThrowOnError(RhInspectModel(as_path(inspect->model).c_str(), allocator, &text));
    nlohmann::json report = nlohmann::json::parse(Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get());
    if (inspect->memory) report["memory"] = memory_plan(SessionSettings().open(inspect->model), {}, inspect->dims);
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print_report(report);
      if (inspect->memory) print_memory_plan(globals, report["memory"], 10);
    }
    return 0;
  };
}

}  // namespace rh::cli
