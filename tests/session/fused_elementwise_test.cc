#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// A graph of element-wise nodes, TYPE standing for the element type, and the sizes of its inputs by run.
struct ChainCase {
  const char* purpose;
  std::string text;
  std::vector<std::vector<Shape>> sizes;
  int64_t steps = 1;
};

const std::string kHead = "<opset_import: [\"\" : 20]>\n";

std::string with_type(std::string text, const char* type) {
  for (size_t at = 0; (at = text.find("TYPE", at)) != std::string::npos;) text.replace(at, 4, type);
  return text;
}

template <typename T>
Tensor random_numbers(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  Tensor tensor(dtype_of<T>, shape);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {std::nanf(""), kInfinity, -kInfinity, 1e-40f, -0.0f, 0.0f, 100.0f, -100.0f};
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.data<T>()[i] = T(i % 37 == 36 ? special[(i / 37) % 8] : normal(random));
  }
  return tensor;
}

Tensor random_input(const ValueType& type, const Shape& shape, uint32_t seed) {
  switch (type.tensor().dtype) {
    case DType::float64: return random_numbers<double>(shape, seed);
    case DType::float16: return random_numbers<Float16>(shape, seed);
    case DType::bfloat16: return random_numbers<BFloat16>(shape, seed);
    case DType::boolean: {
      Tensor tensor(DType::boolean, shape);
      for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<bool>()[i] = (i * 7 + seed) % 3 == 0;
      return tensor;
    }
    default: return random_numbers<float>(shape, seed);
  }
}

/// The elements, every NaN by the same bytes.
std::vector<std::string> bytes_of(const Tensor& tensor) {
  std::vector<std::string> all;
  const size_t size = tensor.elements() == 0 ? 0 : tensor.bytes() / static_cast<size_t>(tensor.elements());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const bool is_nan = tensor.dtype() != DType::boolean && std::isnan(element_as_double(tensor.view(), i));
    const char* from = static_cast<const char*>(tensor.view().raw()) + static_cast<size_t>(i) * size;
    all.push_back(is_nan ? "NaN" : std::string(from, size));
  }
  return all;
}

void check_case(const ChainCase& c, const char* type, int threads) {
  SCOPED_TRACE(std::string(c.purpose) + ", " + type + ", " + std::to_string(threads) + " threads");
  SessionOptions options, apart;
  options.intra_op_threads = apart.intra_op_threads = threads;
  apart.disabled_passes = {"fuse_elementwise"};
  const std::string text = with_type(kHead + c.text, type);
  auto joined = make_session(text, options), plain = make_session(text, apart);
  EXPECT_EQ(joined->statistics().nodes, c.steps);
  EXPECT_GT(plain->statistics().nodes, c.steps);
  for (const std::vector<Shape>& shapes : c.sizes) {
    std::vector<std::pair<const char*, Value>> inputs;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const ValueInfo& input = joined->inputs()[i];
      inputs.emplace_back(input.name.c_str(), random_input(input.type, shapes[i], static_cast<uint32_t>(i + 1)));
    }
    const auto found = run(*joined, inputs, {"y"}), expected = run(*plain, inputs, {"y"});
    ASSERT_EQ(found[0].tensor().shape(), expected[0].tensor().shape());
    EXPECT_EQ(bytes_of(found[0].tensor()), bytes_of(expected[0].tensor()));
  }
}

TEST(FusedElementwise, GivesTheBitsOfTheOperatorsOneByOne) {
  const std::vector<ChainCase> cases = {
      {"a scale a channel",
       "g (TYPE[N, C, H] x, TYPE[C, 1] s, TYPE[N, C, H] z) => (TYPE[N, C, H] y)\n{ a = Sigmoid (x)\n b = Mul (a, s)\n y = Add (b, z) }",
       {{{2, 5, 300}, {5, 1}, {2, 5, 300}},
        {{1, 1, 1}, {1, 1}, {1, 1, 1}},
        {{3, 2, 5000}, {2, 1}, {3, 2, 5000}},
        {{0, 2, 3}, {2, 1}, {0, 2, 3}}}},
      {"numbers for short rows, and for rows of rows",
       "g (TYPE[N, C, H, W] x, TYPE[C, 1, 1] s, bool[1, C, 1, 1] c, TYPE[N, 1, 1, 1] z) => (TYPE[N, C, H, W] y)\n"
       "{ a = Mul (x, s)\n b = Where (c, a, x)\n y = Add (b, z) }",
       {{{2, 40, 7, 7}, {40, 1, 1}, {1, 40, 1, 1}, {2, 1, 1, 1}},
        {{3, 300, 3, 1}, {300, 1, 1}, {1, 300, 1, 1}, {3, 1, 1, 1}},
        {{2, 33, 13, 17}, {33, 1, 1}, {1, 33, 1, 1}, {2, 1, 1, 1}},
        {{2, 5, 16, 17}, {5, 1, 1}, {1, 5, 1, 1}, {2, 1, 1, 1}},
        {{1, 9, 1, 1}, {9, 1, 1}, {1, 9, 1, 1}, {1, 1, 1, 1}}}},
      {"a number a column and one a row",
       "g (TYPE[N, K] x, TYPE[K] s, TYPE[N, 1] z) => (TYPE[N, K] y)\n{ a = Tanh (x)\n b = Div (a, s)\n y = Sub (z, b) }",
       {{{9, 768}, {768}, {9, 1}},
        {{21, 2600}, {2600}, {21, 1}},
        {{9, 33000}, {33000}, {9, 1}},
        {{400, 3}, {3}, {400, 1}},
        {{3, 2500}, {2500}, {3, 1}},
        {{70, 96}, {96}, {70, 1}}}},
      {"both ends of the dimensions",
       "g (TYPE[A, B, C] x, TYPE[A, 1, C] s, TYPE[1, B, 1] z) => (TYPE[A, B, C] y)\n{ a = Mul (x, s)\n b = Max (a, z)\n y = Min (x, b) }",
       {{{4, 5, 6}, {4, 1, 6}, {1, 5, 1}}, {{2, 3, 1030}, {2, 1, 1030}, {1, 3, 1}}, {{1, 40, 40}, {1, 1, 40}, {1, 40, 1}}}},
      {"constants, attributes, a value taken twice",
       "g (TYPE[N, K] x) => (TYPE[N, K] y)\n< TYPE[] two = {2}, TYPE[1] third = {0.25} >\n"
       "{ a = Mul (x, third)\n b = LeakyRelu <alpha = 0.3> (a)\n c = Pow (a, two)\n d = HardSigmoid (c)\n e = Sub (d, b)\n y = Elu (e) }",
       {{{5, 333}}, {{1, 4097}}}},
      {"every function of one number",
       "g (TYPE[N, K] x) => (TYPE[N, K] y)\n{ a = Exp (x)\n b = Log (a)\n c = Reciprocal (b)\n d = Gelu (c)\n e = Gelu <approximate = "
       "\"tanh\"> (d)\n"
       "f = Mish (e)\n h = HardSwish (f)\n i = Selu (h)\n j = Softsign (i)\n k = Celu (j)\n l = Softplus (k)\n m = ThresholdedRelu (l)\n n "
       "= Sqrt (m)\n"
       "o = Erf (n)\n p = Neg (o)\n q = Abs (p)\n r = Sin (q)\n s = Cos (r)\n t = Floor (x)\n u = Ceil (t)\n v = Round (u)\n w = Sign (v)\n"
       "z = Sum (s, w, x)\n y = Relu (z) }",
       {{{5, 333}}}},
      {"comparisons and choices",
       "g (bool[N, 1] c, TYPE[N, K] x, TYPE[N, K] z, TYPE[K] s) => (TYPE[N, K] y)\n"
       "{ g1 = Greater (x, z)\n a = Where (g1, s, z)\n b = Where (c, a, x)\n l = LessOrEqual (b, s)\n y = Where (l, b, z) }",
       {{{20, 1}, {20, 33}, {20, 33}, {33}}, {{3, 1}, {3, 1500}, {3, 1500}, {1500}}, {{1, 1}, {1, 1}, {1, 1}, {1}}}},
      {"operands in both orders, values taken again",
       "g (TYPE[N, K] x, TYPE[K] s, TYPE[N, 1] z) => (TYPE[N, K] y)\n"
       "{ a = Sub (x, s)\n b = Sub (s, a)\n c = Div (b, z)\n d = Div (z, c)\n e = Max (d, x)\n f = Max (z, e)\n h = Min (f, s)\n"
       "i = Min (x, h)\n j = Mul (i, i)\n k = Add (j, j)\n l = LeakyRelu <alpha = 0.2> (k)\n m = Sum (l, b)\n y = Mul (m, e) }",
       {{{4, 700}, {700}, {4, 1}}, {{7, 40}, {40}, {7, 1}}, {{1, 5000}, {5000}, {1, 1}}}},
      {"each choice by each comparison",
       "g (TYPE[N, K] x, TYPE[K] s, TYPE[N, 1] z) => (TYPE[N, K] y)\n"
       "{ a = Abs (x)\n c = GreaterOrEqual (a, s)\n b = Where (c, a, z)\n d = Equal (b, z)\n e = Where (d, x, b)\n f = Greater (s, e)\n"
       "h = Neg (e)\n i = Where (f, h, s)\n j = Less (i, x)\n k = Reciprocal (i)\n l = Where (j, s, k)\n m = LessOrEqual (z, l)\n"
       "y = Where (m, l, l) }",
       {{{4, 700}, {700}, {4, 1}}, {{7, 40}, {40}, {7, 1}}, {{1, 5000}, {5000}, {1, 1}}}},
      {"comparisons of inputs before what they choose from",
       "g (TYPE[N, K] x, TYPE[K] s, TYPE[N, 1] z) => (TYPE[N, K] y)\n"
       "{ g1 = Greater (x, s)\n a = Mul (x, z)\n b = Where (g1, a, s)\n g2 = LessOrEqual (x, z)\n c = Neg (b)\n d = Where (g2, s, c)\n"
       "g3 = Equal (x, x)\n e = Abs (d)\n f = Where (g3, e, z)\n g4 = GreaterOrEqual (s, x)\n h = Neg (f)\n i = Where (g4, x, h)\n"
       "g5 = Less (z, x)\n j = Abs (i)\n k = Where (g5, j, x)\n g6 = Equal (x, s)\n l = Neg (k)\n m = Where (g6, s, z)\n n = Add (l, m)\n"
       "g7 = Greater (x, z)\n o = Neg (n)\n p = Where (g7, o, z)\n y = Where (g7, s, p) }",
       {{{4, 700}, {700}, {4, 1}}, {{7, 40}, {40}, {7, 1}}, {{1, 5000}, {5000}, {1, 1}}}},
      {"a rotary embedding",
       "g (TYPE[N, H, S, 64] x, TYPE[N, 1, S, 64] c, TYPE[N, 1, S, 64] s) => (TYPE[N, H, S, 64] y)\n{ first, second = Split <axis = -1, "
       "num_outputs "
       "= 2> (x)\n n = Neg (second)\n r = Concat <axis = -1> (n, first)\n a = Mul (x, c)\n b = Mul (r, s)\n y = Add (a, b) }",
       {{{1, 3, 50, 64}, {1, 1, 50, 64}, {1, 1, 50, 64}},
        {{2, 2, 1, 64}, {2, 1, 1, 64}, {2, 1, 1, 64}},
        {{0, 2, 1, 64}, {0, 1, 1, 64}, {0, 1, 1, 64}}}},
  };
  for (const char* type : {"float", "double", "float16", "bfloat16"}) {
    for (const ChainCase& c : cases) check_case(c, type, 1);
  }
  for (const ChainCase& c : cases) check_case(c, "float", 2);
}

TEST(FusedElementwise, SeveralResultsHaveTheBitsOfTheOperators) {
  // A step of a recurrence, whose states are taken twice; results before and behind a comparison; one that is read when it is written.
  const std::string step =
      "g (TYPE[3, 700] m, TYPE[3, 700] n, TYPE[3, 700] d, TYPE[3, 700] k, TYPE[3, 1] w, TYPE[700] u) => "
      "(TYPE[3, 700] y, TYPE[3, 700] p, TYPE[3, 700] q, TYPE[3, 700] r)\n"
      "{ a = Add (k, u)\n b = Max (m, a)\n r = Sub (b, w)\n c = Sub (m, b)\n e = Exp (c)\n f = Sub (a, b)\n h = Exp (f)\n i = Mul (e, n)\n"
      "p = Add (i, h)\n j = Mul (e, d)\n q = Add (j, h)\n y = Div (p, q) }";
  const std::string choice =
      "g (TYPE[2, 333] x, TYPE[1, 333] z) => (TYPE[2, 333] y, TYPE[2, 333] p, TYPE[2, 333] q, TYPE[2, 333] r)\n"
      "{ p = Neg (x)\n c = Less (p, z)\n q = Where (c, p, z)\n r = Cos (q)\n t = Mul (r, q)\n o = Less (t, z)\n y = Where (o, t, r) }";
  const auto shapes_of = [](const Session& session) {
    std::vector<Shape> shapes;
    for (const ValueInfo& input : session.inputs()) shapes.push_back(input.type.tensor().shape());
    return shapes;
  };
  for (const char* type : {"float", "double", "float16", "bfloat16"}) {
    for (const std::string& text : {step, choice}) {
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(type + std::string(threads == 1 ? "" : ", 2 threads, ") + text);
        SessionOptions options, apart;
        options.intra_op_threads = apart.intra_op_threads = threads;
        apart.disabled_passes = {"fuse_elementwise"};
        auto joined = make_session(with_type(kHead + text, type), options), plain = make_session(with_type(kHead + text, type), apart);
        EXPECT_EQ(joined->statistics().nodes, 1);
        EXPECT_GT(plain->statistics().nodes, 6);
        std::vector<std::pair<const char*, Value>> inputs;
        const std::vector<Shape> shapes = shapes_of(*joined);
        for (size_t i = 0; i < shapes.size(); ++i) {
          const ValueInfo& input = joined->inputs()[i];
          inputs.emplace_back(input.name.c_str(), random_input(input.type, shapes[i], static_cast<uint32_t>(i + 1)));
        }
        const std::vector<const char*> names{"y", "p", "q", "r"};
        const auto found = run(*joined, inputs, names), expected = run(*plain, inputs, names);
        for (size_t i = 0; i < names.size(); ++i) {
          ASSERT_EQ(found[i].tensor().shape(), expected[i].tensor().shape());
          EXPECT_EQ(bytes_of(found[i].tensor()), bytes_of(expected[i].tensor())) << names[i];
        }
      }
    }
  }
}

TEST(FusedElementwise, ABooleanMayBeTheResult) {
  check_case({"a comparison last",
              "g (TYPE[N, K] x, TYPE[1, 1] z) => (bool[N, K] y)\n{ a = Abs (x)\n b = Mul (a, z)\n y = Greater (b, x) }",
              {{{1, 4}, {1, 1}}, {{7, 900}, {1, 1}}}},
             "float", 1);
}

TEST(FusedElementwise, ClipsNarrowTypes) {
  for (const char* type : {"float", "float16", "bfloat16"}) {
    check_case({"bounds in and out of order",
                "g (TYPE[N, K] x) => (TYPE[N, K] y)\n< TYPE[] low = {-1.5}, TYPE[] high = {2} >\n"
                "{ a = Clip (x, low, high)\n b = Neg (a)\n c = Clip (b, high, low)\n d = Add (c, x)\n y = Clip (d, _, low) }",
                {{{3, 700}}}},
               type, 1);
  }
}

}  // namespace
}  // namespace rh::test
