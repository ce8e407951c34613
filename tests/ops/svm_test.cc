#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Floats = std::vector<float>;
using Names = std::vector<std::string>;
using Attributes = std::vector<Attribute>;

/// Three classes of 2, 3 and 2 support vectors with two features, without labels and kernel function.
Attributes three(Attributes more) {
  Attributes all = {attr("coefficients", Floats{0.5f, -1, 2, -0.25f, 1, -1.5f, 0.75f, 1, 0.5f, -2, 0.3f, 0.7f, -0.6f, 0.9f}),
                    attr("support_vectors", Floats{1, 2, -1, 0.5f, 0, 3, 2, -2, 1.5f, 1, -3, 0.25f, 0.5f, -0.5f}),
                    attr("vectors_per_class", {2, 3, 2}), attr("rho", Floats{0.1f, -0.2f, 0.05f}),
                    attr("kernel_params", Floats{0.4f, 0.25f, 3})};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Attributes two(Attributes more) {
  Attributes all = {attr("coefficients", Floats{0.5f, -1, 2}), attr("support_vectors", Floats{1, 2, -1, 0.5f, 0, 3}),
                    attr("vectors_per_class", {1, 2}),         attr("rho", Floats{0.1f}),
                    attr("kernel_params", Floats{0.4f, 0, 0}), attr("kernel_type", "RBF")};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Attributes linear(std::vector<float> coefficients, std::vector<float> rho, Attributes more) {
  Attributes all = {attr("coefficients", std::move(coefficients)), attr("rho", std::move(rho))};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const Attribute kLabels = attr("classlabels_ints", {4, 9, 2}), kTwo = attr("classlabels_strings", Names{"no", "yes"});
const Attribute kA = attr("prob_a", Floats{-1.5f, -0.5f, -2}), kB = attr("prob_b", Floats{0.1f, 0, -0.3f});
const Attribute kA1 = attr("prob_a", Floats{-1.5f}), kB1 = attr("prob_b", Floats{0.1f});
const Input kRows = uniform({9, 2}, -3, 3);
const Attribute kRbf = attr("kernel_type", "RBF");

const std::vector<OpCase> kSVMClassifier = {
    {1, three({kLabels, kRbf}), {kRows}, "decisions of pairs", {}, 2, 1e-5, kMl},
    {1, three({kLabels, attr("kernel_type", "LINEAR")}), {kRows}, "linear kernel", {}, 2, 1e-5, kMl},
    {1, three({kLabels, attr("kernel_type", "POLY")}), {kRows}, "polynomial kernel", {}, 2, 1e-5, kMl},
    {1, three({kLabels, attr("kernel_type", "SIGMOID")}), {kRows}, "sigmoid kernel", {}, 2, 1e-5, kMl},
    {1, three({kLabels, kRbf, kA, kB}), {kRows}, "probabilities", {}, 2, 1e-5, kMl},
    {1, three({kLabels, kRbf, kA, kB, attr("post_transform", "SOFTMAX")}), {kRows}, "transformed", {}, 2, 1e-5, kMl},
    {1, three({kLabels, kRbf, attr("post_transform", "LOGISTIC")}), {kRows}, "transformed decisions", {}, 2, 1e-5, kMl},
    {1, two({kTwo}), {kRows}, "two classes", {}, 2, 1e-5, kMl},
    {1, two({kTwo, kA1, kB1}), {kRows}, "two probabilities", {}, 2, 1e-5, kMl},
    {1, two({kTwo, attr("post_transform", "LOGISTIC")}), {kRows}, "two, logistic", {}, 2, 1e-5, kMl},
    {1, two({kTwo, attr("post_transform", "SOFTMAX")}), {kRows}, "two, softmax", {}, 2, 1e-5, kMl},
    {1, two({kTwo}), {uniform({2}, -3, 3)}, "one row", {}, 2, 1e-5, kMl},
    {1, two({kTwo}), {normal({0, 2})}, "no rows", {}, 2, 1e-5, kMl},
    {1, linear({1, -2, 0.5f, 4, -1, 0.25f}, {0.5f}, {kLabels}), {kRows}, "no support vectors", {}, 2, 1e-5, kMl},
    {1, linear({1, -2, 0.5f, 4}, {0.5f}, {kTwo}), {kRows}, "two, no support vectors", {}, 2, 1e-5, kMl},
    {1, linear({1, 2, 0.5f, 4}, {0.5f}, {kTwo}), {kRows}, "positive weights", {}, 2, 1e-5, kMl},
    {1, two({kTwo}), {normal({2, 3})}, "other features", {"[2, 3]", "2"}, 2, 0, kMl},
    {1, two({kLabels}), {kRows}, "three labels of two", {"3 labels", "2 vectors_per_class"}, 2, 0, kMl},
    {1, two({kTwo, attr("prob_a", Floats{1})}), {kRows}, "no prob_b", {"prob_b"}, 2, 0, kMl},
    {1, linear({1, 2, 3}, {0}, {kTwo}), {kRows}, "coefficients left over", {"3 values", "2 rows"}, 2, 0, kMl},
    {1,
     {attr("coefficients", Floats{1}), attr("rho", Floats{0}), attr("support_vectors", Floats{1}), attr("vectors_per_class", {1, -1}),
      kTwo},
     {kRows},
     "negative count",
     {"vectors_per_class", "-1"},
     2,
     0,
     kMl},
};
RH_OP_TEST(SVMClassifier, kSVMClassifier, (Types<float, double, int64_t, int32_t>::set))

Attributes support(const char* function, Attributes more = {}) {
  Attributes all = {attr("coefficients", Floats{0.5f, -1, 2}),
                    attr("support_vectors", Floats{1, 2, -1, 0.5f, 0, 3}),
                    attr("rho", Floats{0.25f}),
                    attr("kernel_params", Floats{0.4f, 0.5f, 2}),
                    attr("kernel_type", function),
                    attr("n_supports", 3)};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const std::vector<OpCase> kSVMRegressor = {
    {1, support("RBF"), {kRows}, "radial kernel", {}, 1, 1e-5, kMl},
    {1, support("LINEAR"), {kRows}, "linear kernel", {}, 1, 1e-5, kMl},
    {1, support("POLY"), {kRows}, "polynomial kernel", {}, 1, 1e-5, kMl},
    {1, support("SIGMOID"), {kRows}, "sigmoid kernel", {}, 1, 1e-5, kMl},
    {1, support("RBF", {attr("one_class", 1)}), {kRows}, "one class", {}, 1, 1e-5, kMl},
    {1, linear({1, -2}, {0.5f}, {}), {kRows}, "no support vectors", {}, 1, 1e-5, kMl},
    {1, support("COSINE"), {kRows}, "unknown function", {"COSINE", "RBF"}, 1, 0, kMl},
    {1, support("RBF", {}), {normal({2, 5})}, "other features", {"[2, 5]", "2"}, 1, 0, kMl},
    {1,
     {attr("n_supports", 2), attr("coefficients", Floats{1}), attr("support_vectors", Floats{1, 2, 3, 4}), attr("rho", Floats{0})},
     {kRows},
     "too few coefficients",
     {"coefficients", "2 support"},
     1,
     0,
     kMl},
};
RH_OP_TEST(SVMRegressor, kSVMRegressor, (Types<float>::set))

}  // namespace
}  // namespace rh::test
