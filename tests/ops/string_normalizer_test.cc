#include "support/op_case.h"

namespace rh::test {
namespace {

using Strings = std::vector<std::string>;

const std::vector<OpCase> kStringNormalizer = {
    {10, {}, {strings({3}, {"Monday", "Tuesday", ""})}, "nothing to do"},
    {10, {attr("case_change_action", "LOWER")}, {strings({1, 3}, {"Monday", "ÜBER", "x"})}, "lower case"},
    {10,
     {attr("case_change_action", "UPPER"), attr("is_case_sensitive", 1), attr("stopwords", Strings{"monday"})},
     {strings({4}, {"monday", "Monday", "straße", "ée"})},
     "upper case after words are dropped"},
    {10, {attr("stopwords", Strings{"MONDAY", "Élan"})}, {strings({4}, {"monday", "éLAN", "Tuesday", "monday"})}, "case does not count"},
    {10, {attr("stopwords", Strings{"a"}), attr("is_case_sensitive", 1)}, {strings({1, 2}, {"a", "a"})}, "all dropped"},
    {10, {}, {strings({2, 2}, {"a", "b", "c", "d"})}, "two rows", {"[2, 2]", "[1, C]"}},
    {10, {attr("case_change_action", "TITLE")}, {strings({1}, {"a"})}, "unknown action", {"TITLE", "LOWER"}},
};
RH_OP_TEST(StringNormalizer, kStringNormalizer, (Types<std::string>::set))

}  // namespace
}  // namespace rh::test
