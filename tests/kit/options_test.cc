// Options of providers on the kit.
#include "providers/kit/host/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rh {

namespace {

using kit::OptionRow;

constexpr std::string_view kSpeeds[] = {"exact", "fast"};
constexpr OptionRow kRows[] = {
    {"library_path", OptionRow::Type::text, "", "where the library is"},
    {"device_id", OptionRow::Type::integer, "0", "which device", 0, 15},
    {"capture", OptionRow::Type::flag, "1", "whether runs are recorded"},
    {"speed", OptionRow::Type::choice, "exact", "what counts", 0, 0, kSpeeds},
    {.name = "threads", .type = OptionRow::Type::integer, .otherwise = "0", .most = 8, .onnxruntime_name = "num_of_threads"},
};

std::string message_of(const std::map<std::string, std::string>& given) {
  try {
    kit::Options("SampleExecutionProvider", kRows, given);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.message();
  }
}

TEST(KitOptions, AreKnownByTheNamesThatOnnxRuntimeHas) {
  EXPECT_EQ(kit::Options("P", kRows, {{"num_of_threads", "3"}}).integer("threads"), 3);
  EXPECT_EQ(kit::Options("P", kRows, {{"num_of_threads", "3"}}).key(), kit::Options("P", kRows, {{"threads", "3"}}).key());
  EXPECT_NE(message_of({{"num_of_threads", "9"}}).find("an integer from 0 to 8"), std::string::npos);
  EXPECT_NE(message_of({{"num_of_thread", "1"}}).find("did you mean 'num_of_threads'?"), std::string::npos);
  EXPECT_EQ(message_of({{"threads", "1"}, {"num_of_threads", "1"}}),
            "SampleExecutionProvider is given 'threads' and 'num_of_threads', two names of one option: leave one out");
}

TEST(KitOptions, GoByWhatIsInAFile) {
  constexpr OptionRow row[] = {{.name = "table", .type = OptionRow::Type::file}};
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("rh_kit_options_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto key_of = [&](const char* name, const char* content) {
    std::ofstream(folder / name) << content;
    return kit::Options("P", row, {{"table", (folder / name).string()}}).key();
  };
  const std::string first = key_of("a", "1");
  EXPECT_EQ(key_of("b", "1"), first);
  EXPECT_NE(key_of("a", "2"), first);
  EXPECT_NE(kit::Options("P", row, {{"table", "/none"}}).key(), first);
  std::filesystem::remove_all(folder);
}

TEST(KitOptions, HaveDefaultsAndWhatIsGiven) {
  const kit::Options plain("P", kRows, {});
  EXPECT_EQ(plain.text("library_path"), "");
  EXPECT_EQ(plain.integer("device_id"), 0);
  EXPECT_TRUE(plain.flag("capture"));
  EXPECT_EQ(plain.text("speed"), "exact");
  const kit::Options given("P", kRows, {{"library_path", "/a/b"}, {"device_id", "15"}, {"capture", "False"}, {"speed", "fast"}});
  EXPECT_EQ(given.text("library_path"), "/a/b");
  EXPECT_EQ(given.integer("device_id"), 15);
  EXPECT_FALSE(given.flag("capture"));
  EXPECT_EQ(given.text("speed"), "fast");
}

TEST(KitOptions, RefuseWhatNoRowAllows) {
  const std::pair<std::map<std::string, std::string>, const char*> cases[] = {
      {{{"devise_id", "1"}}, "SampleExecutionProvider has no option 'devise_id'; did you mean 'device_id'?"},
      {{{"zzz", "1"}},
       "SampleExecutionProvider has no option 'zzz': expected one of library_path, device_id, capture, speed, threads, num_of_threads"},
      {{{"device_id", "16"}}, "option 'device_id' of SampleExecutionProvider is '16', expected an integer from 0 to 15"},
      {{{"device_id", "1x"}}, "option 'device_id' of SampleExecutionProvider is '1x', expected an integer from 0 to 15"},
      {{{"device_id", ""}}, "option 'device_id' of SampleExecutionProvider is '', expected an integer from 0 to 15"},
      {{{"capture", "yes"}}, "option 'capture' of SampleExecutionProvider is 'yes', expected 0 or 1"},
      {{{"speed", "fas"}}, "option 'speed' of SampleExecutionProvider is 'fas', expected one of 'exact', 'fast'; did you mean 'fast'?"},
  };
  for (const auto& [given, expected] : cases) EXPECT_EQ(message_of(given), expected);
}

}  // namespace

}  // namespace rh
