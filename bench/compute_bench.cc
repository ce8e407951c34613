// Times the numeric library on the shapes of well-known models: compute_bench [threads] [--benchmark_filter=... and the like].
// Beside the mean time of Google Benchmark, the counters tell of the least time: its milliseconds, GFLOP/s, and their share of what
// multiply-adds of registers alone reach in the same run (above 100 % where fewer products are made than counted, or AMX tiles make them).
// compare_compute.py sets them beside another runtime.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "compute/conv/blocked/conv_blocked.h"
#include "compute/conv/conv.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_fip.h"
#include "compute/image/pool.h"
#include "compute/move/copy.h"
#include "compute/quant/int8_gemm.h"
#include "compute/reduce/row_math.h"
#include "least_time.h"
#include "peak.h"

namespace {

using namespace rh;
using namespace rh::compute;

Parallel parallel;
double peak = 0;  // GFLOP/s

/// Values lie as tensors of a session do.
template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kAlignment); }
  bool operator==(const AlignedAllocator&) const { return true; }
};
using Floats = std::vector<float, AlignedAllocator<float>>;

Floats random_floats(int64_t count) {
  static std::mt19937 engine(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  Floats values(static_cast<size_t>(count));
  for (float& value : values) value = distribution(engine);
  return values;
}

/// Times what it is given, over and over.
using Timer = FunctionRef<void(FunctionRef<void()>)>;

/// `run` makes the data of the case and hands what is timed to the timer; it is called when the case runs, not when it is added.
void add_case(const std::string& name, double operations, std::function<void(Timer)> run) {
  const auto timed = [operations, run = std::move(run)](benchmark::State& state) {
    run([&](FunctionRef<void()> body) {
      body();
      const double least = bench::time_each(state, body);
      const double speed = operations / least * 1e-9;
      state.counters["least_ms"] = least * 1e3;
      state.counters["GFLOP/s"] = speed;
      state.counters["peak_percent"] = 100 * speed / peak;
    });
  };
  benchmark::RegisterBenchmark(name.c_str(), timed)->UseManualTime()->Unit(benchmark::kMillisecond);
}

enum class Right { unpacked, packed, fip, amx, amx_any_rows };

void add_gemm(int64_t m, int64_t n, int64_t k, Right form) {
  static constexpr const char* kForms[] = {" unpacked", "", " fip", " amx", " amx, any rows"};
  const bool packed = form != Right::unpacked;
  const PackedUse use{.fip = form == Right::fip, .amx = form >= Right::amx, .rows = form == Right::amx ? m : 0};
  const std::string name = "gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + kForms[static_cast<int>(form)];
  add_case(name, 2.0 * m * n * k, [=](Timer time) {
    const Floats a = random_floats(m * k), b = random_floats(k * n);
    Floats c(static_cast<size_t>(m * n));
    GemmArgs<float> args;
    args.m = m;
    args.n = n;
    args.k = k;
    const PackedMatrix<float> right = packed ? PackedMatrix<float>(b.data(), k, n, false, 0, use) : PackedMatrix<float>();
    time([&] {
      if (packed)
        gemm(args, a.data(), right, c.data(), parallel);
      else
        gemm(args, a.data(), b.data(), c.data(), parallel);
    });
  });
}

/// Of bytes; of weights that are spread as trained ones of one scale are, or evenly over all values.
void add_int8_gemm(int64_t m, int64_t n, int64_t k, bool is_even) {
  const std::string name =
      "int8 gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + (is_even ? " even weights" : "");
  add_case(name, 2.0 * m * n * k, [=](Timer time) {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal(0, 27);
    const std::vector<uint8_t> a(static_cast<size_t>(m * k), 100);
    std::vector<int8_t> b(static_cast<size_t>(n * k));
    for (int8_t& value : b)
      value = static_cast<int8_t>(is_even ? static_cast<int>(engine() % 255) - 127 : std::clamp(normal(engine), -127.f, 127.f));
    const PackedInt8Matrix right({b.data(), true}, k, n, false);
    std::vector<int32_t> c(static_cast<size_t>(m * n));
    time([&] {
      int8_gemm(
          {.m = m, .a = {a.data()}}, right,
          [&](const Int8Tile& tile) {
            for (int64_t i = 0; i < tile.rows; ++i) {
              std::copy_n(tile.sums + i * tile.stride, tile.columns, c.data() + (tile.row + i) * n + tile.column);
            }
          },
          parallel);
    });
  });
}

void add_batched(int64_t count, int64_t m, int64_t n, int64_t k, bool transposed) {
  const std::string name = "batched " + std::to_string(count) + "x" + std::to_string(m) + "x" + std::to_string(n) + "x" +
                           std::to_string(k) + (transposed ? " Bt" : "");
  add_case(name, 2.0 * count * m * n * k, [=](Timer time) {
    const Floats a = random_floats(count * m * k), b = random_floats(count * k * n);
    Floats c(static_cast<size_t>(count * m * n));
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
    time([&] { gemm_batched<float>(args, {count, a_at.data(), b_at.data(), c_at.data()}, a.data(), b.data(), c.data(), parallel); });
  });
}

/// Between blocks of channels; from planes where there are few.
void add_blocked_conv(const std::string& name, const ConvChannels& channels, const Window& w) {
  const BlockedInput input = channels.in < 8 ? BlockedInput::planes : BlockedInput::blocks;
  if (!BlockedConvolution::fits(channels, w, input)) return;
  const double operations = 2.0 * channels.out * w.output_size() * (channels.in / channels.groups) * w.kernel_size();
  add_case(name + " blocked", operations, [=](Timer time) {
    const int64_t in = input == BlockedInput::planes ? channels.in : channel_blocks(channels.in) * kChannelBlock;
    const Floats x = random_floats(in * w.input_size()), bias = random_floats(channels.out);
    const Floats weights = random_floats(channels.out * channels.in / channels.groups * w.kernel_size());
    Floats y(static_cast<size_t>(channel_blocks(channels.out) * kChannelBlock * w.output_size()));
    const BlockedConvolution conv(channels, w, weights.data(), bias.data(), {}, input);
    time([&] { conv.run(w, 1, x.data(), nullptr, y.data(), parallel); });
  });
}

void add_conv(int64_t in, int64_t out, int64_t groups, int64_t size, int64_t kernel, int64_t stride) {
  const std::string name = "conv " + std::to_string(in) + "->" + std::to_string(out) + " g" + std::to_string(groups) + " " +
                           std::to_string(size) + "x" + std::to_string(size) + " k" + std::to_string(kernel) + " s" +
                           std::to_string(stride);
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.input[d] = size;
    w.kernel[d] = kernel;
    w.stride[d] = stride;
    w.pad_begin[d] = kernel / 2;
    w.output[d] = (size + 2 * (kernel / 2) - kernel) / stride + 1;
  }
  add_case(name, 2.0 * out * w.output_size() * (in / groups) * w.kernel_size(), [=](Timer time) {
    const Floats x = random_floats(in * w.input_size()), weights = random_floats(out * in / groups * w.kernel_size());
    const Floats bias = random_floats(out);
    Floats y(static_cast<size_t>(out * w.output_size()));
    const Convolution<float> conv({in, out, groups}, w, weights.data(), bias.data(), {});
    time([&] { conv.run(w, 1, x.data(), nullptr, y.data(), parallel); });
  });
  add_blocked_conv(name, {in, out, groups}, w);
}

void add_pool(int64_t planes, int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  const std::string name = "max_pool " + std::to_string(planes) + " " + std::to_string(size) + "x" + std::to_string(size) + " k" +
                           std::to_string(kernel) + " s" + std::to_string(stride);
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.input[d] = size;
    w.kernel[d] = kernel;
    w.stride[d] = stride;
    w.pad_begin[d] = pad;
    w.output[d] = (size + 2 * pad - kernel) / stride + 1;
  }
  add_case(name, 1.0 * planes * w.output_size() * w.kernel_size(), [=](Timer time) {
    const Floats x = random_floats(planes * w.input_size());
    Floats y(static_cast<size_t>(planes * w.output_size()));
    time([&] { max_pool<float>(w, planes, x.data(), y.data(), nullptr, false, parallel); });
  });
}

/// One operation an element; serial, as its callers split the work.
void add_elements(const char* what, int64_t count, std::function<void(const float*, float*, int64_t)> body) {
  add_case(std::string(what) + " " + std::to_string(count), static_cast<double>(count), [count, body = std::move(body)](Timer time) {
    const Floats x = random_floats(count);
    Floats y(static_cast<size_t>(count));
    time([&] { body(x.data(), y.data(), count); });
  });
}

/// Rows of 4 KiB to where they lie so many bytes further modulo 4096: gigabytes a second in place of GFLOP/s.
void add_copies() {
  static constexpr int64_t kRow = 4096;
  for (const int64_t bytes : {int64_t{256} << 10, int64_t{8} << 20}) {
    for (const int64_t apart : {0, 4, 52}) {
      for (const bool own : {true, false}) {
        const std::string name = (own ? "copy " : "memcpy ") + std::to_string(bytes >> 10) + " KiB, " + std::to_string(apart) + " apart";
        add_case(name, static_cast<double>(bytes), [=](Timer time) {
          // At a multiple of 4096 both, but for what they are apart.
          std::vector<char> x(static_cast<size_t>(bytes + kRow)), y(static_cast<size_t>(bytes + 2 * kRow));
          const auto page = [](char* at) { return at + (kRow - reinterpret_cast<intptr_t>(at) % kRow) % kRow; };
          const char* from = page(x.data());
          char* to = page(y.data()) + apart;
          const volatile size_t known_later = kRow;  // else the compiler writes out memcpy
          const size_t row = known_later;
          time([&] {
            for (int64_t i = 0; i < bytes; i += kRow) own ? copy_bytes(from + i, to + i, row) : void(std::memcpy(to + i, from + i, row));
          });
        });
      }
    }
  }
  // Two values side by side in each row of a third one.
  for (const int64_t mebibytes : {4, 8, 16, 32}) {
    for (const bool past_caches : {false, true}) {
      const int64_t row = 16 << 10, rows = mebibytes * (int64_t{1} << 20) / row;
      add_case("join 2 x " + std::to_string(mebibytes) + " MiB" + (past_caches ? " past caches" : ""), static_cast<double>(2 * rows * row),
               [=](Timer time) {
                 const Floats a = random_floats(rows * row / 4), b = random_floats(rows * row / 4);
                 Floats y(static_cast<size_t>(2 * rows * row / 4));
                 time([&] {
                   copy_rows(a.data(), row, y.data(), 2 * row, rows, static_cast<size_t>(row), past_caches);
                   copy_rows(b.data(), row, y.data() + row / 4, 2 * row, rows, static_cast<size_t>(row), past_caches);
                   end_past_caches();
                 });
               });
    }
  }
}

void add_elementwise() {
  const struct {
    const char* name;
    Unary op;
  } unaries[] = {{"exp", Unary::exp},         {"log", Unary::log},   {"tanh", Unary::tanh},         {"erf", Unary::erf},
                 {"sigmoid", Unary::sigmoid}, {"relu", Unary::relu}, {"gelu_erf", Unary::gelu_erf}, {"hard_swish", Unary::hard_swish}};
  for (const auto& u : unaries) add_elements(u.name, 128 * 3072, [op = u.op](const float* x, float* y, int64_t n) { unary(op, x, y, n); });
  add_elements("add", 128 * 768, [](const float* x, float* y, int64_t n) { binary(Binary::add, x, x, y, n); });
  add_elements("softmax 1536 rows of 128:", 1536 * 128,
               [](const float* x, float* y, int64_t n) { softmax_rows(x, y, n / 128, 128, false); });
  add_elements("layer_norm 128 rows of 768:", 128 * 768, [scale = random_floats(768)](const float* x, float* y, int64_t n) {
    layer_norm_rows(x, scale.data(), scale.data(), 1e-5f, y, nullptr, nullptr, n / 768, 768);
  });
  add_elements("mean 2048 rows of 49:", 2048 * 49,
               [](const float* x, float* y, int64_t n) { reduce_rows(Reduction::mean, x, y, n / 49, 49); });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  parallel = Parallel(ThreadPool::process_wide().get(), threads);
  peak = bench::peak_of(bench::multiply_add, parallel);
  benchmark::AddCustomContext("peak of multiply-add, GFLOP/s", std::to_string(peak));
  if (amx_usable()) {
    const double tiles = bench::peak_of(bench::multiply_tiles, parallel);
    benchmark::AddCustomContext("peak of tiles of bfloat16, GFLOP/s", std::to_string(tiles));
    benchmark::AddCustomContext("peak of tiles, six products a product, GFLOP/s", std::to_string(tiles / 6));
  }

  for (const Right form : {Right::packed, Right::unpacked, Right::fip, Right::amx, Right::amx_any_rows}) {
    const bool tiles = form >= Right::amx;
    if (tiles && !amx_usable()) continue;
    if (form == Right::fip && !fip_kernels()) continue;
    add_gemm(1024, 1024, 1024, form);
    for (const auto& [m, n, k] : {std::array{128, 768, 768}, std::array{128, 3072, 768}, std::array{128, 768, 3072}})
      add_gemm(m, n, k, form);
    for (const auto& [m, n, k] : {std::array{49, 512, 4608}, std::array{196, 256, 2304}, std::array{32, 4096, 4096}})
      add_gemm(m, n, k, form);
    if (tiles) continue;
    add_gemm(1, 2304, 768, form);
    add_gemm(1, 50257, 768, form);
    add_gemm(1, 1000, 2048, form);
    for (const int64_t m : {2, 8, 14, 16}) add_gemm(m, 4096, 4096, form);
  }
  for (const bool is_even : {false, true}) {
    for (const auto& [m, n, k] : {std::array{128, 768, 768}, std::array{128, 3072, 768}, std::array{196, 256, 2304}})
      add_int8_gemm(m, n, k, is_even);
  }
  add_batched(12, 128, 128, 64, true);
  add_batched(12, 128, 64, 128, false);
  add_batched(12, 1, 128, 64, true);
  add_batched(12, 1, 64, 128, false);

  const int64_t resnet50[][6] = {{3, 64, 1, 224, 7, 2},   {64, 64, 1, 56, 1, 1},    {64, 64, 1, 56, 3, 1},   {64, 256, 1, 56, 1, 1},
                                 {256, 64, 1, 56, 1, 1},  {128, 128, 1, 56, 3, 2},  {256, 512, 1, 56, 1, 2}, {1024, 2048, 1, 14, 1, 2},
                                 {512, 512, 1, 14, 3, 2}, {256, 256, 1, 28, 3, 2},  {128, 128, 1, 28, 3, 1}, {128, 512, 1, 28, 1, 1},
                                 {256, 256, 1, 14, 3, 1}, {1024, 256, 1, 14, 1, 1}, {512, 512, 1, 7, 3, 1},  {512, 2048, 1, 7, 1, 1},
                                 {2048, 512, 1, 7, 1, 1}};
  for (const auto& c : resnet50) add_conv(c[0], c[1], c[2], c[3], c[4], c[5]);
  const int64_t mobilenet[][6] = {{3, 16, 1, 224, 3, 2},     {16, 16, 16, 112, 3, 1},   {16, 64, 1, 112, 1, 1},
                                  {64, 64, 64, 112, 3, 2},   {72, 72, 72, 56, 5, 2},    {120, 120, 120, 28, 5, 1},
                                  {240, 240, 240, 28, 3, 2}, {480, 480, 480, 14, 3, 1}, {672, 672, 672, 14, 5, 2},
                                  {960, 960, 960, 7, 5, 1},  {960, 160, 1, 7, 1, 1},    {960, 1280, 1, 1, 1, 1}};
  for (const auto& c : mobilenet) add_conv(c[0], c[1], c[2], c[3], c[4], c[5]);
  const int64_t of_more_taps[][6] = {{3, 96, 1, 224, 11, 4}, {3, 96, 1, 224, 7, 2}, {96, 256, 1, 54, 5, 2},
                                     {48, 128, 1, 26, 5, 1}, {32, 96, 1, 28, 5, 1}, {48, 128, 1, 14, 5, 1}};
  for (const auto& c : of_more_taps) add_conv(c[0], c[1], c[2], c[3], c[4], c[5]);
  add_pool(64, 112, 3, 2, 1);
  add_elementwise();
  add_copies();
  benchmark::RunSpecifiedBenchmarks();
}
