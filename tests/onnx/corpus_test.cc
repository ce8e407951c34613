#include <cstdlib>
#include <filesystem>

#include "onnx/reader.h"
#include "onnx/writer.h"
#include "protos.h"

namespace rh::onnx::test {
namespace {

/// The models and test data of the onnx Python package: `onnx/backend/test/data` in the folder that ROUNDHOUSE_ONNX_PACKAGE names.
TEST(Corpus, ModelsOfTheOnnxPackageSurviveWriting) {
  const char* package = std::getenv("ROUNDHOUSE_ONNX_PACKAGE");
  if (!package) GTEST_SKIP() << "ROUNDHOUSE_ONNX_PACKAGE does not name the folder of the onnx package";
  int light = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(package) / "backend/test/data")) {
    if (entry.path().extension() != ".onnx") continue;
    const std::string path = entry.path().string();
    light += entry.path().filename().string().starts_with("light_");
    const Model first = read_model(path);
    const std::string bytes = write_model(first);
    const Model second = read_model(as_span(bytes));
    EXPECT_EQ(second.graph->node_count(), first.graph->node_count()) << path;
    EXPECT_EQ(second.graph->inputs().size(), first.graph->inputs().size()) << path;
    EXPECT_EQ(write_model(second), bytes) << path;
  }
  EXPECT_EQ(light, 9);
}

}  // namespace
}  // namespace rh::onnx::test
