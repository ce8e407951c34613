#include "base/cpu_features.h"

#include <gtest/gtest.h>

namespace rh {
namespace {

CpuFeatures everything() {
  CpuFeatures f;
  f.sse41 = f.avx2 = f.avx512 = f.avx512_vnni = f.amx_bf16 = f.amx_int8 = true;
  return f;
}

TEST(CpuFeatures, lowered_cuts_all_that_comes_after) {
  const CpuFeatures avx512 = lowered(everything(), "avx512");
  EXPECT_TRUE(avx512.avx512 && avx512.avx2 && avx512.sse41);
  EXPECT_FALSE(avx512.avx512_vnni || avx512.amx_bf16 || avx512.amx_int8);
  const CpuFeatures avx2 = lowered(everything(), "avx2");
  EXPECT_TRUE(avx2.avx2 && avx2.sse41);
  EXPECT_FALSE(avx2.avx512 || avx2.avx512_vnni || avx2.amx_bf16);
  const CpuFeatures sse2 = lowered(everything(), "sse2");
  EXPECT_FALSE(sse2.sse41 || sse2.avx2 || sse2.avx512 || sse2.amx_int8);
  for (const char* all : {"amx", "native", ""}) EXPECT_TRUE(lowered(everything(), all).amx_int8);
}

TEST(CpuFeatures, an_unknown_name_is_told_with_those_that_are_known) {
  for (const char* known : {"", "sse2", "avx2", "avx512", "amx", "native"}) EXPECT_EQ(isa_problem(known), "") << known;
  for (const char* unknown : {"avx521", "AVX2", "avx", " sse2"}) {
    const std::string problem = isa_problem(unknown);
    EXPECT_NE(problem.find("ROUNDHOUSE_ISA is '" + std::string(unknown) + "'"), std::string::npos) << problem;
    EXPECT_NE(problem.find("sse2, avx2, avx512, amx or native"), std::string::npos) << problem;
    EXPECT_TRUE(lowered(everything(), unknown).amx_int8) << unknown;
  }
}

TEST(CpuFeatures, detected_levels_include_the_lower_ones) {
  const CpuFeatures& f = cpu_features();
  EXPECT_TRUE(!f.avx512 || f.avx2);
  EXPECT_TRUE(!f.amx_bf16 || f.avx512);
  EXPECT_GT(f.l1d_bytes, 0);
  EXPECT_GT(f.l2_bytes, 0);
  EXPECT_GT(f.l1d_line_bytes, 0);
  EXPECT_GE(f.l1d_ways, 0);
  if (f.l1d_ways > 0) {
    EXPECT_EQ(f.l1d_bytes % (f.l1d_ways * f.l1d_line_bytes), 0);
  }
}

TEST(CpuFeatures, scopes_nest) {
  const bool native = cpu_features().avx2;
  {
    const ScopedCpuFeatures all(everything());
    EXPECT_TRUE(cpu_features().amx_int8);
    {
      const ScopedCpuFeatures none(lowered(everything(), "sse2"));
      EXPECT_FALSE(cpu_features().avx2);
    }
    EXPECT_TRUE(cpu_features().amx_int8);
  }
  EXPECT_EQ(cpu_features().avx2, native);
}

}  // namespace
}  // namespace rh
