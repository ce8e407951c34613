#include "compute/elementwise/register_chain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "compute/elementwise/vector_math.h"
#include "compute/support.h"

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
    std::vector<float> sum(x.size()), quotient(x.size()), chosen(x.size());
    binary(Binary::add, x.data(), z.data(), sum.data(), count);
    scalar_binary(Binary::div, number, sum.data(), quotient.data(), count);
    for (size_t i = 0; i < x.size(); ++i) chosen[i] = z[i] < quotient[i] ? sum[i] : x[i];
    unary(Unary::square, chosen.data(), chosen.data(), count);
    binary(Binary::sub, chosen.data(), sum.data(), chosen.data(), count);
    scalar_binary(Binary::max, number, chosen.data(), chosen.data(), count);
    for (const bool far : {false, true}) {
      std::vector<float> y = x;
      y.push_back(77);
      const ChainInput inputs[] = {{y.data(), 1}, {z.data(), 1}, {&number, 0}};
      run_chain(steps, inputs, y.data(), count, far);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], std::clamp(chosen[i], -3.0f, 30.0f)) << i << " of " << count << ", " << far;
      ASSERT_EQ(y.back(), 77) << "what lies behind the results stays";
    }
  }
}

TEST_P(RegisterChainTest, functions_give_the_bits_of_their_loops) {
  const std::pair<ChainOp, Unary> functions[] = {
      {ChainOp::exp, Unary::exp}, {ChainOp::log, Unary::log},   {ChainOp::tanh, Unary::tanh}, {ChainOp::sigmoid, Unary::sigmoid},
      {ChainOp::erf, Unary::erf}, {ChainOp::silu, Unary::silu}, {ChainOp::sin, Unary::sin},   {ChainOp::cos, Unary::cos}};
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = random_values(300, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= i % 3 == 0 ? 1.0f : i % 3 == 1 ? 20.0f : 120.0f;
  const float special[] = {0.0f, -0.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0x1p-140f, 88.8f, -104.0f};
  std::ranges::copy(special, x.begin() + 5);
  std::ranges::copy(special, x.end() - 9);
  for (const auto& [op, function] : functions) {
    std::vector<float> y(x.size()), expected(x.size());
    const ChainInput inputs[] = {{x.data(), 1}};
    const ChainStep steps[] = {{ChainOp::load, 0}, {op}};
    run_chain(steps, inputs, y.data(), static_cast<int64_t>(x.size()));
    unary(function, x.data(), expected.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(expected[i])) << static_cast<int>(function) << " of " << x[i];
    }
  }
}

// Small ones among others make whole blocks divide.
TEST_P(RegisterChainTest, divides_by_a_number_to_the_bits_of_division) {
  for (const float number : {6.0f, -3.0f, 0.25f, 0.1f, 0.0f}) {
    std::vector<float> x = random_values(1000, 1, -1e4f, 1e4f);
    for (size_t i = 0; i < x.size(); i += 77) x[i] = i % 2 == 0 ? 0.0f : 0x1.234568p-110f;
    std::vector<float> y(x.size());
    const ChainInput inputs[] = {{x.data(), 1}, {&number, 0}};
    const ChainStep steps[] = {{ChainOp::load, 0}, {ChainOp::div, 1}, {ChainOp::sub, 1}};
    run_chain(steps, inputs, y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = x[i] / number - number;
      if (std::isnan(expected)) continue;
      ASSERT_EQ(y[i], expected) << x[i] << " / " << number;
    }
  }
}

TEST_P(RegisterChainTest, a_number_for_all_gives_the_bits_of_a_row_of_it) {
  const uint8_t kept = kMaxChainInputs;
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = random_values(300, 1);
  const float special[] = {0.0f, -0.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0.75f, 0x1p-120f};
  std::ranges::copy(special, x.begin() + 5);
  for (int op = 0; op <= static_cast<int>(ChainOp::more_equal); ++op) {
    if (op == static_cast<int>(ChainOp::keep) || op == static_cast<int>(ChainOp::square)) continue;
    const bool compares = op >= static_cast<int>(ChainOp::equal);
    for (const float number : {0.75f, -6.0f, 0.0f}) {
      const std::vector<float> row(x.size(), number);
      std::vector<ChainStep> steps = {{ChainOp::load, 0}, {static_cast<ChainOp>(op), 1}};
      if (compares) steps.insert(steps.end(), {{ChainOp::keep, kept}, {ChainOp::load, 0}, {ChainOp::choose_other, kept, 2}});
      std::vector<float> y(x.size()), expected(x.size());
      const ChainInput of_row[] = {{x.data(), 1}, {row.data(), 1}, {row.data(), 1}};
      const ChainInput of_number[] = {{x.data(), 1}, {&number, 0}, {&number, 0}};
      run_chain(steps, of_row, expected.data(), static_cast<int64_t>(x.size()));
      run_chain(steps, of_number, y.data(), static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(expected[i]) && std::isnan(y[i])) continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(expected[i])) << op << " of " << x[i] << " and " << number;
      }
    }
  }
}

RH_EVERY_ISA(RegisterChainTest);

}  // namespace
}  // namespace rh::compute
