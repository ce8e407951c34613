// Right kernels give right numbers, whatever the order of threads, blocks and workers, and pass every check.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "stands/cuda/client.h"

namespace rh::stand {
namespace {

using Numbers = std::vector<float>;

Numbers random_numbers(size_t count) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<float> range(-1, 1);
  Numbers values(count);
  for (auto& v : values) v = range(random);
  return values;
}

void expect_near(const Numbers& expected, const Numbers& found, double bound, const std::string& what) {
  require(expected.size() == found.size(), what + ": as many values");
  for (size_t i = 0; i < expected.size(); ++i) {
    double error = std::abs(static_cast<double>(expected[i]) - static_cast<double>(found[i]));
    require(error <= bound,
            what + "[" + std::to_string(i) + "]: expected " + std::to_string(expected[i]) + ", found " + std::to_string(found[i]));
  }
}

uint16_t half_bits(float v) {
  _Float16 half = static_cast<_Float16>(v);
  return std::bit_cast<uint16_t>(half);
}
float half_value(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
uint16_t bfloat_bits(float v) {
  auto bits = std::bit_cast<uint32_t>(v);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float bfloat_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
uint16_t half_of(float v) { return half_bits(v); }

template <class F>
std::vector<uint16_t> narrowed(const Numbers& values, F to_bits) {
  std::vector<uint16_t> bits;
  for (float v : values) bits.push_back(to_bits(v));
  return bits;
}
template <class F>
Numbers widened(const std::vector<uint16_t>& bits, F to_value) {
  Numbers values;
  for (uint16_t b : bits) values.push_back(to_value(b));
  return values;
}

// A[m,k] times B by element, summed in double.
template <class B>
Numbers product(const Numbers& a, const B& b, int m, int n, int k) {
  Numbers c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int q = 0; q < k; ++q) sum += static_cast<double>(a[static_cast<size_t>(i * k + q)]) * static_cast<double>(b(q, j));
      c.push_back(static_cast<float>(sum));
    }
  return c;
}

void run_right(Session& s, const std::string& name, unsigned gx, unsigned gy, unsigned threads, unsigned shared, auto... arguments) {
  CUresult result = s.run(name, gx, gy, threads, shared, arguments...);
  require(result == 0, name + " returned " + std::to_string(result) + ": " + s.driver.message());
}

void check_add(Session& s) {
  const int n = 5000;
  auto a = random_numbers(n), b = random_numbers(n);
  Numbers sum;
  for (size_t i = 0; i < n; ++i) sum.push_back(a[i] + b[i]);
  auto c = s.allocate(n * 4);
  run_right(s, "add", 20, 1, 256, 0, s.put(a), s.put(b), c, n);
  expect_near(sum, s.get<float>(c, n), 0, "add");
}

void check_softmax(Session& s) {
  const int rows = 5, columns = 300;
  auto x = random_numbers(rows * columns);
  Numbers expected;
  for (int r = 0; r < rows; ++r) {
    double total = 0;
    for (int c = 0; c < columns; ++c) total += std::exp(static_cast<double>(x[static_cast<size_t>(r * columns + c)]));
    for (int c = 0; c < columns; ++c)
      expected.push_back(static_cast<float>(std::exp(static_cast<double>(x[static_cast<size_t>(r * columns + c)])) / total));
  }
  auto y = s.allocate(x.size() * 4);
  run_right(s, "softmax", rows, 1, 128, 128 * 4, s.put(x), y, columns);
  expect_near(expected, s.get<float>(y, x.size()), 1e-6, "softmax");
}

void check_sums(Session& s) {
  const int n = 4096;
  auto x = random_numbers(n);
  double total = 0;
  for (float v : x) total += static_cast<double>(v);
  auto in = s.put(x), y = s.put(Numbers{0}), parts = s.allocate(64 * 4), counter = s.put(std::vector<unsigned>{0}),
       last = s.put(Numbers{0});
  run_right(s, "sum", 4, 1, 256, 0, in, y, n);
  expect_near({static_cast<float>(total)}, s.get<float>(y, 1), 1e-4, "sum");
  run_right(s, "sum_by_last_block", 64, 1, 64, 0, in, parts, counter, last);
  expect_near({static_cast<float>(total)}, s.get<float>(last, 1), 1e-4, "sum_by_last_block");
}

void check_gemm(Session& s) {
  const int m = 50, n = 45, k = 37;
  auto a = random_numbers(m * k), b = random_numbers(k * n);
  auto c = s.allocate(m * n * 4);
  run_right(s, "gemm", 2, 2, 64, 0, s.put(a), s.put(b), c, m, n, k);
  auto expected = product(a, [&](int q, int j) { return b[static_cast<size_t>(q * n + j)]; }, m, n, k);
  expect_near(expected, s.get<float>(c, m * n), 1e-5, "gemm");
}

template <class F, class V>
void check_axpy(Session& s, const std::string& name, F to_bits, V to_value, int per_thread) {
  const int n = 1000;
  const float alpha = 0.7f;
  auto x = narrowed(random_numbers(n), to_bits), y = narrowed(random_numbers(n), to_bits);
  Numbers expected;
  for (size_t i = 0; i < n; ++i) {
    double exact =
        static_cast<double>(to_value(to_bits(alpha))) * static_cast<double>(to_value(x[i])) + static_cast<double>(to_value(y[i]));
    expected.push_back(to_value(to_bits(static_cast<float>(exact))));
  }
  auto out = s.put(y);
  run_right(s, name, 4, 1, 256, 0, s.put(x), out, alpha, n / per_thread);
  expect_near(expected, widened(s.get<uint16_t>(out, n), to_value), 1e-9, name);
}

template <class F, class V>
void check_mma(Session& s, const std::string& name, F to_bits, V to_value) {
  const int m = 32, n = 16, k = 48;
  auto a = narrowed(random_numbers(m * k), to_bits), b = narrowed(random_numbers(n * k), to_bits);
  auto wide_a = widened(a, to_value), wide_b = widened(b, to_value);
  auto c = s.allocate(m * n * 4);
  run_right(s, name, n / 8, m / 16, 32, 0, s.put(a), s.put(b), c, n, k);
  bool by_rows = name == "mma_staged";
  auto expected = product(wide_a, [&](int q, int j) { return wide_b[static_cast<size_t>(by_rows ? q * n + j : j * k + q)]; }, m, n, k);
  expect_near(expected, s.get<float>(c, m * n), 1e-5, name);
}

void check_tf32(Session& s) {
  const int m = 16, n = 8, k = 24;
  auto round = [](Numbers values) {  // to 10 bits of mantissa, so that the products are exact
    for (auto& v : values) v = std::bit_cast<float>(std::bit_cast<uint32_t>(v) & 0xffffe000u);
    return values;
  };
  auto a = round(random_numbers(m * k)), b = round(random_numbers(n * k));
  auto c = s.allocate(m * n * 4);
  run_right(s, "mma_tf32", n / 8, m / 16, 32, 0, s.put(a), s.put(b), c, n, k);
  expect_near(
      product(a, [&](int q, int j) { return b[static_cast<size_t>(j * k + q)]; }, m, n, k), s.get<float>(c, m * n), 1e-5, "mma_tf32");
}

void check_others(Session& s, const std::string& lowered) {
  auto votes = s.allocate(5 * 4);
  run_right(s, "votes", 1, 1, 96, 0, votes);
  require(s.get<unsigned>(votes, 5) == std::vector<unsigned>{0xaaaaaaaau, 40, 93, 2, 4}, "votes");

  struct Pair {
    CUdeviceptr data;
    int count;
  } pair{s.put(Numbers{1, 1, 1, 1, 1}), 5};
  auto weighted = s.allocate(5 * 4);
  run_right(s, "weighted", 1, 1, 32, 0, pair, weighted);
  expect_near({1, 2, 4, 8, 1}, s.get<float>(weighted, 5), 0, "weighted");

  auto scaled = s.put(Numbers{1, 2, 3, 4, 5});
  run_right(s, lowered, 1, 1, 32, 0, scaled, 3.0f, 5);
  expect_near({3, 6, 9, 12, 15}, s.get<float>(scaled, 5), 0, "scale");
}

struct Way {
  const char* name;
  Environment environment;
  bool checked = false;
};

TEST(CudaStandNumbers, RightKernelsAreRightInEveryWay) {
  const Way ways[] = {
      {"plain", {}},
      {"backwards, late", {{"RH_STAND_ORDER", "1"}, {"RH_STAND_DELAY_US", "200"}}},
      {"shuffled on two workers", {{"RH_STAND_ORDER", "7"}, {"RH_STAND_WORKERS", "2"}}},
      {"protected by pages", {{"RH_STAND_PROTECTION", "pages"}}},
      {"checked", {{"RH_STAND_CHECKED", "1"}}, true},
      {"checked, shuffled", {{"RH_STAND_CHECKED", "1"}, {"RH_STAND_ORDER", "3"}}, true},
  };
  for (const auto& way : ways) {
    SCOPED_TRACE(way.name);
    const Image& image = image_of("right.cu", way.checked, "sm_80", "scale<float, 4>");
    Outcome outcome = in_child(way.environment, [&](Driver& driver) {
      Session s(driver, image.bytes);
      check_add(s);
      check_softmax(s);
      check_sums(s);
      check_gemm(s);
      check_axpy(s, "half_axpy", half_of, half_value, 2);
      check_axpy(s, "bfloat_axpy", bfloat_bits, bfloat_value, 1);
      check_mma(s, "mma_half", half_of, half_value);
      check_mma(s, "mma_bfloat", bfloat_bits, bfloat_value);
      check_mma(s, "mma_staged", half_of, half_value);
      check_tf32(s);
      check_others(s, image.lowered);
      say("all right");
    });
    EXPECT_EQ(outcome.said, "all right\n") << outcome.errors;
  }
}

TEST(CudaStandNumbers, SourcesThatDoNotCompileSayWhere) {
  Image image = compile_text("extern \"C\" __global__ void k(float* x) {\n  x[0] = unknown;\n}\n", {"--gpu-architecture=sm_80"});
  EXPECT_EQ(image.result, NVRTC_ERROR_COMPILATION);
  EXPECT_NE(image.log.find("text.cu:2"), std::string::npos) << image.log;
  EXPECT_NE(image.log.find("unknown"), std::string::npos) << image.log;
  EXPECT_EQ(compile_text("", {"--gpu-architecture=sm_81"}).result, NVRTC_ERROR_INVALID_OPTION);
}

size_t files_in(const std::filesystem::path& folder) {
  std::error_code none;
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder, none), std::filesystem::directory_iterator()));
}

TEST(CudaStandNumbers, WhatWasCompiledIsKept) {
  const std::filesystem::path folder = testing::TempDir() + "cuda_stand_cache";
  const std::string text = "extern \"C\" __global__ void k(int* x) { x[0] = NUMBER; }\n";
  std::filesystem::remove_all(folder);
  setenv("RH_STAND_CACHE", folder.c_str(), 1);
  Image first = compile_text(text, {"--gpu-architecture=sm_80", "-DNUMBER=1"});
  EXPECT_EQ(files_in(folder), 1u) << first.log;
  Image again = compile_text(text, {"--gpu-architecture=sm_80", "-DNUMBER=1"});
  EXPECT_EQ(files_in(folder), 1u);
  EXPECT_EQ(first.bytes, again.bytes);
  Image other = compile_text(text, {"--gpu-architecture=sm_80", "-DNUMBER=2"});
  EXPECT_EQ(files_in(folder), 2u) << other.log;
  EXPECT_NE(first.bytes, other.bytes);
  setenv("RH_STAND_CACHE", "off", 1);
  EXPECT_EQ(compile_text(text, {"--gpu-architecture=sm_80", "-DNUMBER=3"}).result, 0);
  EXPECT_EQ(files_in(folder), 2u);
  unsetenv("RH_STAND_CACHE");
  std::filesystem::remove_all(folder);
}

TEST(CudaStandNumbers, KernelsAreFoundHoweverTheyAreWritten) {
  const std::string text = R"(
extern "C" __launch_bounds__(64, 2) __global__ void bounds_first(int* y) { __shared__ int s[16]; s[threadIdx.x] = 1; __syncthreads(); y[0] = s[0]; }
extern "C" __global__ void __launch_bounds__(sizeof(int) * 8) bounds_last(int* y) { y[1] = '}' ; }
extern "C" {
__global__
void in_block(int* __restrict__ y, const int n = 3) { y[2] = n; }
}
template <class T> __device__ T* tail() { extern __shared__ __align__(16) int4 all[]; return reinterpret_cast<T*>(all); }
extern "C" __global__ void dynamic(int* y) { tail<int>()[threadIdx.x] = 5; __syncthreads(); if (threadIdx.x == 0) y[3] = tail<int>()[1]; }
)";
  Image image = compile_text(text, {"--gpu-architecture=sm_80", "-DUNUSED=1", "--std=c++20", "--use_fast_math"});
  ASSERT_EQ(image.result, 0) << image.log;
  Outcome outcome = in_child({}, [&](Driver& driver) {
    Session s(driver, image.bytes);
    auto y = s.put(std::vector<int>(4));
    int n = 3, value = 0;
    run_right(s, "bounds_first", 1, 1, 1, 0, y);
    run_right(s, "bounds_last", 1, 1, 1, 0, y);
    run_right(s, "in_block", 1, 1, 1, 0, y, n);
    run_right(s, "dynamic", 1, 1, 8, 32, y);
    require(s.get<int>(y, 4) == std::vector<int>{1, '}', 3, 5}, "what the kernels wrote");
    driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, s.function("bounds_first"));
    require(value == 64, "the bound of bounds_first");
    driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, s.function("bounds_first"));
    require(value == 64, "the shared memory of bounds_first");
    driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, s.function("bounds_last"));
    require(value == 32, "the bound of bounds_last");
    say("found");
  });
  EXPECT_EQ(outcome.said, "found\n") << outcome.errors;
}

}  // namespace
}  // namespace rh::stand
