// What the shared libraries show to the linker.
#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <vector>

#include "library.h"

namespace rh::test {
namespace {

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return lines;
  std::string all;
  std::array<char, 4096> buffer;
  while (const size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe)) all.append(buffer.data(), read);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::istringstream stream(all);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

struct SharedLibrary {
  const char* soname;
};

class ExportsTest : public testing::TestWithParam<SharedLibrary> {
 protected:
  std::string path() const { return std::string(RH_BUILD_DIR "/lib/") + GetParam().soname; }
};

TEST_P(ExportsTest, OnlyTheIntendedSymbols) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of("nm -D --defined-only " + path())) names.push_back(line.substr(line.rfind(' ') + 1));
  std::ranges::sort(names);
  const std::vector<std::string> expected = {"OrtGetApiBase",
                                             "OrtSessionOptionsAppendExecutionProvider_CPU",
                                             "OrtSessionOptionsAppendExecutionProvider_CUDA",
                                             "OrtSessionOptionsAppendExecutionProvider_CoreML",
                                             "OrtSessionOptionsAppendExecutionProvider_MIGraphX",
                                             "OrtSessionOptionsAppendExecutionProvider_ROCM",
                                             "OrtSessionOptionsAppendExecutionProvider_Tensorrt",
                                             "RhConvertModel",
                                             "RhCreateEmptyLoraAdapter",
                                             "RhCreateEmptySequence",
                                             "RhCreateValueFromProto",
                                             "RhEnvMakeGlobalThreadPools",
                                             "RhExplainModel",
                                             "RhExposeValues",
                                             "RhGetLoraAdapterInfo",
                                             "RhGetLoraAdapterParameter",
                                             "RhGetMapsOfSequence",
                                             "RhGetVersionString",
                                             "RhInspectModel",
                                             "RhListProviders",
                                             "RhLoadLoraAdapter",
                                             "RhRunOptionsSetNodeCallback",
                                             "RhSessionGetMemoryPlan",
                                             "RhSessionGetProvider",
                                             "RhSessionGetReport",
                                             "RhSessionTrim",
                                             "RhSetLogFunction",
                                             "RhSetRandomSeed",
                                             "RhWriteLoraAdapter"};
  EXPECT_EQ(names, expected);  // nm would write NAME@@VERSION where symbols had versions
}

// A thread that makes a local static holds its guard; the child of a fork that happens then would wait for ever (base/fork_mutex.h).
TEST_P(ExportsTest, NoLocalStaticIsMadeAtItsFirstUse) {
  std::vector<std::string> guarded;
  for (const std::string& line : lines_of("readelf -sWC " + path())) {
    const auto name = line.find("guard variable for rh::");
    const bool of_function = name != std::string::npos && line.find(")::", name) != std::string::npos;
    if (of_function && line.find(" TLS ") == std::string::npos) guarded.push_back(line.substr(name));
  }
  EXPECT_EQ(guarded, std::vector<std::string>());
}

TEST_P(ExportsTest, SonameAndDependencies) {
  std::string soname;
  for (const std::string& line : lines_of("readelf -d " + path())) {
    const auto bracket = line.find('[');
    if (bracket == std::string::npos) continue;
    const std::string name = line.substr(bracket + 1, line.find(']') - bracket - 1);
    if (line.find("(SONAME)") != std::string::npos) soname = name;
    if (line.find("(NEEDED)") != std::string::npos) {
      EXPECT_TRUE(name.starts_with("libc.") || name.starts_with("libm.") || name.starts_with("ld-linux") || name.starts_with("libdl.") ||
                  name.starts_with("libpthread."))
          << name;
    }
  }
  EXPECT_EQ(soname, GetParam().soname);
}

INSTANTIATE_TEST_SUITE_P(Libraries, ExportsTest, testing::Values(SharedLibrary{"libroundhouse.so.1"}, SharedLibrary{"libonnxruntime.so.1"}),
                         [](const auto& info) { return info.index == 0 ? "Roundhouse" : "Alias"; });

}  // namespace
}  // namespace rh::test
