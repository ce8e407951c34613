#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/file.h"
#include "fuzz/message_tree.h"
#include "fuzz/targets.h"

namespace rh::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  const fs::path source = fs::path(RH_TEST_DATA).parent_path() / "fuzz", unpacked = fs::path(RH_BUILD_DIR) / "fuzz_corpus";
  const fs::path top = (folder.starts_with("regressions/") ? source : unpacked) / folder;
  for (const auto& entry : fs::directory_iterator(top)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::span<const std::byte> bytes_of(const std::string& content) { return std::as_bytes(std::span(content)); }

TEST(FuzzReplay, Models) {
  for (const char* folder : {"model", "found_model", "regressions/model"}) {
    const auto files = files_in(folder);
    EXPECT_FALSE(files.empty()) << folder;
    size_t ran = 0;
    for (const std::string& file : files) {
      SCOPED_TRACE(file);
      const std::string content = read_file(file);
      load_model(bytes_of(content));
      ran += run_model(bytes_of(content));
    }
    // The seeds are models that work, but for operators that have no kernel and inputs that are no tensors.
    if (folder == std::string_view("model")) {
      EXPECT_GT(ran, files.size() * 2 / 3) << "of " << files.size();
    }
  }
}

TEST(FuzzReplay, GraphText) {
  for (const char* folder : {"graph_text", "found_graph_text", "regressions/graph_text"}) {
    const auto files = files_in(folder);
    EXPECT_FALSE(files.empty()) << folder;
    for (const std::string& file : files) {
      SCOPED_TRACE(file);
      read_graph_text(read_file(file));
    }
  }
}

TEST(MessageTree, KeepsWhatItReads) {
  for (const std::string& file : files_in("model")) {
    if (!file.ends_with(".onnx")) continue;  // of the ORT format
    const std::string content = read_file(file);
    const auto tree = parse(content, model_kind());
    ASSERT_TRUE(tree) << file;
    const std::string written = serialize(*tree);
    const auto again = parse(written, model_kind());
    ASSERT_TRUE(again) << file;
    EXPECT_EQ(serialize(*again), written) << file;
  }
}

}  // namespace
}  // namespace rh::fuzz
