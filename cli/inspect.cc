#include <roundhouse/onnxruntime_cxx_api.h>
#include <roundhouse/roundhouse_c_api.h>

#include <cstdio>

#include "command.h"
#include "print.h"

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
  auto model = std::make_shared<std::string>();
  app.add_option("model", *model, "The .onnx file")->required();
  return [model, &globals] {
    Ort::AllocatorWithDefaultOptions allocator;
    char* text = nullptr;
    Ort::ThrowOnError(RhInspectModel(model->c_str(), allocator, &text));
    const std::string json = Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get();
    if (globals.json) {
      std::printf("%s\n", json.c_str());
    } else {
      print_report(nlohmann::json::parse(json));
    }
    return 0;
  };
}

}  // namespace rh::cli
