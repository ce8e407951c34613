// Times the numeric library on the shapes of well-known models: compute_bench [threads] [name filter] [seconds a case].
// One line a case: name, milliseconds (least of the repetitions), GFLOP/s, and their share of what multiply-adds of registers alone reach
// in the same run (above 100 % where fewer products are made than counted, or AMX tiles make them). compare_compute.py sets them beside
// another runtime.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "compute/conv.h"
#include "compute/gemm.h"
#include "compute/pool.h"
#include "compute/row_math.h"
#include "compute/vector_math.h"
#include "peak.h"

namespace {

using namespace rh;
using namespace rh::compute;

double budget_seconds = 0.3;
const char* name_filter = "";
Parallel parallel;
double peak = 0;  // GFLOP/s

std::vector<float> random_floats(int64_t count) {
  static std::mt19937 engine(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = distribution(engine);
  return values;
}

bool wanted(const std::string& name) { return name.find(name_filter) != std::string::npos; }

void time_case(const std::string& name, double operations, FunctionRef<void()> body) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  body();
  double best = 1e9, total = 0;
  for (int i = 0; i < 3 || total < budget_seconds; ++i) {
    const auto start = Clock::now();
    body();
    const double took = seconds(Clock::now() - start);
    best = std::min(best, took);
    total += took;
  }
  const double speed = operations / best * 1e-9;
  std::printf("%-44s %10.4f ms %8.1f GFLOP/s %6.1f %%\n", name.c_str(), best * 1e3, speed, 100 * speed / peak);
}

enum class Right { unpacked, packed, amx, amx_any_rows };

void time_gemm(int64_t m, int64_t n, int64_t k, Right form) {
  static constexpr const char* kForms[] = {" unpacked", "", " amx", " amx, any rows"};
  const bool packed = form != Right::unpacked;
  const PackedUse use{.amx = form >= Right::amx, .rows = form == Right::amx ? m : 0};
  const std::string name = "gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + kForms[static_cast<int>(form)];
  if (!wanted(name)) return;
  const std::vector<float> a = random_floats(m * k), b = random_floats(k * n);
  std::vector<float> c(static_cast<size_t>(m * n));
  GemmArgs<float> args;
  args.m = m;
  args.n = n;
  args.k = k;
  const PackedMatrix<float> right = packed ? PackedMatrix<float>(b.data(), k, n, false, 0, use) : PackedMatrix<float>();
  time_case(name, 2.0 * m * n * k, [&] {
    if (packed)
      gemm(args, a.data(), right, c.data(), parallel);
    else
      gemm(args, a.data(), b.data(), c.data(), parallel);
  });
}

void time_batched(int64_t count, int64_t m, int64_t n, int64_t k, bool transposed) {
  const std::string name = "batched " + std::to_string(count) + "x" + std::to_string(m) + "x" + std::to_string(n) + "x" +
                           std::to_string(k) + (transposed ? " Bt" : "");
  if (!wanted(name)) return;
  const std::vector<float> a = random_floats(count * m * k), b = random_floats(count * k * n);
  std::vector<float> c(static_cast<size_t>(count * m * n));
  std::vector<int64_t> a_at, b_at, c_at;
  for (int64_t i = 0; i < count; ++i) {
    a_at.push_back(i * m * k);
    b_at.push_back(i * n * k);
    c_at.push_back(i * m * n);
  }
  GemmArgs<float> args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.transpose_b = transposed;
  time_case(name, 2.0 * count * m * n * k,
            [&] { gemm_batched<float>(args, {count, a_at.data(), b_at.data(), c_at.data()}, a.data(), b.data(), c.data(), parallel); });
}

void time_conv(int64_t in, int64_t out, int64_t groups, int64_t size, int64_t kernel, int64_t stride) {
  const std::string name = "conv " + std::to_string(in) + "->" + std::to_string(out) + " g" + std::to_string(groups) + " " +
                           std::to_string(size) + "x" + std::to_string(size) + " k" + std::to_string(kernel) + " s" +
                           std::to_string(stride);
  if (!wanted(name)) return;
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.input[d] = size;
    w.kernel[d] = kernel;
    w.stride[d] = stride;
    w.pad_begin[d] = kernel / 2;
    w.output[d] = (size + 2 * (kernel / 2) - kernel) / stride + 1;
  }
  const std::vector<float> x = random_floats(in * w.input_size()), weights = random_floats(out * in / groups * w.kernel_size());
  const std::vector<float> bias = random_floats(out);
  std::vector<float> y(static_cast<size_t>(out * w.output_size()));
  const Convolution<float> conv({in, out, groups}, w, weights.data(), bias.data(), {});
  time_case(name, 2.0 * out * w.output_size() * (in / groups) * w.kernel_size(),
            [&] { conv.run(w, 1, x.data(), nullptr, y.data(), parallel); });
}

void time_pool(int64_t planes, int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  const std::string name = "max_pool " + std::to_string(planes) + " " + std::to_string(size) + "x" + std::to_string(size) + " k" +
                           std::to_string(kernel) + " s" + std::to_string(stride);
  if (!wanted(name)) return;
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.input[d] = size;
    w.kernel[d] = kernel;
    w.stride[d] = stride;
    w.pad_begin[d] = pad;
    w.output[d] = (size + 2 * pad - kernel) / stride + 1;
  }
  const std::vector<float> x = random_floats(planes * w.input_size());
  std::vector<float> y(static_cast<size_t>(planes * w.output_size()));
  time_case(name, 1.0 * planes * w.output_size() * w.kernel_size(),
            [&] { max_pool<float>(w, planes, x.data(), y.data(), nullptr, false, parallel); });
}

/// One operation an element; serial, as its callers split the work.
void time_elements(const char* what, int64_t count, FunctionRef<void(const float*, float*, int64_t)> body) {
  const std::string name = std::string(what) + " " + std::to_string(count);
  if (!wanted(name)) return;
  const std::vector<float> x = random_floats(count);
  std::vector<float> y(static_cast<size_t>(count));
  time_case(name, static_cast<double>(count), [&] { body(x.data(), y.data(), count); });
}

void time_elementwise() {
  const struct {
    const char* name;
    Unary op;
  } unaries[] = {{"exp", Unary::exp},         {"log", Unary::log},   {"tanh", Unary::tanh},         {"erf", Unary::erf},
                 {"sigmoid", Unary::sigmoid}, {"relu", Unary::relu}, {"gelu_erf", Unary::gelu_erf}, {"hard_swish", Unary::hard_swish}};
  for (const auto& u : unaries) time_elements(u.name, 128 * 3072, [&](const float* x, float* y, int64_t n) { unary(u.op, x, y, n); });
  time_elements("add", 128 * 768, [](const float* x, float* y, int64_t n) { binary(Binary::add, x, x, y, n); });
  time_elements("softmax 1536 rows of 128:", 1536 * 128,
                [](const float* x, float* y, int64_t n) { softmax_rows(x, y, n / 128, 128, false); });
  const std::vector<float> scale = random_floats(768);
  time_elements("layer_norm 128 rows of 768:", 128 * 768, [&](const float* x, float* y, int64_t n) {
    layer_norm_rows(x, scale.data(), scale.data(), 1e-5f, y, nullptr, nullptr, n / 768, 768);
  });
  time_elements("mean 2048 rows of 49:", 2048 * 49,
                [](const float* x, float* y, int64_t n) { reduce_rows(Reduction::mean, x, y, n / 49, 49); });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  if (argc > 2) name_filter = argv[2];
  if (argc > 3) budget_seconds = std::atof(argv[3]);
  parallel = Parallel(ThreadPool::process_wide().get(), threads);

  const auto show_peak = [](const char* name, double speed) { std::printf("%-44s %10.4f ms %8.1f GFLOP/s\n", name, 1.0, speed); };
  peak = bench::peak_of(bench::multiply_add, parallel);
  show_peak("peak of multiply-add", peak);
  if (amx_usable()) {
    const double tiles = bench::peak_of(bench::multiply_tiles, parallel);
    show_peak("peak of tiles of bfloat16", tiles);
    show_peak("peak of tiles, six products a product", tiles / 6);
  }

  for (const Right form : {Right::packed, Right::unpacked, Right::amx, Right::amx_any_rows}) {
    const bool tiles = form >= Right::amx;
    if (tiles && !amx_usable()) continue;
    time_gemm(1024, 1024, 1024, form);
    for (const auto& [m, n, k] : {std::array{128, 768, 768}, std::array{128, 3072, 768}, std::array{128, 768, 3072}})
      time_gemm(m, n, k, form);
    for (const auto& [m, n, k] : {std::array{49, 512, 4608}, std::array{196, 256, 2304}, std::array{32, 4096, 4096}})
      time_gemm(m, n, k, form);
    if (tiles) continue;
    time_gemm(1, 2304, 768, form);
    time_gemm(1, 50257, 768, form);
    time_gemm(1, 1000, 2048, form);
    for (const int64_t m : {2, 8, 14, 16}) time_gemm(m, 4096, 4096, form);
  }
  time_batched(12, 128, 128, 64, true);
  time_batched(12, 128, 64, 128, false);
  time_batched(12, 1, 128, 64, true);
  time_batched(12, 1, 64, 128, false);

  const int64_t resnet50[][6] = {{3, 64, 1, 224, 7, 2},   {64, 64, 1, 56, 1, 1},    {64, 64, 1, 56, 3, 1},   {64, 256, 1, 56, 1, 1},
                                 {256, 64, 1, 56, 1, 1},  {128, 128, 1, 56, 3, 2},  {256, 512, 1, 56, 1, 2}, {1024, 2048, 1, 14, 1, 2},
                                 {512, 512, 1, 14, 3, 2}, {256, 256, 1, 28, 3, 2},  {128, 128, 1, 28, 3, 1}, {128, 512, 1, 28, 1, 1},
                                 {256, 256, 1, 14, 3, 1}, {1024, 256, 1, 14, 1, 1}, {512, 512, 1, 7, 3, 1},  {512, 2048, 1, 7, 1, 1},
                                 {2048, 512, 1, 7, 1, 1}};
  for (const auto& c : resnet50) time_conv(c[0], c[1], c[2], c[3], c[4], c[5]);
  const int64_t mobilenet[][6] = {{3, 16, 1, 224, 3, 2},     {16, 16, 16, 112, 3, 1},   {16, 64, 1, 112, 1, 1},
                                  {64, 64, 64, 112, 3, 2},   {72, 72, 72, 56, 5, 2},    {120, 120, 120, 28, 5, 1},
                                  {240, 240, 240, 28, 3, 2}, {480, 480, 480, 14, 3, 1}, {672, 672, 672, 14, 5, 2},
                                  {960, 960, 960, 7, 5, 1},  {960, 160, 1, 7, 1, 1},    {960, 1280, 1, 1, 1, 1}};
  for (const auto& c : mobilenet) time_conv(c[0], c[1], c[2], c[3], c[4], c[5]);
  time_pool(64, 112, 3, 2, 1);
  time_elementwise();
}
