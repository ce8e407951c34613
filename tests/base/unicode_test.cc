#include "base/unicode.h"

#include <gtest/gtest.h>

namespace rh {
namespace {

TEST(Unicode, ChangesCaseOneCharacterForOne) {
  EXPECT_EQ(to_lower("ÀÉÎ ĀĂ ΑΒΓ АБВ Ǆ ꙀꙂ 𐐀"), "àéî āă αβγ абв ǆ ꙁꙃ 𐐨");
  EXPECT_EQ(to_upper("àéî āă αβγ абв ǆ ꙁꙃ 𐐨 ÿ"), "ÀÉÎ ĀĂ ΑΒΓ АБВ Ǆ ꙀꙂ 𐐀 Ÿ");
  EXPECT_EQ(to_lower("Az[`{@ 09"), "az[`{@ 09");
  EXPECT_EQ(to_upper("Az[`{@ 09"), "AZ[`{@ 09");
  EXPECT_EQ(to_upper("ß 漢字 😀"), "ß 漢字 😀");
}

TEST(Unicode, LeavesWhatIsNotUtf8) {
  for (const std::string text : {"a\xff", "\xc3", "\xe2\x82", "\xc0\x80", "\xf8\x88\x80\x80\x80", "\x80"}) {
    EXPECT_EQ(to_lower(text), text);
  }
}

}  // namespace
}  // namespace rh
