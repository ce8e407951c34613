// roundhouse.precision = strict: the bits of a result do not depend on the number of threads.
#include <random>

#include "session/run_helpers.h"

namespace rh::test {
namespace {

struct StrictCase {
  const char* what;
  const char* graph;  ///< of inputs x, y and z, each float, and the output r
  Shape x, y, z;
};

const StrictCase kCases[] = {
    {"attention of one head",
     R"(main (float[1,1,200,24] x, float[1,1,200,24] y, float[1,1,200,24] z) => (float[1,1,200,24] r)
{ t = Transpose <perm = [0, 1, 3, 2]> (y)  s = MatMul (x, t)  w = Softmax <axis = -1> (s)  r = MatMul (w, z) })",
     {1, 1, 200, 24},
     {1, 1, 200, 24},
     {1, 1, 200, 24}},
    {"attention of three heads, few queries",
     R"(main (float[1,3,40,5] x, float[1,3,40,5] y, float[1,3,40,5] z) => (float[1,3,40,5] r)
{ t = Transpose <perm = [0, 1, 3, 2]> (y)  s = MatMul (x, t)  w = Softmax <axis = -1> (s)  r = MatMul (w, z) })",
     {1, 3, 40, 5},
     {1, 3, 40, 5},
     {1, 3, 40, 5}},
    {"two blocks of many columns",
     R"(main (float[2,64,33,112] x, float[1] y, float[1] z) => (float[2,1,33,112] r)
< int64[1] a = {1} >
{ r = ReduceMean (x, a) })",
     {2, 64, 33, 112},
     {1},
     {1}},
    {"one long row",
     R"(main (float[200000] x, float[1] y, float[1] z) => (float[1] r)
{ r = ReduceL2 (x) })",
     {200000},
     {1},
     {1}},
    {"one row by a matrix",
     R"(main (float[1,2048] x, float[2048,300] y, float[1] z) => (float[1,300] r)
{ r = MatMul (x, y) })",
     {1, 2048},
     {2048, 300},
     {1}},
    {"a convolution, its activation and a sum",
     R"(main (float[1,24,19,21] x, float[40,24,3,3] y, float[1,40,19,21] z) => (float[1,40,19,21] r)
{ c = Conv <pads = [1, 1, 1, 1]> (x, y)  g = Sigmoid (c)  s = Mul (c, g)  r = Add (s, z) })",
     {1, 24, 19, 21},
     {40, 24, 3, 3},
     {1, 40, 19, 21}},
};

Tensor random_tensor(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Tensor tensor(DType::float32, shape);
  std::generate_n(tensor.data<float>(), tensor.elements(), [&] { return normal(random); });
  return tensor;
}

std::vector<float> result(const StrictCase& c, int threads) {
  SessionOptions options;
  options.config["roundhouse.precision"] = "strict";
  options.config["session.intra_op_num_threads"] = std::to_string(threads);
  const auto session = make_session(std::string(R"(<opset_import: ["" : 18]> )") + c.graph, options);
  return elements(run(*session, {{"x", random_tensor(c.x, 1)}, {"y", random_tensor(c.y, 2)}, {"z", random_tensor(c.z, 3)}}, {"r"})[0]);
}

TEST(StrictPrecision, GivesTheSameBitsWhateverTheThreads) {
  for (const StrictCase& c : kCases) {
    const std::vector<float> one = result(c, 1);
    for (const int threads : {2, 3, 4, 7}) EXPECT_EQ(result(c, threads), one) << c.what << ", " << threads << " threads";
  }
}

}  // namespace
}  // namespace rh::test
