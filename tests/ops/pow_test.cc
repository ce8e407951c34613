#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kPow = {
    {15, {}, {uniform({3, 40}, 1, 4), uniform({3, 40}, 0, 4)}, "same type"},
    {15, {}, {uniform({3, 40}, 1, 4), values({}, {2})}, "square"},
    {15, {}, {uniform({3, 40}, 1, 4), values({1}, {3})}, "cube"},
    {15, {}, {uniform({3, 1}, 1, 4), uniform({40}, 0, 4).as(DType::int64)}, "integer exponent"},
    {15, {}, {uniform({3, 40}, 1, 4), uniform({40}, 0, 4).as(DType::uint8)}, "narrow integer exponent"},
    {15, {}, {uniform({3, 40}, 1, 4), uniform({40}, 0, 2).as(DType::float32)}, "float exponent"},
};
RH_OP_TEST(Pow, kPow, (Concat<FloatingTypes, Types<int32_t, int64_t>>::set))

const std::vector<OpCase> kPowEnds = {
    {15, {}, {values({6}, {-8, 0, 0, inf, nan, 2}), values({6}, {1.0 / 3, 0, -1, -1, 0, inf})}, "special values", {}, 1, 0, "", "Pow"},
};
RH_OP_TEST(PowEnds, kPowEnds, (Types<float, double>::set))

const std::vector<OpCase> kMod = {
    {13, {}, {uniform({3, 40}, 0, 100), uniform({3, 40}, 1, 9)}, "sign of the divisor"},
    {13, {}, {uniform({3, 40}, 0, 100), uniform({}, 1, 9)}, "one divisor"},
    {13, {attr("fmod", 1)}, {uniform({3, 40}, 0, 100), uniform({40}, 1, 9)}, "sign of the dividend"},
};
RH_OP_TEST(Mod, kMod, IntegerTypes::set)

const std::vector<OpCase> kSignedMod = {
    {13, {}, {values({4}, {-7, 7, -7, 6}), values({4}, {3, -3, -3, -3})}, "sign of the divisor", {}, 1, 0, "", "Mod"},
    {13, {attr("fmod", 1)}, {values({4}, {-7, 7, -7, 6}), values({4}, {3, -3, -3, -3})}, "sign of the dividend", {}, 1, 0, "", "Mod"},
};
RH_OP_TEST(SignedMod, kSignedMod, SignedTypes::set)

const std::vector<OpCase> kFmod = {
    {13, {attr("fmod", 1)}, {values({4}, {-7.5, 7.5, -7, 6}), values({4}, {3, -3, -3, -3})}, "floats", {}, 1, 0, "", "Mod"},
    {13, {attr("fmod", 1)}, {uniform({300}, -90, 90), uniform({300}, 1, 3)}, "quotients of all sizes", {}, 1, 0, "", "Mod"},
    {13,
     {attr("fmod", 1)},
     {values({5}, {6e4, -6e4, 0, 5, -1}), values({5}, {0.001, 0.007, 3, 0.0999, 7})},
     "large quotients",
     {},
     1,
     0,
     "",
     "Mod"},
    {13, {}, {normal({2}), normal({2})}, "floats need fmod", {"fmod is 0", "expected 1"}, 1, 0, "", "Mod"},
};
RH_OP_TEST(FloatMod, kFmod, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
