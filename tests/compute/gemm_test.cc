#include "compute/gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "base/cpu_features.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/gemm/gemm_reference.h"
#include "compute/gemm_cases.h"

namespace rh::compute {
namespace {

std::vector<GemmCase> cases() {
  std::vector<GemmCase> all;
  for (const int64_t m : {1, 2, 5, 14, 29})
    for (const int64_t n : {1, 16, 17, 33, 100})
      for (const int64_t k : {0, 1, 17, 257}) all.push_back({m, n, k});
  for (const int64_t m : {1, 2, 4, 31})
    for (const int64_t n : {3, 8, 45})
      for (const int64_t k : {5, 300})
        for (const int mode : {1, 2, 3}) {
          all.push_back({m, n, k, (mode & 1) != 0, (mode & 2) != 0, 0.5, 0, BiasKind::per_column, false, 3});
          all.push_back({m, n, k, (mode & 1) != 0, (mode & 2) != 0, 1, 1, BiasKind::per_row, true, 5});
          all.push_back({m, n, k, false, (mode & 2) != 0, -2, 0.25, BiasKind::none, true, 0});
        }
  for (const int64_t n : {1, 2, 3, 4, 5, 8, 12, 13})  // columns one by one, and one more
    for (const int64_t k : {40, 300})
      for (const bool transpose_b : {false, true}) {
        all.push_back({67, n, k, false, transpose_b, 1, 0, BiasKind::per_column, false, 0});
        all.push_back({30, n, k, false, transpose_b, 0.5, 1, BiasKind::per_row, true, 3});
      }
  for (const int64_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})  // few products a sum
    for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 70}) {
      all.push_back({k <= 8 ? 19 : 35, n, k, false, false, 1, 0, BiasKind::per_column, false, n % 2});
      all.push_back({200, n, k, n % 3 == 0, k % 2 == 0});
    }
  for (const int64_t k : {1, 3, 8})
    for (const int64_t n : {3, 18, 40}) {
      all.push_back({61, n, k, k == 3, n == 18, 0.5, 0, BiasKind::per_column, false, 3});
      all.push_back({61, n, k, k == 8, n == 3, 1, 1, BiasKind::per_row, true, 5});
      all.push_back({61, n, k, false, n == 40, -2, 0.25, BiasKind::none, true, 0});
      all.push_back({6000, n, k, false, false, 1, 0, BiasKind::per_row, false, 0});
    }
  all.push_back({50, 1100, 5, false, false, 1, 0, BiasKind::per_column, false, 0});
  all.push_back({50, 1025, 6, false, true, 1, 1, BiasKind::none, true, 0});
  all.push_back({1, 2100, 1600, false, false, 1, 0, BiasKind::per_column, false, 3});  // more than one part of either
  all.push_back({1, 2100, 30, true, false, 0.5, 1, BiasKind::per_row, true, 0});
  all.push_back({1, 300, 3200, false, false, 1, 0, BiasKind::none, false, 0});  // threads share rows
  all.push_back({1, 290, 6200, true, false, 0.5, 1, BiasKind::per_column, true, 3});
  all.push_back({260, 300, 520, false, false, 1, 0, BiasKind::per_column, true, 0});
  all.push_back({300, 520, 260, true, true, 1, 1, BiasKind::none, false, 0});
  all.push_back({40, 130, 1024, false, false, 1, 0, BiasKind::per_row, false, 0});
  all.push_back({19, 129, 1000, false, true, 0.5, 1, BiasKind::per_column, true, 24});
  all.push_back({9, 150, 3072, false, false, 1, 0, BiasKind::none, false, 0});
  all.push_back({1, 1000, 700, false, true, 1, 0, BiasKind::per_column, false, 0});
  all.push_back({1, 1000, 700, true, false, 1, 0, BiasKind::per_column, false, 2});
  return all;
}

class GemmTest : public EveryIsa {};

template <typename T>
void run_cases(int64_t first = 0, int64_t step = 1) {
  const std::vector<GemmCase> all = cases();
  for (const GemmCase& t : test::swept(all)) {
    if ((&t - all.data()) % step != first) continue;
    const GemmData<T> data(t);
    std::vector<T> c = data.c, packed_c = data.c, serial_c = data.c;
    gemm(data.args, data.a.data(), data.b.data(), c.data(), three_threads());
    check_product(data, c, t);
    gemm(data.args, data.a.data(), data.b.data(), serial_c.data(), Parallel());
    ASSERT_EQ(c, serial_c) << t << ": the bits depend on the number of threads";
    const PackedMatrix<T> packed(data.b.data(), t.k, t.n, t.transpose_b, data.args.ldb);
    gemm(data.args, data.a.data(), packed, packed_c.data(), three_threads());
    check_product(data, packed_c, t);
    if (!t.transpose_a) {
      const PackedMatrix<T> columns(data.b.data(), t.k, t.n, t.transpose_b, data.args.ldb, {.dots = true});
      std::vector<T> columns_c = data.c;
      gemm(data.args, data.a.data(), columns, columns_c.data(), three_threads());
      check_product(data, columns_c, t);
    }
    GemmArgs<T> backwards = data.args;
    backwards.backwards = true;
    std::vector<T> backwards_c = data.c;
    gemm(backwards, data.a.data(), packed, backwards_c.data(), Parallel());
    ASSERT_EQ(std::memcmp(backwards_c.data(), packed_c.data(), packed_c.size() * sizeof(T)), 0) << t << ": backwards";
    GemmArgs<T> repeated = data.args;
    repeated.repeated = true;
    std::vector<T> repeated_c = data.c;
    gemm(repeated, data.a.data(), packed, repeated_c.data(), three_threads());
    ASSERT_EQ(std::memcmp(repeated_c.data(), packed_c.data(), packed_c.size() * sizeof(T)), 0) << t << ": repeated";
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(GemmTest, float_within_the_bound_of_a_float_sum) { run_cases<float>(); }
TEST_P(GemmTest, double_within_the_bound_of_a_double_sum) { run_cases<double>(); }

TEST_P(GemmTest, halves_within_the_bound_of_a_float_sum_rounded_once) {
  run_cases<Float16>(0, 2);
  run_cases<BFloat16>(1, 2);
}

/// Floats times halves: as if the halves were floats.
template <typename S>
void check_narrow_right() {
  const std::vector<GemmCase> all = cases();
  for (const GemmCase& t : test::swept(all)) {
    GemmData<float> data(t);
    std::vector<S> narrow;
    for (float& value : data.b) {
      narrow.push_back(S(value));
      value = static_cast<float>(narrow.back());
    }
    const PackedMatrix<S> packed(narrow.data(), t.k, t.n, t.transpose_b, data.args.ldb);
    std::vector<float> c = data.c, serial = data.c;
    gemm_narrow_right(data.args, data.a.data(), packed, c.data(), three_threads());
    check_product(data, c, t);
    gemm_narrow_right(data.args, data.a.data(), packed, serial.data(), Parallel());
    ASSERT_EQ(c, serial) << t << ": the bits depend on the number of threads";
  }
}

TEST_P(GemmTest, floats_by_halves_within_the_bound_of_a_float_sum) {
  check_narrow_right<Float16>();
  check_narrow_right<BFloat16>();
}

TEST_P(GemmTest, activations_come_last) {
  const struct {
    Activation activation;
    double (*expected)(double);
  } rows[] = {
      {{ActivationKind::relu}, [](double x) { return x < 0 ? 0 : x; }},
      {{ActivationKind::clip, -0.5f, 1}, [](double x) { return x < -0.5 ? -0.5
                                                               : x > 1  ? 1
                                                                        : x; }},
      {{ActivationKind::sigmoid}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {{ActivationKind::hard_swish}, [](double x) { return x * std::min(1.0, std::max(0.0, x / 6 + 0.5)); }},
      {{ActivationKind::hard_swish_affine, 0.5f, -0.25f},
       [](double x) { return 0.5 * x * std::min(1.0, std::max(0.0, x / 6 + 0.5)) - 0.25; }},
      {{ActivationKind::leaky_relu, 0.1f}, [](double x) { return x < 0 ? 0.1f * x : x; }},
      {{ActivationKind::hard_sigmoid, 0.25f, 0.5f}, [](double x) { return std::min(1.0, std::max(0.0, 0.25 * x + 0.5)); }},
      {{ActivationKind::tanh}, [](double x) { return std::tanh(x); }},
      {{ActivationKind::affine, -1.5f, 0.25f}, [](double x) { return -1.5 * x + 0.25; }},
      {{ActivationKind::scaled_tanh, 1.75f, 0.5f}, [](double x) { return 1.75 * std::tanh(0.5 * x); }},
      {{ActivationKind::elu, 0.5f}, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {{ActivationKind::softsign}, [](double x) { return x / (1 + std::fabs(x)); }},
      {{ActivationKind::softplus}, [](double x) { return std::log1p(std::exp(x)); }},
      {{ActivationKind::silu, 1}, [](double x) { return x / (1 + std::exp(-x)); }},
      {{ActivationKind::silu, 1.5f}, [](double x) { return x / (1 + std::exp(-1.5 * x)); }},
      {{ActivationKind::gelu_erf}, [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {{ActivationKind::gelu_tanh}, [](double x) { return x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) / 2; }},
      {{ActivationKind::thresholded_relu, 0.75f}, [](double x) { return x > 0.75 ? x : 0; }},
      {{ActivationKind::shrink, 0.5f, 0.25f}, [](double x) { return x < -0.5  ? x + 0.25
                                                                    : x > 0.5 ? x - 0.25
                                                                              : 0; }},
      {{ActivationKind::mish}, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
  };
  constexpr int kKinds = static_cast<int>(ActivationKind::prelu);  // which is of convolutions alone
  std::set<ActivationKind> kinds{ActivationKind::none};
  for (const auto& row : rows) kinds.insert(row.activation.kind);
  ASSERT_EQ(static_cast<int>(kinds.size()), kKinds) << "an activation has no row";
  const struct {
    int64_t m, k;
  } sizes[] = {{1, 300}, {2, 300}, {20, 300}, {50, 3}};
  for (const auto& [m, k] : sizes) {
    for (const auto& row : rows) {
      GemmData<float> data({m, 37, k, false, true, 1, 0, BiasKind::per_column});
      std::vector<float> plain = data.c, activated = data.c, packed = data.c;
      gemm(data.args, data.a.data(), data.b.data(), plain.data(), three_threads());
      data.args.epilogue.activation = row.activation;
      gemm(data.args, data.a.data(), data.b.data(), activated.data(), three_threads());
      gemm(data.args, data.a.data(), PackedMatrix<float>(data.b.data(), k, 37, true, data.args.ldb), packed.data(), three_threads());
      for (size_t i = 0; i < plain.size() - 1; ++i) {
        const double expected = row.expected(plain[i]), size = std::max(1.0, std::fabs(expected) / 4);
        ASSERT_NEAR(activated[i], expected, 2e-6 * size) << "kind " << static_cast<int>(row.activation.kind) << " of " << plain[i];
        ASSERT_NEAR(packed[i], expected, 1e-5 * size) << "packed, kind " << static_cast<int>(row.activation.kind) << " of " << plain[i];
      }
    }
  }
}

TEST_P(GemmTest, bits_depend_on_no_distance_between_rows) {
  for (const int64_t m : {9, 14, 75, 300}) {
    const GemmCase close{m, 200, 1024}, apart{m, 200, 1024, false, false, 1, 0, BiasKind::none, false, 7};
    const GemmData<float> one(close), other(apart);
    std::vector<float> a(static_cast<size_t>(m * other.args.lda), 0.0f);
    for (int64_t i = 0; i < m; ++i) std::copy_n(one.a.data() + i * one.args.lda, close.k, a.data() + i * other.args.lda);
    GemmArgs<float> args = one.args;
    args.lda = other.args.lda;
    const PackedMatrix<float> packed(one.b.data(), close.k, close.n, false, one.args.ldb);
    for (const bool is_packed : {false, true}) {
      std::vector<float> c = one.c, spread_c = one.c;
      if (is_packed) {
        gemm(one.args, one.a.data(), packed, c.data(), Parallel());
        gemm(args, a.data(), packed, spread_c.data(), Parallel());
      } else {
        gemm(one.args, one.a.data(), one.b.data(), c.data(), Parallel());
        gemm(args, a.data(), one.b.data(), spread_c.data(), Parallel());
      }
      ASSERT_EQ(std::memcmp(c.data(), spread_c.data(), static_cast<size_t>(m * close.n) * sizeof(float)), 0) << m << " rows";
    }
  }
}

TEST_P(GemmTest, residual_may_be_c) {
  for (const int64_t k : {3, 20, 600}) {
    GemmData<float> data({29, 40, k, false, false, 1, 0, BiasKind::per_row, true});
    std::vector<float> expected = data.c, in_place = data.residual;
    gemm(data.args, data.a.data(), data.b.data(), expected.data(), Parallel());
    data.args.epilogue.residual = in_place.data();
    gemm(data.args, data.a.data(), data.b.data(), in_place.data(), Parallel());
    for (size_t i = 0; i + 1 < expected.size(); ++i) ASSERT_NEAR(in_place[i], expected[i], 1e-4);
  }
}

TEST_P(GemmTest, nan_and_infinity_come_through) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t m : {1, 5, 40}) {
    GemmArgs<float> args;
    args.m = m;
    args.n = 3;
    args.k = 2;
    args.epilogue.activation = {ActivationKind::relu};
    std::vector<float> a(static_cast<size_t>(2 * m), 1), b{NAN, inf, -inf, 1, 1, 1}, c(static_cast<size_t>(3 * m));
    gemm(args, a.data(), b.data(), c.data(), Parallel());
    for (size_t i = 0; i < c.size(); i += 3) {
      EXPECT_TRUE(std::isnan(c[i]));
      EXPECT_EQ(c[i + 1], inf);
      EXPECT_EQ(c[i + 2], 0);
    }
  }
}

TEST_P(GemmTest, batches_take_their_offsets) {
  for (const auto& [m, n] : {std::pair{1, 33}, {6, 33}, {40, 33}, {40, 1}, {40, 2}}) {
    const int64_t k = n > 2 ? 20 : 100, count = 6;
    const std::vector<float> a = random_values(2 * m * k, 1), b = random_values(3 * k * n, 2);
    std::vector<float> c(static_cast<size_t>(count * m * n));
    std::vector<int64_t> a_at, b_at, c_at;
    for (int64_t i = 0; i < count; ++i) {
      a_at.push_back(i / 3 * m * k);
      b_at.push_back(i % 3 * k * n);
      c_at.push_back(i * m * n);
    }
    GemmArgs<float> args;
    args.m = m;
    args.n = n;
    args.k = k;
    gemm_batched<float>(args, {count, a_at.data(), b_at.data(), c_at.data()}, a.data(), b.data(), c.data(), three_threads());
    std::vector<float> one(static_cast<size_t>(m * n));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      gemm_reference(args, a.data() + a_at[i], b.data() + b_at[i], one.data(), Parallel());
      for (size_t j = 0; j < one.size(); ++j) ASSERT_NEAR(c[i * one.size() + j], one[j], 5e-7 * static_cast<double>(k)) << "product " << i;
    }
  }
}

/// Packed matrices of each form, as products by each one of them.
template <typename T>
void check_packed_batch(int64_t m, int64_t n, int64_t k, const PackedUse& use, int64_t count) {
  const std::vector<T> a = random_values<T>(2 * m * k, 1), b = random_values<T>(3 * k * n, 2),
                       residual = random_values<T>(count * m * n, 3);
  std::vector<PackedMatrix<T>> packed;
  for (int64_t i = 0; i < 3; ++i) packed.emplace_back(b.data() + i * k * n, k, n, false, 0, use);
  std::vector<int64_t> a_at, b_at, c_at;
  for (int64_t i = 0; i < count; ++i) {
    a_at.push_back(i % 2 * m * k);
    b_at.push_back(i % 3);
    c_at.push_back((count - 1 - i) * m * n);
  }
  GemmArgs<T> args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.epilogue.residual = residual.data();
  std::vector<T> c(static_cast<size_t>(count * m * n)), expected(c.size());
  gemm_batched<T>(args, {count, a_at.data(), b_at.data(), c_at.data()}, a.data(), packed, c.data(), three_threads());
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    GemmArgs<T> one = args;
    one.epilogue.residual += c_at[i];
    gemm(one, a.data() + a_at[i], packed[static_cast<size_t>(b_at[i])], expected.data() + c_at[i], Parallel());
  }
  ASSERT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)), 0) << m << "x" << n << "x" << k << ", " << count << " products";
}

TEST_P(GemmTest, batches_of_packed_matrices_are_as_each_by_itself) {
  for (const int64_t count : {1, 2, 4, 6, 7}) {
    check_packed_batch<float>(20, 70, 40, {}, count);
    check_packed_batch<float>(150, 96, 100, {}, count);  // threads share one
    check_packed_batch<float>(40, 4, 64, {.dots = true}, count);
    check_packed_batch<float>(40, 64, 96, {.fip = true}, count);
    check_packed_batch<Float16>(20, 70, 40, {}, count);
    check_packed_batch<double>(1, 70, 40, {}, count);
  }
}

/// A first-level cache of 64 sets.
CpuFeatures with_ways(long ways) {
  CpuFeatures features = cpu_features();
  features.l1d_line_bytes = 64;
  features.l1d_ways = ways;
  features.l1d_bytes = 64 * 64 * std::max(1L, ways);
  return features;
}

TEST_P(GemmTest, bits_do_not_depend_on_the_ways_of_the_cache) {
  for (const int64_t m : {6, 9, 10, 14, 15, 29}) {
    for (const int64_t n : {5, 37}) {
      for (const int64_t k : {40, 2000}) {
        const GemmCase t{m, n, k, false, false, 1, 0, BiasKind::per_column, true, 2048 - k};
        const GemmData<float> data(t);
        const PackedMatrix<float> packed(data.b.data(), k, n, false, data.args.ldb);
        std::vector<std::vector<float>> results;  // by turns not packed and packed
        for (const long ways : {0, 2, 4, 8}) {
          const ScopedCpuFeatures scope(with_ways(ways));
          for (const bool is_packed : {false, true}) {
            std::vector<float> c = data.c;
            if (is_packed) {
              gemm(data.args, data.a.data(), packed, c.data(), Parallel());
            } else {
              gemm(data.args, data.a.data(), data.b.data(), c.data(), Parallel());
            }
            results.push_back(c);
          }
          const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
            return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
          };
          ASSERT_TRUE(same(results[0], results[results.size() - 2])) << t << ": " << ways << " ways";
          ASSERT_TRUE(same(results[1], results.back())) << t << ": packed, " << ways << " ways";
        }
      }
    }
  }
}

RH_EVERY_ISA(GemmTest);

TEST(GemmTiles, hold_no_more_rows_of_one_set_than_the_cache) {
  constexpr int64_t kFloat = sizeof(float);
  struct Case {
    long ways;
    int64_t rows, most, row_bytes, tiles;
  };
  const Case cases[] = {
      {8, 128, 14, 768 * kFloat, 10},   // four sets
      {8, 128, 14, 3072 * kFloat, 16},  // one
      {8, 128, 14, 1025 * kFloat, 16},  // nearly one
      {8, 128, 14, 3088 * kFloat, 10},  // a line further for each row
      {8, 128, 14, 512 * kFloat, 10},   // two, of seven rows each
      {8, 128, 14, 0, 10},              // the same row
      {8, 128, 14, kFloat, 10},         // a transposed matrix
      {12, 128, 14, 3072 * kFloat, 11},
      {0, 128, 14, 3072 * kFloat, 10},  // not known
      {8, 128, 6, 3072 * kFloat, 22},   // as many as are there
      {8, 8, 14, 3072 * kFloat, 1},
      {8, 9, 14, 3072 * kFloat, 1},  // rather than five and four
      {8, 10, 14, 3072 * kFloat, 2},
      {2, 14, 14, 3072 * kFloat, 2},  // of seven
  };
  for (const Case& c : cases) {
    const ScopedCpuFeatures scope(with_ways(c.ways));
    EXPECT_EQ(tiles_of(c.rows, c.most, c.row_bytes), c.tiles) << c.ways << " ways, " << c.rows << " rows by " << c.row_bytes << " bytes";
  }
}

TEST(GemmReference, integers_wrap_around) {
  GemmArgs<int32_t> args;
  args.m = args.n = 1;
  args.k = 2;
  const int32_t a[] = {0x7fffffff, 1}, b[] = {2, 5};
  int32_t c = 0;
  gemm_reference(args, a, b, &c, Parallel());
  EXPECT_EQ(c, 3);
}

TEST(GemmReference, halves_are_summed_in_float) {
  GemmArgs<Float16> args;
  args.m = args.n = 1;
  args.k = 4096;
  const std::vector<Float16> a(4096, Float16(1.0f)), b(4096, Float16(0.25f));
  Float16 c;
  gemm_reference(args, a.data(), b.data(), &c, Parallel());
  EXPECT_EQ(static_cast<float>(c), 1024.0f);
}

/// 25 panels in four pieces are 12 and 13 for two threads, hardly worse than two times five chunks of rows, which would read all of B
/// twice.
TEST(Grid, threads_are_busy_with_all_of_their_pieces) {
  const Grid by_columns = choose_grid(10, 25, 51.4e6, 262e3, 1606e3, 2);
  EXPECT_EQ(by_columns.rows, 1);
  EXPECT_EQ(by_columns.columns, 4);
  const Grid by_rows = choose_grid(10, 3, 51.4e6, 262e3, 262e3, 2);  // three panels would keep one thread idle for a third of the time
  EXPECT_EQ(by_rows.rows % 2, 0);
}

}  // namespace
}  // namespace rh::compute
