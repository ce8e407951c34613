#include <gtest/gtest.h>

#include <cmath>

#include "graph/text_parse.h"
#include "session/session.h"
#include "support/model_case.h"
#include "support/op_case.h"

namespace rh::test {
namespace {

/// The results of `runs` runs of a node with output y and, where `input` is defined, input x.
std::vector<Tensor> draws(const std::string& node, const char* type, const Tensor& input, int runs) {
  const std::string in =
      input.defined() ? "float[" + std::to_string(input.shape()[0]) + "," + std::to_string(input.shape()[1]) + "] x" : "";
  const std::string text = "<ir_version: 10, opset_import: [\"\" : 22]>\ng (" + in + ") => (" + type + "[...] y) { y = " + node + " }";
  const auto session = Session::create(parse_model(text), {});
  std::vector<Tensor> results;
  for (int i = 0; i < runs; ++i) {
    const char *in_names[] = {"x"}, *out_names[] = {"y"};
    const Value fed = input;
    const Value* feeds[] = {&fed};
    std::vector<Value> outputs(1);
    const size_t count = input.defined() ? 1 : 0;
    const Status status = session->run({}, std::span(in_names, count), std::span(feeds, count), out_names, outputs);
    if (!status.ok()) throw Error(status.code(), std::string(status.message()));
    results.push_back(outputs[0].tensor());
  }
  return results;
}

struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

Moments moments_of(const Tensor& tensor) {
  Moments m{0, 0, element_as_double(tensor.view(), 0), element_as_double(tensor.view(), 0)};
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = element_as_double(tensor.view(), i);
    m.mean += value, m.deviation += value * value;
    m.least = std::min(m.least, value), m.most = std::max(m.most, value);
  }
  m.mean /= static_cast<double>(tensor.elements());
  m.deviation = std::sqrt(m.deviation / static_cast<double>(tensor.elements()) - m.mean * m.mean);
  return m;
}

TEST(Random, NumbersHaveTheDistributionAskedFor) {
  const Moments normal = moments_of(draws("RandomNormal <shape = [300, 200], mean = 3.0, scale = 0.5> ()", "float", {}, 1)[0]);
  EXPECT_NEAR(normal.mean, 3, 0.01);
  EXPECT_NEAR(normal.deviation, 0.5, 0.01);
  for (const char* type : {"float", "double", "float16", "bfloat16"}) {
    const int number = static_cast<int>(dtype_from_string(type));
    const std::string node = "RandomUniform <shape = [60000], low = -1.0, high = 1.0, dtype = " + std::to_string(number) + "> ()";
    const Moments uniform = moments_of(draws(node, type, {}, 1)[0]);
    EXPECT_NEAR(uniform.mean, 0, 0.02) << type;
    EXPECT_NEAR(uniform.deviation, 1 / std::sqrt(3), 0.02) << type;
    EXPECT_GE(uniform.least, -1) << type;
    EXPECT_LT(uniform.most, 1) << type;
  }
  const Tensor like = draws("RandomNormalLike <dtype = 11> (x)", "double", Tensor(DType::float32, {20, 30}), 1)[0];
  EXPECT_EQ(like.shape().to_string(), "[20, 30]");
}

TEST(Random, SeededRunsAreTheSameInEverySessionAndDifferFromEachOther) {
  for (const char* node : {"RandomNormal <shape = [50], seed = 2.5> ()", "RandomUniform <shape = [50], seed = 2.5> ()"}) {
    const std::vector<Tensor> first = draws(node, "float", {}, 2), second = draws(node, "float", {}, 2);
    EXPECT_TRUE(identical(first[0].view(), second[0].view())) << node;
    EXPECT_TRUE(identical(first[1].view(), second[1].view())) << node;
    EXPECT_FALSE(identical(first[0].view(), first[1].view())) << node;
  }
  const char* unseeded = "RandomNormal <shape = [50]> ()";
  EXPECT_FALSE(identical(draws(unseeded, "float", {}, 1)[0].view(), draws(unseeded, "float", {}, 1)[0].view()));
}

TEST(Random, BernoulliDrawsOnesAsOftenAsAsked) {
  std::vector<float> probabilities;
  for (int i = 0; i < 3 * 20000; ++i) probabilities.push_back(i < 20000 ? 0.0f : i < 40000 ? 0.25f : 1.0f);
  const Tensor drawn = draws("Bernoulli <dtype = 9, seed = 1.0> (x)", "bool", floats({3, 20000}, probabilities), 1)[0];
  double sums[3] = {};
  for (int64_t i = 0; i < drawn.elements(); ++i) sums[i / 20000] += drawn.data<bool>()[i];
  EXPECT_EQ(sums[0], 0);
  EXPECT_NEAR(sums[1] / 20000, 0.25, 0.02);
  EXPECT_EQ(sums[2], 20000);
}

TEST(Random, MultinomialDrawsClassesByTheirProbabilities) {
  const Tensor logits = floats({2, 3}, {std::log(0.2f), std::log(0.5f), std::log(0.3f), 0, -INFINITY, 0});
  const Tensor drawn = draws("Multinomial <sample_size = 20000, dtype = 7, seed = 4.0> (x)", "int64", logits, 1)[0];
  ASSERT_EQ(drawn.shape().to_string(), "[2, 20000]");
  double counts[2][3] = {};
  for (int64_t i = 0; i < drawn.elements(); ++i) counts[i / 20000][drawn.data<int64_t>()[i]] += 1.0 / 20000;
  EXPECT_NEAR(counts[0][0], 0.2, 0.02);
  EXPECT_NEAR(counts[0][1], 0.5, 0.02);
  EXPECT_NEAR(counts[1][0], 0.5, 0.02);
  EXPECT_EQ(counts[1][1], 0);
}

const std::vector<OpCase> kRefused = {
    {22, {attr("shape", {2, -1})}, {}, "size below 0", {"RandomNormal(", "[2, -1]"}, 1, 0, "", "RandomNormal"},
    {22, {attr("shape", {1 << 30, 1 << 30, 1 << 30})}, {}, "too many", {"RandomUniform("}, 1, 0, "", "RandomUniform"},
    {22, {attr("shape", {2}), attr("dtype", 77)}, {}, "no such type", {"RandomNormal(", "77"}, 1, 0, "", "RandomNormal"},
    {22, {}, {normal({3})}, "no batch", {"Multinomial(", "[3]"}, 1, 0, "", "Multinomial"},
    {22, {}, {normal({3, 0})}, "no classes", {"Multinomial(", "[3, 0]"}, 1, 0, "", "Multinomial"},
    {22, {attr("sample_size", 0)}, {normal({3, 2})}, "no samples", {"Multinomial(", "sample_size"}, 1, 0, "", "Multinomial"},
    {22, {attr("dtype", 1)}, {normal({3, 2})}, "classes as floats", {"Multinomial(", "float"}, 1, 0, "", "Multinomial"},
    {22, {}, {values({1, 2}, {0, 1e300}).as(DType::float32)}, "infinite", {"Multinomial(", "row 0"}, 1, 0, "", "Multinomial"},
};
RH_OP_TEST(RandomRefused, kRefused, Types<float>::set)

}  // namespace
}  // namespace rh::test
