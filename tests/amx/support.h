#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "base/cpu_features.h"
#include "compute/gemm/amx.h"
#include "support/amx_emulator.h"

namespace rh::test {

inline CpuFeatures with_amx(CpuFeatures features) {
  features.amx_bf16 = true;
  features.own_adders = false;
  return features;
}

/// A processor with AMX: the machine's own, or what the emulator makes of it. Every test holds the code to the rules of the instructions,
/// and to leaving no tiles configured in any thread.
class AmxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!AmxEmulator::possible()) GTEST_SKIP() << "the kernels need AVX-512 beside AMX, and an AMX that ROUNDHOUSE_ISA does not hide";
    emulator_.emplace();
    if (AmxEmulator::native()) return;
    features_.emplace(with_amx(cpu_features()));
    status_.emplace(compute::AmxStatus{true, {}});
  }
  void TearDown() override {
    if (!emulator_) return;
    EXPECT_EQ(emulator_->violations(), std::vector<std::string>());
    EXPECT_EQ(emulator_->configured_threads(), 0);
    status_.reset();
    features_.reset();
    emulator_.reset();
  }

  std::optional<AmxEmulator> emulator_;
  std::optional<ScopedCpuFeatures> features_;
  std::optional<compute::ScopedAmxStatus> status_;
};

}  // namespace rh::test
