// Runtimes that are older and newer than what the library was built with.
#include "providers/kit/host/host.h"

#include <gtest/gtest.h>

#include "capi/table.h"

namespace rh {

namespace {

const char* version_text = "";
uint32_t asked_for = 0;

/// A runtime that says it is of another version than ours, whose table it has.
const OrtApiBase kBase{[](uint32_t version) -> const OrtApi* {
                         asked_for = version;
                         return &capi::kApi;
                       },
                       []() -> const char* { return version_text; }};

TEST(KitHost, IsAskedForTheNewestThatBothSidesKnow) {
  for (const auto& [text, version] : {std::pair{"1.24.0", 24u}, {"1.27.3", 27u}, {"1.32.0", 32u}, {"1.99.0", 32u}, {"1.32", 32u}}) {
    version_text = text;
    EXPECT_EQ(kit::connect(kBase).version, version) << text;
    EXPECT_EQ(asked_for, version) << text;
  }
}

TEST(KitHost, ThatIsTooOldIsOneSentence) {
  for (const char* text : {"1.23.2", "1.9.0", "1", "", "none"}) {
    version_text = text;
    asked_for = 0;
    try {
      kit::connect(kBase);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), fmt::format("the runtime is of version {}, expected 1.24 or newer: install a newer one", text));
    }
    EXPECT_EQ(asked_for, 0u) << text;
  }
}

}  // namespace

}  // namespace rh
