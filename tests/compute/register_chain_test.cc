#include "compute/register_chain.h"

#include <algorithm>

#include "compute/support.h"
#include "compute/vector_math.h"

namespace rh::compute {
namespace {

class RegisterChainTest : public EveryIsa {};

// Counts around whole blocks of every instruction set; the result lies in an input, and a value kept is read twice.
TEST_P(RegisterChainTest, gives_the_bits_of_rows_one_by_one) {
  const uint8_t kept = kMaxChainInputs;
  const std::vector<ChainStep> steps = {
      {ChainOp::load, 0},         {ChainOp::add, 1}, {ChainOp::keep, kept}, {ChainOp::div_into, 2}, {ChainOp::more, 1},
      {ChainOp::choose, kept, 0}, {ChainOp::square}, {ChainOp::sub, kept},  {ChainOp::max_from, 2}, {ChainOp::clip, 0, 0, -3, 30}};
  for (const int64_t count : {0, 1, 3, 31, 32, 33, 64, 127, 128, 129, 300}) {
    const std::vector<float> x = random_values(count, 1), z = random_values(count, 2);
    const float number = 0.25f;
    std::vector<float> y = x, sum(x.size()), quotient(x.size()), chosen(x.size());
    y.push_back(77);
    binary(Binary::add, x.data(), z.data(), sum.data(), count);
    scalar_binary(Binary::div, number, sum.data(), quotient.data(), count);
    for (size_t i = 0; i < x.size(); ++i) chosen[i] = z[i] < quotient[i] ? sum[i] : x[i];
    unary(Unary::square, chosen.data(), chosen.data(), count);
    binary(Binary::sub, chosen.data(), sum.data(), chosen.data(), count);
    scalar_binary(Binary::max, number, chosen.data(), chosen.data(), count);
    const ChainInput inputs[] = {{y.data(), 1}, {z.data(), 1}, {&number, 0}};
    run_chain(steps, inputs, y.data(), count);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], std::clamp(chosen[i], -3.0f, 30.0f)) << i << " of " << count;
    ASSERT_EQ(y.back(), 77) << "what lies behind the results stays";
  }
}

RH_EVERY_ISA(RegisterChainTest);

}  // namespace
}  // namespace rh::compute
