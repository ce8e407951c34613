#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase skip(std::vector<Input> inputs, const char* purpose, int outputs = 1, std::vector<int> left_out = {},
            std::vector<std::string> fails = {}) {
  OpCase c{.opset = 1,
           .attributes = {attr("epsilon", 1e-5f)},
           .inputs = std::move(inputs),
           .purpose = purpose,
           .fails = std::move(fails),
           .outputs = outputs,
           .tolerance = 4e-6,
           .domain = "com.microsoft"};
  c.left_out = std::move(left_out);
  return c;
}

const std::vector<OpCase> kFull = {
    skip({normal({2, 3, 64}), normal({2, 3, 64}), normal({64}), normal({64}), normal({64})}, "all inputs"),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33}), normal({33})}, "without bias"),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33}), absent(), normal({33})}, "without beta"),
    skip({normal({2, 3, 64}), normal({2, 3, 64}), normal({64}), normal({64}), normal({64})}, "the sum", 4, {1, 2}),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33}), normal({33})}, "mean and deviation", 4),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33}), normal({33})}, "deviation alone", 3, {1}),
    skip({normal({4, 3, 16}), normal({1, 3, 16}), normal({16}), normal({16})}, "one skip for all"),
    skip({normal({4, 3, 16}), normal({3, 16}), normal({16}), normal({16})}, "skip without batch"),
    skip({normal({5, 16}), normal({5, 16}), normal({16}), normal({16})}, "two dimensions"),
    skip({normal({0, 3, 16}), normal({0, 3, 16}), normal({16}), normal({16})}, "no rows"),
    skip({normal({2, 3, 16}), normal({2, 4, 16}), normal({16})}, "skip of another shape", 1, {}, {"[2, 4, 16]", "[2, 3, 16]"}),
    skip({normal({2, 3, 16}), normal({2, 3, 16}), normal({15})}, "gamma of another size", 1, {}, {"15", "16"}),
    skip({normal({16}), normal({16}), normal({16})}, "one dimension", 1, {}, {"[16]", "two dimensions"}),
};
RH_OP_TEST(SkipLayerNormalization, kFull, (Types<float, Float16, BFloat16>::set))

const std::vector<OpCase> kSimplified = {
    skip({normal({2, 3, 64}), normal({2, 3, 64}), normal({64}), normal({64})}, "all inputs"),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33})}, "without bias"),
    skip({normal({2, 3, 64}), normal({2, 3, 64}), normal({64}), normal({64})}, "the sum", 4, {1, 2}),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33}), normal({33})}, "mean (0) and deviation", 4),
    skip({normal({2, 3, 33}), normal({2, 3, 33}), normal({33})}, "deviation alone", 3, {1}),
    skip({normal({4, 3, 16}), normal({1, 3, 16}), normal({16})}, "one skip for all"),
    skip({normal({2, 3, 16}), normal({2, 3, 16}), normal({16}), normal({4})}, "bias of another size", 1, {}, {"4", "16"}),
};
RH_OP_TEST(SkipSimplifiedLayerNormalization, kSimplified, (Types<float, Float16, BFloat16>::set))

Input ids(Shape shape, double end) { return uniform(std::move(shape), 0, end).as(DType::int32); }

OpCase embed(std::vector<Input> inputs, const char* purpose, int outputs = 2, std::vector<std::string> fails = {}) {
  return {.opset = 1,
          .attributes = {attr("epsilon", 1e-5f)},
          .inputs = std::move(inputs),
          .purpose = purpose,
          .fails = std::move(fails),
          .outputs = outputs,
          .tolerance = 4e-6,
          .domain = "com.microsoft"};
}

const std::vector<OpCase> kEmbed = {
    embed({ids({2, 5}, 9), ids({2, 5}, 2), normal({9, 32}), normal({8, 32}), normal({2, 32}), normal({32}), normal({32}), ids({2, 5}, 2)},
          "all of BERT's"),
    embed({ids({2, 5}, 9), absent(), normal({9, 32}), normal({5, 32}), absent(), normal({32}), normal({32})}, "without segments"),
    embed({ids({2, 5}, 9), ids({2, 5}, 2), normal({9, 7}), normal({8, 7}), normal({2, 7}), normal({7}), normal({7}), absent(),
           ids({2, 5}, 8)},
          "positions", 3),
    embed({ids({3, 5}, 9), absent(), normal({9, 7}), normal({8, 7}), absent(), normal({7}), normal({7}), absent(), ids({1, 5}, 8)},
          "shared positions", 3),
    embed({values({1, 2}, {3, 9}).as(DType::int32), absent(), normal({9, 7}), normal({8, 7}), absent(), normal({7}), normal({7})},
          "word out of range", 2, {"input_ids has 9", "[0, 9)"}),
    embed({ids({1, 2}, 9), absent(), normal({9, 7}), normal({8, 7}), absent(), normal({7}), normal({7}), absent(),
           values({1, 2}, {-1, 0}).as(DType::int32)},
          "position out of range", 2, {"position_ids has -1", "[0, 8)"}),
    embed({ids({1, 5}, 9), absent(), normal({9, 7}), normal({4, 7}), absent(), normal({7}), normal({7})}, "more tokens than positions", 2,
          {"5 tokens", "4 rows"}),
    embed({ids({1, 5}, 9), absent(), normal({9, 7}), normal({5, 6}), absent(), normal({7}), normal({7})}, "tables of different widths", 2,
          {"[5, 6]", "7"}),
    embed({ids({1, 5}, 9), ids({1, 5}, 2), normal({9, 7}), normal({5, 7}), absent(), normal({7}), normal({7})}, "segments without a table",
          2, {"segment_embedding"}),
};
RH_OP_TEST(EmbedLayerNormalization, kEmbed, (Types<float, Float16>::set))

/// The same of codes: of the type under test, with a scale and a zero point each.
OpCase embed_codes(int64_t size, bool has_segments, Input mask, const char* purpose, std::vector<std::string> fails = {}) {
  const auto codes = [](Shape shape) { return uniform(std::move(shape), 0, 120); };
  const auto scale = [](double value) { return values({}, {value}).as(DType::float32); };
  const auto zero = [](double value) { return values({}, {value}); };
  const auto segment = [&](Input input) { return has_segments ? input : absent(); };
  return contributed({attr("epsilon", 1e-5f)},
                     {ids({2, 5}, 9), segment(ids({2, 5}, 2)), codes({9, size}), codes({8, size}), segment(codes({2, size})), codes({size}),
                      codes({size}), mask, scale(0.02), scale(0.03), segment(scale(0.01)), scale(0.05), scale(0.07), zero(60), zero(10),
                      segment(zero(100)), zero(0), zero(50)},
                     purpose, std::move(fails), 2, 4e-6);
}
OpCase embed_changed(size_t input, Input other, const char* purpose, std::vector<std::string> fails) {
  OpCase c = embed_codes(8, true, absent(), purpose, std::move(fails));
  c.inputs[input] = std::move(other);
  return c;
}

const std::vector<OpCase> kQEmbed = {
    embed_codes(32, true, ids({2, 5}, 2), "all of BERT's"),
    embed_codes(33, false, absent(), "without segments and mask"),
    embed_changed(10, absent(), "segments without a scale", {"segment_embedding", "scale"}),
    embed_changed(8, values({2}, {1, 2}).as(DType::float32), "two scales", {"[2]", "one element"}),
    embed_changed(0, values({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).as(DType::int32), "word out of range", {"input_ids has 9", "[0, 9)"}),
    embed_changed(3, uniform({4, 8}, 0, 9), "more tokens than positions", {"5 tokens", "4 rows"}),
};
RH_OP_TEST(QEmbedLayerNormalization, kQEmbed, (Types<int8_t, uint8_t>::set))

}  // namespace
}  // namespace rh::test
