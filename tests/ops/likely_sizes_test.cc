#include "ops/nn/likely_sizes.h"

#include <gtest/gtest.h>

namespace rh::ops {
namespace {

TEST(LikelySizes, of_an_axis_follow_from_those_of_images) {
  const Dim width = Dim::symbol("width"), unnamed = Dim::symbol("_input0_3");
  EXPECT_EQ(likely_size(Dim(48), 320), 48);
  EXPECT_EQ(likely_size(width, 320), 320);
  EXPECT_EQ(likely_size(Dim::apply(Dim::Function::floor_div, width - Dim(1), Dim(2)) + Dim(1), 321), 161);
  EXPECT_EQ(likely_size(unnamed + width, 128), 256);
}

TEST(LikelySizes, of_what_a_run_computes_or_no_axis_has_are_none) {
  EXPECT_FALSE(likely_size(Dim::unknown(), 320));
  EXPECT_FALSE(likely_size(Dim::symbol("_s3") * Dim::symbol("width"), 320));
  EXPECT_FALSE(likely_size(Dim::symbol("width") - Dim(320), 320));
  EXPECT_FALSE(likely_size(Dim(0), 320));
}

}  // namespace
}  // namespace rh::ops
