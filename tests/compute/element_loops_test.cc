#include <limits>

#include "compute/elementwise/bitwise.h"
#include "compute/elementwise/comparison.h"
#include "compute/support.h"
#include "tensor/dispatch.h"

namespace rh::compute {
namespace {

constexpr int64_t kCounts[] = {0, 1, 3, 17, 63, 64, 65, 127, 128, 200};

class ElementLoops : public EveryIsa {};
RH_EVERY_ISA(ElementLoops);

/// Numbers that meet often, with the ends of the type, and NaN, infinities and both zeros among floats.
template <typename T>
std::vector<T> numbers(int64_t count, uint32_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> special{Limits::lowest(), Limits::max(), T(0), T(1), T(2), T(3)};
  if constexpr (!std::is_integral_v<T>) {
    for (const T more : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T(-0.0), Limits::denorm_min()})
      special.push_back(more);
  }
  std::mt19937 engine(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = special[engine() % special.size()];
  return values;
}

template <typename T>
bool holds(Comparison kind, T a, T b) {
  switch (kind) {
    case Comparison::equal: return a == b;
    case Comparison::less: return a < b;
    case Comparison::less_equal: return a <= b;
    default: return a != a || b != b;
  }
}

template <typename T>
void compares_as_one_by_one() {
  for (const int64_t count : kCounts) {
    const std::vector<T> a = numbers<T>(count + 1, 1), b = numbers<T>(count + 1, 2);
    for (const Comparison kind : {Comparison::equal, Comparison::less, Comparison::less_equal, Comparison::unordered}) {
      for (const auto& [step_a, step_b] : {std::pair(1, 1), std::pair(0, 1), std::pair(1, 0)}) {
        std::vector<uint8_t> y(static_cast<size_t>(count + 1), 9);
        // From the second element on, so that vectors do not lie at multiples of their size.
        compare(kind, dtype_of<T>, a.data() + 1, step_a, b.data() + 1, step_b, reinterpret_cast<bool*>(y.data()), count);
        for (int64_t i = 0; i < count; ++i) {
          const T x = a[static_cast<size_t>(1 + i * step_a)], z = b[static_cast<size_t>(1 + i * step_b)];
          ASSERT_EQ(y[static_cast<size_t>(i)], holds(kind, x, z) ? 1 : 0)
              << to_string(dtype_of<T>) << ", comparison " << static_cast<int>(kind) << " of " << +x << " and " << +z << ", " << count;
        }
        ASSERT_EQ(y.back(), 9);
      }
    }
  }
}

TEST_P(ElementLoops, CompareAsOneByOne) {
  compares_as_one_by_one<int8_t>();
  compares_as_one_by_one<uint8_t>();
  compares_as_one_by_one<int16_t>();
  compares_as_one_by_one<uint16_t>();
  compares_as_one_by_one<int32_t>();
  compares_as_one_by_one<uint32_t>();
  compares_as_one_by_one<int64_t>();
  compares_as_one_by_one<uint64_t>();
  compares_as_one_by_one<float>();
  compares_as_one_by_one<double>();
}

template <typename T>
void finds_either() {
  using Limits = std::numeric_limits<T>;
  for (const int64_t count : kCounts) {
    const std::vector<T> x = numbers<T>(count, 3);
    for (const auto& [first, second] :
         {std::pair(Limits::infinity(), -Limits::infinity()), std::pair(Limits::infinity(), Limits::quiet_NaN()),
          std::pair(Limits::quiet_NaN(), -Limits::infinity()), std::pair(T(0), T(3))}) {
      std::vector<uint8_t> y(x.size() + 1, 9);
      is_either(x.data(), first, second, reinterpret_cast<bool*>(y.data()), count);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] == first || x[i] == second ? 1 : 0) << x[i] << ", " << count;
      ASSERT_EQ(y.back(), 9);
    }
  }
}

TEST_P(ElementLoops, FindEitherOfTwoNumbers) {
  finds_either<float>();
  finds_either<double>();
}

template <typename T>
T expected(Bitwise op, T a, T b) {
  const unsigned bits = 8 * sizeof(T);
  switch (op) {
    case Bitwise::bit_and: return a & b;
    case Bitwise::bit_or: return a | b;
    case Bitwise::bit_xor: return a ^ b;
    case Bitwise::shift_left: return b >= bits ? T(0) : static_cast<T>(uint64_t{a} << b);
    default: return b >= bits ? T(0) : static_cast<T>(uint64_t{a} >> b);
  }
}

template <typename T>
void combines_bits() {
  std::mt19937_64 engine(4);
  for (const int64_t count : kCounts) {
    std::vector<T> a(static_cast<size_t>(count + 1)), b(a.size());
    for (T& x : a) x = static_cast<T>(engine());
    for (T& x : b) x = engine() % 4 ? static_cast<T>(engine() % (8 * sizeof(T) + 2)) : static_cast<T>(engine());
    for (const Bitwise op : {Bitwise::bit_and, Bitwise::bit_or, Bitwise::bit_xor, Bitwise::shift_left, Bitwise::shift_right}) {
      for (const auto& [step_a, step_b] : {std::pair(1, 1), std::pair(0, 1), std::pair(1, 0)}) {
        std::vector<T> in_place = a, other(a.size(), T(9));
        bitwise(op, sizeof(T), a.data(), step_a, b.data(), step_b, other.data(), count);
        if (step_a == 1) bitwise(op, sizeof(T), in_place.data(), 1, b.data(), step_b, in_place.data(), count);
        for (int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<size_t>(i);
          const T want = expected(op, a[at * static_cast<size_t>(step_a)], b[at * static_cast<size_t>(step_b)]);
          ASSERT_EQ(other[at], want) << "operation " << static_cast<int>(op) << " of " << sizeof(T) << " bytes, " << i << " of " << count;
          if (step_a == 1) {
            ASSERT_EQ(in_place[at], want) << i << " of " << count;
          }
        }
        ASSERT_EQ(other.back(), T(9));
      }
    }
  }
}

TEST_P(ElementLoops, CombineBits) {
  combines_bits<uint8_t>();
  combines_bits<uint16_t>();
  combines_bits<uint32_t>();
  combines_bits<uint64_t>();
}

TEST_P(ElementLoops, ComplementBytes) {
  for (const int64_t count : kCounts) {
    std::vector<uint8_t> x(static_cast<size_t>(count + 1));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 37);
    std::vector<uint8_t> y = x;
    complement(y.data(), y.data(), count);
    for (size_t i = 0; i + 1 < x.size(); ++i) ASSERT_EQ(y[i], static_cast<uint8_t>(~x[i]));
    ASSERT_EQ(y.back(), x.back());
  }
}

}  // namespace
}  // namespace rh::compute
