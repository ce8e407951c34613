#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "failing_memory/client.h"
#include "failing_memory/failing_allocations.h"
#include "graph/text_parse.h"
#include "onnx/writer.h"
#include "support/memory_limit.h"
#include "support/sanitizers.h"

namespace rh::test {
namespace {

/// A call that failed for want of memory says so. Releases the status.
void expect_out_of_memory(OrtStatus* status) {
  EXPECT_NE(api().GetErrorCode(status), ORT_OK);
  EXPECT_NE(std::string(api().GetErrorMessage(status)).find("out of memory"), std::string::npos) << api().GetErrorMessage(status);
  api().ReleaseStatus(status);
}

struct Row {
  const char* purpose;
  const char* text;           ///< of a model from x [2, n] to y
  bool runs_in_place = true;  ///< once its shapes were seen: it makes no containers
};

const std::vector<Row> kRows = {
    {"products with packed weights",
     "g (float[2, 64] x) => (float[2, 64] y) < float[64, 64] w = {0.5, ...}, float[64] b = {1, ...} >\n"
     "{ a = MatMul (x, w) c = Add (a, b) d = Relu (c) e = MatMul (d, w) f = Softmax (e) y = LayerNormalization (f, b) }"},
    {"convolutions",
     "g (float[2, 256] x) => (float[...] y) < int64[4] s = {2, 4, 8, 8}, float[8, 4, 3, 3] w = {0.1, ...}, float[8, 1, 3, 3] v = {0.2, "
     "...},\n"
     "  float[8, 4, 2, 2] u = {0.3, ...} >\n"
     "{ a = Reshape (x, s) b = Conv <pads = [1, 1, 1, 1]> (a, w) c = Conv <group = 8> (b, v) d = MaxPool <kernel_shape = [2, 2]> (c)\n"
     "  y = ConvTranspose <strides = [2, 2]> (d, u) }"},
    {"a recurrent layer",
     "g (float[2, 6] x) => (float[...] y) < int64[3] s = {2, 1, 6}, float[1, 32, 6] w = {0.1, ...}, float[1, 32, 8] r = {0.2, ...} >\n"
     "{ a = Reshape (x, s) y = LSTM <hidden_size = 8> (a, w, r) }"},
    {"normalised groups",
     "g (float[2, 256] x) => (float[...] y) < int64[4] s = {2, 4, 8, 8}, float[2] w = {0.5, ...} >\n"
     "{ a = Reshape (x, s) y = GroupNormalization <num_groups = 2> (a, w, w) }"},
    {"attention",
     "g (float[2, 256] x) => (float[...] y) < int64[4] s = {2, 8, 4, 8}, float[8, 8] w = {0.1, ...}, float[] c = {0.3} >\n"
     "{ a = Reshape (x, s) q = Transpose <perm = [0, 2, 1, 3]> (a) k = Transpose <perm = [0, 2, 3, 1]> (a) p = MatMul (q, k)\n"
     "  m = Mul (p, c) n = Softmax <axis = -1> (m) o = MatMul (n, q) t = Transpose <perm = [0, 2, 1, 3]> (o) y = MatMul (t, w) }"},
    {"quantised values",
     "g (float[2, 64] x) => (float[2, 64] y) < uint8[64] z = {3, ...}, float[64] s = {0.1, ...} >\n"
     "{ q = QuantizeLinear <axis = 1> (x, s, z) y = DequantizeLinear <axis = 1> (q, s, z) }"},
    {"control flow",
     "g (float[2, n] x) => (float[...] y) < int64[] n = {3}, bool[] go = {1}, float[1] one = {1} >\n"
     "{ s = ReduceSum <keepdims = 0> (x) c = Greater (s, one)\n"
     "  b = If (c) < then_branch = yes () => (float[2, n] r) { r = Add (x, x) }, else_branch = no () => (float[2, n] q) { q = Neg (x) } >\n"
     "  y, all = Loop (n, go, b) < body = step (int64[] i, bool[] k, float[2, n] v) => (bool[] k2, float[2, n] v2, float[2, n] v3)\n"
     "    { k2 = Identity (k) v2 = Add (v, x) v3 = Mul (v, v) } > }"},
    {"sizes that only a run tells",
     "g (float[2, n] x) => (float[...] y) < int64[1] k = {2}, int64[1] all = {-1} >\n"
     "{ f = Reshape (x, all) i = NonZero (f) t = Transpose (i) u = Cast <to = 1> (t) p, q = TopK <axis = 0> (u, k) d = Unique (f) y = "
     "Concat <axis = 0> (d, f) }"},
    {"sequences",
     "g (float[2, n] x) => (float[...] y) < int64[] i = {1} >\n"
     "{ s = SplitToSequence <axis = 0> (x) e = SequenceAt (s, i) t = SequenceInsert (s, e) y = ConcatFromSequence <axis = 0> (t) }",
     false},
    {"integers",
     "g (float[2, 64] x) => (float[...] y) < uint8[64, 32] w = {3, ...}, uint8[] z = {1}, float[] s = {0.1} >\n"
     "{ q = QuantizeLinear (x, s, z) p = MatMulInteger (q, w, z, z) f = Cast <to = 1> (p) d = DequantizeLinear (q, s, z) r = ReduceMax "
     "(d)\n"
     "  y = Mul (f, r) }"},
    {"a quantised product, zero points and scales of columns",
     "g (float[2, 64] x) => (float[2, 32] y) < uint8[64, 32] w = {3, ...}, uint8[] z = {1}, float[] s = {0.1}, float[32] t = {0.2, ...},\n"
     "  uint8[32] u = {2, ...} >\n"
     "{ q = QuantizeLinear (x, s, z) p = QLinearMatMul (q, s, z, w, t, u, s, z) y = DequantizeLinear (p, s, z) }"},
    {"quantised products of two values",
     "g (float[2, 64] x) => (float[...] y) < int64[3] h = {2, 8, 8}, uint8[] z = {1}, float[] s = {0.1} >\n"
     "{ q = QuantizeLinear (x, s, z) r = Reshape (q, h) p = QLinearMatMul (r, s, z, r, s, z, s, z) y = DequantizeLinear (p, s, z) }"},
    {"a product of two values of integers",
     "g (float[2, 64] x) => (float[...] y) < uint8[] z = {1}, float[] s = {0.1} >\n"
     "{ q = QuantizeLinear (x, s, z) t = Transpose <perm = [1, 0]> (q) p = MatMulInteger (q, t, z, z) y = Cast <to = 1> (p) }"},
    {"quantised convolutions",
     "g (float[2, 256] x) => (float[...] y) < int64[4] h = {2, 4, 8, 8}, uint8[] z = {1}, float[] s = {0.1}, int8[8, 4, 3, 3] w = {2, "
     "...},\n"
     "  float[8] t = {0.2, ...}, int8[8] o = {0, ...}, int8[8, 1, 3, 3] v = {3, ...}, int8[] n = {0}, uint8[4, 8, 2, 2] i = {5, ...} >\n"
     "{ q = QuantizeLinear (x, s, z) a = Reshape (q, h) b = QLinearConv <pads = [1, 1, 1, 1]> (a, s, z, w, t, o, s, z)\n"
     "  c = QLinearConv <group = 8> (b, s, z, v, s, n, s, z) d = ConvInteger (c, i, z, z) y = Cast <to = 1> (d) }"},
    {"products of com.microsoft",
     "g (float[2, 64] x) => (float[...] y) < int8[64, 32] w = {3, ...}, uint8[] z = {1}, float[] s = {0.1}, float[32] t = {0.2, ...},\n"
     "  int8[32] u = {2, ...}, uint8[32, 16] v = {3, ...}, int32[16] c = {7, ...} >\n"
     "{ d = com.microsoft.DynamicQuantizeMatMul (x, w, t, u) q = QuantizeLinear (d, s, z)\n"
     "  f = com.microsoft.MatMulIntegerToFloat (q, v, s, s, z, z) g = com.microsoft.QGemm (q, s, z, v, s, z, c) y = Add (f, g) }"},
};

std::vector<float> input_of(const Row& row) {
  const std::string text = row.text;
  const size_t n = text.find("[2, 256]") != std::string::npos ? 256 : text.find("[2, 64]") != std::string::npos ? 64 : 6;
  std::vector<float> x(2 * n);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 2;
  return x;
}

std::string bytes_of_row(const Row& row) {
  Model model = parse_model("<ir_version: 10, opset_import: [\"\" : 18, \"com.microsoft\" : 1]>\n" + std::string(row.text));
  return onnx::write_model(model);
}

/// Calls work(allocations that fail) with failures farther and farther on until none is met; each of the first, then a sample.
template <typename Work>
void for_each_failure(bool on, Work&& work, int64_t least = 11) {
  const int64_t dense = kSanitized ? 20 : 120;
  int64_t n = 1, met = 0;
  for (; n < 10'000'000; n += n < dense ? 1 : 1 + n / 24) {
    if (!work(n, on)) break;
    ++met;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(met, least);
}

// Every call that fails says why; afterwards the same calls work and give what they gave before.
TEST(FailingMemory, LoadingFailsWithAMessage) {
  const Environment environment;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.purpose);
    const std::string model = bytes_of_row(row);
    std::vector<float> expected, again;
    expected.reserve(4096);
    again.reserve(4096);
    Client kept;  // sessions made beside it share its weights
    expect_ok(kept.open(environment, model));
    expect_ok(kept.run(expected, input_of(row)));
    for (const bool on : {false, true}) {
      for_each_failure(on, [&](int64_t n, bool goes_on) {
        Client client;
        FailingAllocations failing(n, goes_on);
        OrtStatus* status = client.open(environment, model);
        failing.stop();
        if (status) expect_out_of_memory(status);
        if (!status && !failing.failed()) return false;
        return true;
      });
    }
    Client fresh;
    expect_ok(fresh.open(environment, model));
    expect_ok(fresh.run(again, input_of(row)));
    EXPECT_EQ(again, expected);
    expect_ok(kept.run(again, input_of(row)));
    EXPECT_EQ(again, expected);
  }
}

void fail_runs(const Row& row, const Environment& environment, bool keeps_memory) {
  const std::string model = bytes_of_row(row);
  const std::vector<float> x = input_of(row);
  std::vector<float> expected, again;
  expected.reserve(4096);
  again.reserve(4096);
  Client reference;
  expect_ok(reference.open(environment, model));
  expect_ok(reference.run(expected, x));
  for (const bool on : {false, true}) {
    Client client;  // its first runs make its frames where they are not made with it
    expect_ok(client.open(environment, model, keeps_memory));
    const auto run = [&](int64_t n, bool goes_on) {
      SCOPED_TRACE(n);
      std::vector<float> given = x;
      FailingAllocations failing(n, goes_on);
      OrtStatus* status = client.run(again, std::move(given));
      failing.stop();
      const bool failed = failing.failed();
      if (status) expect_out_of_memory(status);
      if (n % 8 == 1) {
        expect_ok(client.run(again, x));
        EXPECT_EQ(again, expected);
        client.close();
        expect_ok(client.open(environment, model, keeps_memory));
      }
      return failed;
    };
    for_each_failure(on, run, keeps_memory ? 5 : 11);
    expect_ok(client.run(again, x));
    EXPECT_EQ(again, expected);
  }
}

TEST(FailingMemory, RunsFailWithAMessageAndTheSessionGoesOn) {
  const Environment environment;
  for (const Row& row : kRows) {
    for (const bool keeps_memory : {true, false}) {
      SCOPED_TRACE(std::string(row.purpose) + (keeps_memory ? "" : ", memory not kept"));
      fail_runs(row, environment, keeps_memory);
    }
  }
}

// Values of the caller's go in and out, as programs have them that ask for the least delay.
TEST(FailingMemory, ARunTakesNoMemoryOnceItsShapesWereSeen) {
  const Environment environment;
  for (const Row& row : kRows) {
    if (!row.runs_in_place) continue;
    SCOPED_TRACE(row.purpose);
    Client client;
    expect_ok(client.open(environment, bytes_of_row(row)));
    std::vector<float> x = input_of(row);
    OrtMemoryInfo* info = nullptr;
    OrtValue *input = nullptr, *output = nullptr;
    const int64_t shape[] = {2, static_cast<int64_t>(x.size() / 2)};
    expect_ok(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info));
    expect_ok(api().CreateTensorWithDataAsOrtValue(info, x.data(), x.size() * sizeof(float), shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                                   &input));
    const char* const in = "x";
    const char* const out = "y";
    for (int i = 0; i < 3; ++i) expect_ok(api().Run(client.session, nullptr, &in, &input, 1, &out, 1, &output));
    const FailingAllocations counted(int64_t{1} << 60, false);
    for (int i = 0; i < 5; ++i) expect_ok(api().Run(client.session, nullptr, &in, &input, 1, &out, 1, &output));
    EXPECT_EQ(counted.count(), 0);
    api().ReleaseValue(output);
    api().ReleaseValue(input);
    api().ReleaseMemoryInfo(info);
  }
}

// Iterations of Loop and Scan write what they give where earlier ones lay.
TEST(FailingMemory, IterationsTakeNoMemoryOfTheirOwn) {
  const Environment environment;
  const Row rows[] = {
      {"Loop",
       "g (float[2, n] x) => (float[2, n] y) < int64[] trips = {COUNT}, bool[] go = {1} >\n"
       "{ y = Loop (trips, go, x) < body = step (int64[] i, bool[] k, float[2, n] v) => (bool[] k2, float[2, n] v2)\n"
       "    { k2 = Identity (k) v2 = Add (v, x) } > }"},
      {"Scan",
       "g (float[2, n] x) => (float[2, n] y, float[...] z) < int64[3] all = {COUNT, 1, 1} >\n"
       "{ many = Expand (x, all) y, z = Scan <num_scan_inputs = 1> (x, many) < body = step (float[2, n] v, float[2, n] e) =>\n"
       "    (float[2, n] v2, float[2, n] s) { v2 = Add (v, e) s = Relu (v2) } > }"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.purpose);
    int64_t counts[2];
    for (const int i : {0, 1}) {
      std::string text = row.text;
      text.replace(text.find("COUNT"), 5, i == 0 ? "10" : "90");
      Client client;
      expect_ok(client.open(environment, bytes_of_row({row.purpose, text.c_str()})));
      std::vector<float> y;
      y.reserve(64);
      for (int k = 0; k < 3; ++k) expect_ok(client.run(y, input_of(row)));
      FailingAllocations counted(int64_t{1} << 60, false);
      expect_ok(client.run(y, input_of(row)));
      counted.stop();
      counts[i] = counted.count();
    }
    EXPECT_LE(counts[1] - counts[0], 8) << counts[0] << " with 10 iterations, " << counts[1] << " with 90";
  }
}

/// What RunAsync's callback was told.
struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  int calls = 0;
  OrtStatus* status = nullptr;
};

void tell(void* state, OrtValue**, size_t, OrtStatus* status) {
  Told& told = *static_cast<Told*>(state);
  const std::lock_guard lock(told.mutex);
  ++told.calls;
  told.status = status;
  told.changed.notify_all();
}

TEST(FailingMemory, AnAsynchronousRunIsRefusedOrCallsBack) {
  const Environment environment;
  const std::string model = bytes_of_row(kRows[0]);
  std::vector<float> x = input_of(kRows[0]);
  Client client;
  expect_ok(client.open(environment, model));
  OrtMemoryInfo* info = nullptr;
  OrtValue* input = nullptr;
  const int64_t shape[] = {2, 64};
  expect_ok(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info));
  expect_ok(api().CreateTensorWithDataAsOrtValue(info, x.data(), x.size() * sizeof(float), shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                                 &input));
  const char* const in = "x";
  const char* const out = "y";
  for (const bool on : {false, true}) {
    for_each_failure(on, [&](int64_t n, bool goes_on) {
      Told told;
      OrtValue* output = nullptr;
      FailingAllocations failing(n, goes_on);
      OrtStatus* status = api().RunAsync(client.session, nullptr, &in, &input, 1, &out, 1, &output, tell, &told);
      if (!status) {
        std::unique_lock lock(told.mutex);
        told.changed.wait(lock, [&] { return told.calls > 0; });
        status = told.status;
      } else {
        EXPECT_EQ(told.calls, 0);
      }
      failing.stop();
      const bool failed = failing.failed();
      if (status) expect_out_of_memory(status);
      api().ReleaseValue(output);
      return failed;
    });
  }
  api().ReleaseValue(input);
  api().ReleaseMemoryInfo(info);
}

// An allocator of the caller that has nothing to give.
TEST(FailingMemory, AnAllocatorOfTheCallerMayFail) {
  const Environment environment;
  Client client;
  expect_ok(client.open(environment, bytes_of_row(kRows[0])));
  static OrtMemoryInfo* info = nullptr;
  expect_ok(api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &info));
  OrtAllocator none{};
  none.version = ORT_API_VERSION;
  none.Alloc = [](OrtAllocator*, size_t) -> void* { return nullptr; };
  none.Free = [](OrtAllocator*, void*) {};
  none.Info = [](const OrtAllocator*) -> const OrtMemoryInfo* { return info; };
  char* name = nullptr;
  const int64_t shape[] = {2, 64};
  OrtValue* value = nullptr;
  OrtStatus* statuses[] = {api().SessionGetInputName(client.session, 0, &none, &name),
                           api().SessionGetOutputName(client.session, 0, &none, &name),
                           api().SessionEndProfiling(client.session, &none, &name),
                           api().CreateTensorAsOrtValue(&none, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value)};
  for (OrtStatus* status : statuses) expect_out_of_memory(status);
  EXPECT_EQ(name, nullptr);
  EXPECT_EQ(value, nullptr);
  api().ReleaseMemoryInfo(info);
}

// Limits of the system from far too little to plenty: a child process runs the model or says what it lacks.
TEST(FailingMemory, AProcessWithoutMemorySaysSo) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes";
  const Environment environment;
  const std::string model =
      bytes_of_row({"",
                    "g (float[2, 512] x) => (float[2, 512] y) < float[512, 2048] w = {0.5, ...}, float[2048, 512] v = {0.25, ...} >\n"
                    "{ a = MatMul (x, w) b = Relu (a) y = MatMul (b, v) }"});
  int ran = 0, refused = 0;
  for (size_t more = size_t{128} << 10; more <= size_t{256} << 20; more *= 2) {
    const pid_t child = ::fork();
    if (child == 0) {
      const MemoryLimit limit(more);
      Client client;
      std::vector<float> y;
      OrtStatus* status = client.open(environment, model);
      if (!status) status = client.run(y, std::vector<float>(1024, 1.0f));
      if (!status) std::_Exit(0);
      std::_Exit(std::strstr(api().GetErrorMessage(status), "out of memory") ? 1 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " with " << more << " bytes";
    ASSERT_LE(WEXITSTATUS(status), 1) << more;
    ++(WEXITSTATUS(status) == 0 ? ran : refused);
  }
  EXPECT_GT(ran, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace rh::test
