#include "support/sweeps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "support/sanitizers.h"

namespace rh::test {

int sweep_step() {
  static const int kStep = [] {
    const char* asked = std::getenv("RH_SWEEPS");
    const std::string_view share = asked && *asked ? asked : kSanitized ? "part" : "whole";
    if (share != "whole" && share != "part") ADD_FAILURE() << "RH_SWEEPS is '" << share << "': expected whole or part";
    return share == "part" ? 5 : 1;
  }();
  return kStep;
}

int first_swept_row() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  unsigned sum = 0;
  if (test)
    for (const char c : std::string_view(test->name())) sum = sum * 31 + static_cast<unsigned char>(c);
  return static_cast<int>(sum % static_cast<unsigned>(sweep_step()));
}

}  // namespace rh::test
