#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Names = std::vector<std::string>;

const std::vector<OpCase> kCategoryMapper = {
    {1, {attr("cats_int64s", {4, 2}), attr("cats_strings", Names{"a", "b"})}, {strings({3}, {"b", "x", "a"})}, "strings", {}, 1, 0, kMl},
    {1,
     {attr("cats_int64s", {4, 2}), attr("cats_strings", Names{"a", "b"}), attr("default_string", "?")},
     {ints({2, 3, 4})},
     "integers",
     {},
     1,
     0,
     kMl},
    {1,
     {attr("cats_int64s", {4}), attr("cats_strings", Names{"a", "b"})},
     {ints({2})},
     "not as many",
     {"1 cats_int64s", "2 cats_strings"},
     1,
     0,
     kMl},
};
RH_OP_TEST(CategoryMapper, kCategoryMapper, (Types<std::string>::set))

}  // namespace
}  // namespace rh::test
