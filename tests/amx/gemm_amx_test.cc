#include "compute/gemm/gemm_amx.h"

#include <array>
#include <bit>
#include <cstring>
#include <thread>

#include "amx/support.h"
#include "base/shared_bytes.h"
#include "compute/gemm/gemm_reference.h"
#include "compute/gemm/gemm_split.h"
#include "compute/gemm/gemm_variants.h"
#include "compute/gemm_cases.h"

namespace rh::compute {
namespace {

class GemmAmx : public test::AmxTest {};

/// B in split form, whatever the cost model would say.
PackedMatrix<float> split(const float* b, int64_t k, int64_t n, bool transposed = false, int64_t ldb = 0) {
  return PackedMatrix<float>(b, k, n, transposed, ldb, {.amx = true, .rows = 1});
}

std::vector<GemmCase> cases() {
  std::vector<GemmCase> all;
  for (const int64_t m : {1, 2, 16, 17, 32, 33, 49})
    for (const int64_t n : {1, 16, 31, 32, 33, 70})
      for (const int64_t k : {0, 1, 2, 17, 32, 33, 257}) all.push_back({m, n, k});
  for (const int64_t m : {3, 40})
    for (const int64_t n : {5, 45})
      for (const int64_t k : {16, 300})
        for (const int mode : {0, 1, 2, 3}) {
          all.push_back({m, n, k, (mode & 1) != 0, (mode & 2) != 0, 0.5, 0, BiasKind::per_column, false, 3});
          all.push_back({m, n, k, (mode & 1) != 0, (mode & 2) != 0, 1, 1, BiasKind::per_row, true, 5});
          all.push_back({m, n, k, (mode & 1) != 0, (mode & 2) != 0, -2, 0.25, BiasKind::none, true, 0});
        }
  all.push_back({270, 36, 64, false, false, 1, 0, BiasKind::per_column, true, 0});
  all.push_back({64, 600, 33, false, true, 1, 0, BiasKind::per_row, false, 0});
  all.push_back({33, 40, 800, false, false, 1, 0, BiasKind::per_column, false, 2});
  return all;
}

TEST_F(GemmAmx, within_the_bound_of_a_float_sum_at_every_edge) {
  for (const GemmCase& t : cases()) {
    const GemmData<float> data(t);
    const PackedMatrix<float> b = split(data.b.data(), t.k, t.n, t.transpose_b, data.args.ldb);
    std::vector<float> c = data.c, serial = data.c;
    gemm(data.args, data.a.data(), b, c.data(), three_threads());
    check_product(data, c, t);
    gemm(data.args, data.a.data(), b, serial.data(), {});
    ASSERT_EQ(c, serial) << t << ": the bits depend on the number of threads";
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(test::AmxEmulator::native() || emulator_->instructions() > 1000);
}

TEST_F(GemmAmx, fewer_products_where_less_accuracy_is_asked_for) {
  const int64_t m = 40, n = 45, k = 300;
  const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
  const struct {
    ProductAccuracy accuracy;
    double least, most;  // of the greatest error, beside the sum of absolute terms
  } rows[] = {{ProductAccuracy::full, 0, 0x1p-23}, {ProductAccuracy::fast, 0x1p-22, 0x1p-15}, {ProductAccuracy::bf16, 0x1p-14, 0x1p-7}};
  for (const auto& row : rows) {
    std::vector<float> c(static_cast<size_t>(m * n));
    const PackedMatrix<float> packed(b.data(), k, n, false, 0, {.amx = true, .rows = m, .accuracy = row.accuracy});
    gemm({.m = m, .n = n, .k = k}, a.data(), packed, c.data(), {});
    double worst = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double exact = 0, magnitude = 0;
        for (int64_t x = 0; x < k; ++x) {
          const double term = static_cast<double>(a[static_cast<size_t>(i * k + x)]) * b[static_cast<size_t>(x * n + j)];
          exact += term;
          magnitude += std::fabs(term);
        }
        worst = std::max(worst, std::fabs(c[static_cast<size_t>(i * n + j)] - exact) / magnitude);
      }
    }
    EXPECT_LE(worst, row.most) << static_cast<int>(row.accuracy);
    EXPECT_GE(worst, row.least) << static_cast<int>(row.accuracy);
  }
}

TEST_F(GemmAmx, panels_are_split_while_products_of_many_rows_run) {
  for (const GemmCase& t : {GemmCase{256, 250, 512}, GemmCase{224, 230, 500, true, true, 2, 1, BiasKind::per_column, true, 4}}) {
    const GemmData<float> data(t);
    const PackedMatrix<float> panels(data.b.data(), t.k, t.n, t.transpose_b, data.args.ldb, {.amx = true});
    ASSERT_FALSE(panels.is_split());
    std::vector<float> c = data.c, ready = data.c;
    const int64_t before = emulator_->instructions();
    gemm(data.args, data.a.data(), panels, c.data(), three_threads());
    EXPECT_TRUE(test::AmxEmulator::native() || emulator_->instructions() > before);
    check_product(data, c, t);
    gemm(data.args, data.a.data(), split(data.b.data(), t.k, t.n, t.transpose_b, data.args.ldb), ready.data(), {});
    ASSERT_EQ(c, ready) << t;
  }
}

TEST_F(GemmAmx, few_rows_of_panels_go_without_tiles) {
  const GemmData<float> data({8, 64, 64});
  std::vector<float> c = data.c;
  const PackedMatrix<float> panels(data.b.data(), 64, 64, false, 0, {.amx = true});
  const int64_t before = emulator_->instructions();
  gemm(data.args, data.a.data(), panels, c.data(), {});
  EXPECT_EQ(emulator_->instructions(), before);
  check_product(data, c, {8, 64, 64});
}

TEST_F(GemmAmx, columns_from_the_middle) {
  const int64_t m = 35, n = 100, k = 40;
  const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
  std::vector<float> all(static_cast<size_t>(m * n)), some(static_cast<size_t>(m * 36));
  const PackedMatrix<float> packed = split(b.data(), k, n);
  gemm({.m = m, .n = n, .k = k}, a.data(), packed, all.data(), {});
  gemm({.m = m, .n = 36, .k = k, .first_column = 64}, a.data(), packed, some.data(), {});
  for (size_t i = 0; i < some.size(); ++i) ASSERT_EQ(some[i], all[i / 36 * 100 + 64 + i % 36]) << i;
}

TEST_F(GemmAmx, activations_come_last) {
  for (const ActivationKind kind : {ActivationKind::relu, ActivationKind::sigmoid, ActivationKind::hard_swish}) {
    GemmData<float> data({37, 45, 300, false, false, 1, 0, BiasKind::per_column});
    std::vector<float> expected = data.c, c = data.c;
    data.args.epilogue.activation = {kind};
    gemm(data.args, data.a.data(), data.b.data(), expected.data(), {});
    gemm(data.args, data.a.data(), split(data.b.data(), 300, 45), c.data(), three_threads());
    for (size_t i = 0; i + 1 < c.size(); ++i) ASSERT_NEAR(c[i], expected[i], 2e-5) << static_cast<int>(kind);
  }
}

TEST_F(GemmAmx, errors_are_no_greater_than_those_of_multiply_add) {
  const int64_t m = 64, n = 64;
  for (const int64_t k : {64, 576, 2048}) {
    for (const double low : {-1.0, 0.0}) {
      const std::vector<float> a = random_values(m * k, 1, low, 1), b = random_values(k * n, 2, low, 1);
      std::vector<float> by_tiles(static_cast<size_t>(m * n)), by_sums = by_tiles;
      const GemmArgs<float> args{.m = m, .n = n, .k = k};
      gemm(args, a.data(), split(b.data(), k, n), by_tiles.data(), three_threads());
      gemm(args, a.data(), b.data(), by_sums.data(), three_threads());
      double tiles_squares = 0, sums_squares = 0;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          long double exact = 0, magnitude = 0;
          for (int64_t x = 0; x < k; ++x) {
            const long double term = static_cast<long double>(a[static_cast<size_t>(i * k + x)]) * b[static_cast<size_t>(x * n + j)];
            exact += term;
            magnitude += std::fabs(term);
          }
          const auto square = [&](float found) { return static_cast<double>((found - exact) / magnitude * ((found - exact) / magnitude)); };
          tiles_squares += square(by_tiles[static_cast<size_t>(i * n + j)]);
          sums_squares += square(by_sums[static_cast<size_t>(i * n + j)]);
        }
      }
      EXPECT_LE(tiles_squares, sums_squares) << k << " values from " << low;
    }
  }
}

const float kSpecial[] = {NAN,
                          INFINITY,
                          -INFINITY,
                          std::numeric_limits<float>::max(),
                          -0x1.fffffep126f,
                          0x1p126f,
                          1e30f,
                          0x1p60f,
                          0x1p-48f,
                          0x1.234566p-50f,
                          0x1.fedcbap-70f,
                          0x1.abcdefp-99f,
                          0x1p-101f,
                          -0x1.8p-112f,
                          1.2e-38f,
                          0x1p-126f,
                          1e-40f,
                          0x1p-149f,
                          0.0f,
                          -0.0f};

/// Within the bound of float sums, and of the least number a product where it is cut off; not finite where multiply-add is not. Where
/// finite terms overflow together, the order of the sum decides what comes out, and nothing is asked for.
void check_special(const GemmArgs<float>& args, const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                   const std::vector<float>& plain, const std::string& what) {
  for (int64_t i = 0; i < args.m; ++i) {
    for (int64_t j = 0; j < args.n; ++j) {
      const size_t at = static_cast<size_t>(i * args.n + j);
      long double exact = 0, magnitude = 0;  // the latter of finite terms
      for (int64_t x = 0; x < args.k; ++x) {
        const long double term = static_cast<long double>(a[static_cast<size_t>(i * args.k + x)]) * b[static_cast<size_t>(x * args.n + j)];
        exact += term;
        magnitude += std::isfinite(term) ? std::fabs(term) : 0;
      }
      if (!(magnitude < 0x1p127L)) continue;
      if (!std::isfinite(exact)) {
        ASSERT_TRUE(std::isnan(plain[at]) ? std::isnan(c[at]) : c[at] == plain[at])
            << what << ": " << c[at] << ", by multiply-add " << plain[at] << " at row " << i << " column " << j;
      } else {
        const long double bound = static_cast<long double>(args.k + 2) * (0x1p-24L * magnitude + 0x1p-150L);
        ASSERT_LE(std::fabs(c[at] - exact), bound) << what << " at row " << i << " column " << j;
      }
    }
  }
}

TEST_F(GemmAmx, values_out_of_range_as_by_multiply_add) {
  const int64_t m = 36, n = 36, k = 280;
  const GemmArgs<float> args{.m = m, .n = n, .k = k};
  int turn = 0;
  for (const float left : kSpecial) {
    for (const float right : kSpecial) {
      const float usual = std::array{1.0f, 0x1p-45f, 0x1p50f}[static_cast<size_t>(turn++ % 3)];
      std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
      for (float& x : a) x *= usual;
      for (const int64_t row : {0, 33}) {
        for (const int64_t x : {1, 270}) a[static_cast<size_t>(row * k + x)] = left;
      }
      for (const int64_t x : {1, 5, 279}) b[static_cast<size_t>(x * n + 35)] = right;
      std::fill_n(a.begin() + 2 * k, k, left);
      for (int64_t x = 0; x < k; ++x) b[static_cast<size_t>(x * n + 3)] = right;
      std::vector<float> c(static_cast<size_t>(m * n)), plain = c;
      gemm(args, a.data(), b.data(), plain.data(), {});
      gemm(args, a.data(), split(b.data(), k, n), c.data(), {});
      check_special(args, a, b, c, plain, std::to_string(left) + " x " + std::to_string(right) + ", others " + std::to_string(usual));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(GemmAmx, small_magnitudes_keep_their_bound) {
  const int64_t m = 33, n = 33, k = 64;
  const GemmArgs<float> args{.m = m, .n = n, .k = k};
  for (int exponent = -20; exponent >= -140; exponent -= 5) {
    const std::vector<float> b = random_values(k * n, 2);
    std::vector<float> a = random_values(m * k, 1), c(static_cast<size_t>(m * n)), plain = c;
    for (float& x : a) x = std::ldexp(x, exponent);
    gemm(args, a.data(), b.data(), plain.data(), {});
    gemm(args, a.data(), split(b.data(), k, n), c.data(), {});
    check_special(args, a, b, c, plain, "2^" + std::to_string(exponent));
  }
}

TEST_F(GemmAmx, split_values_are_whole) {
  for (const int64_t k : {1, 16, 17, 32, 256}) {
    std::vector<float> values = random_values(k * kSplitWidth, 3);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(values[i], static_cast<int>(i % 200) - 90);
    const std::shared_ptr<char[]> steps = aligned_array<char>(static_cast<size_t>(split_steps(k) * kSplitStepBytes));
    for (const int64_t rows : {1, 2, 31, 32, 0}) {  // 0: columns of B
      const bool right = rows == 0;
      const size_t count = static_cast<size_t>((right ? kSplitWidth : rows) * k);
      std::vector<float> joined(count + 1, 42.0f);
      const Magnitudes magnitudes = right ? kAmxKernels.split_right(values.data(), kSplitWidth, k, steps.get())
                                          : kAmxKernels.split_left(values.data(), k, rows, k, steps.get());
      if (right)
        kAmxKernels.join_right(steps.get(), k, joined.data());
      else
        kAmxKernels.join_left(steps.get(), rows, k, joined.data());
      float least = INFINITY, most = 0;
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(joined[i], values[i]) << i;
        most = std::max(most, std::fabs(values[i]));
        if (values[i] != 0) least = std::min(least, std::fabs(values[i]));
      }
      EXPECT_EQ(joined[count], 42.0f);
      EXPECT_EQ(std::bit_cast<float>(magnitudes.least), least);
      EXPECT_EQ(std::bit_cast<float>(magnitudes.most), most);
    }
  }
}

TEST_F(GemmAmx, many_threads_with_products_of_their_own) {
  const GemmCase t{50, 40, 100};
  const GemmData<float> data(t);
  const PackedMatrix<float> b = split(data.b.data(), t.k, t.n);
  std::vector<std::vector<float>> results(4, data.c);
  std::vector<std::thread> threads;
  for (std::vector<float>& c : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) gemm(data.args, data.a.data(), b, c.data(), {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& c : results) ASSERT_EQ(c, results[0]);
  check_product(data, results[0], t);
}

TEST_F(GemmAmx, equal_weights_share_their_split_form) {
  const std::vector<float> b = random_values(64 * 64, 1);
  const PackedMatrix<float> one = split(b.data(), 64, 64), other = split(b.data(), 64, 64);
  EXPECT_EQ(one.split_data(), other.split_data());
  EXPECT_EQ(one.bytes(), 2 * split_bytes(64));
}

TEST_F(GemmAmx, the_trial_finds_a_processor_that_multiplies_wrongly) {
  EXPECT_EQ(try_amx(), "");
  if (test::AmxEmulator::native()) return;
  emulator_->fail_products(true);
  EXPECT_NE(try_amx().find("a trial product differs"), std::string::npos);
}

TEST_F(GemmAmx, is_chosen_where_it_pays) {
  const struct {
    ProductSizes sizes;
    std::string_view variant;
  } rows[] = {
      {{1, 4096, 4096}, "gemm"},  {{16, 4096, 4096}, "gemm"},       {{49, 512, 4608}, "gemm"}, {{128, 768, 768}, "amx"},
      {{1024, 16, 1024}, "gemm"}, {{1024, 1024, 8}, "gemm"},        {{0, 768, 768}, "amx"},    {{0, 8, 768}, "dots"},
      {{196, 256, 2304}, "amx"},  {{128, 768, 768, false}, "gemm"}, {{3136, 64, 576}, "gemm"}, {{197, 1536, 384}, "amx"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(choose_gemm_variant(row.sizes, {}).name, row.variant) << row.sizes.m << "x" << row.sizes.n << "x" << row.sizes.k;
  }
  EXPECT_EQ(choose_gemm_variant({1, 64, 64}, "gemv").name, "gemv");
  EXPECT_EQ(choose_gemm_variant({256, 512, 512}, "gemv").name, "amx") << "many rows";
  CpuFeatures without = lowered(cpu_features(), "avx512");
  without.own_adders = false;
  const ScopedCpuFeatures lower(without);
  EXPECT_EQ(choose_gemm_variant({1024, 1024, 1024}, "amx").name, "gemm") << "without AMX";
}

TEST(AmxStatus, without_the_processors_help_it_is_not_used) {
  const ScopedCpuFeatures lower(lowered(cpu_features(), "avx512"));
  const ScopedAmxStatus status({true, {}});
  EXPECT_FALSE(amx_usable());
  EXPECT_NE(amx_status().reason.find("no AMX"), std::string::npos);
}

}  // namespace
}  // namespace rh::compute
