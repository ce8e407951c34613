#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "graph/text_parse.h"
#include "onnx/writer.h"
#include "session/session.h"
#include "settings/keys.h"
#include "support/memory_limit.h"

namespace rh::test {
namespace {

constexpr size_t kAllowed = size_t{64} << 20;

enum Outcome : int { kRan = 0, kRefusedAtLoad = 1, kRefusedAtRun = 2, kOutOfMemoryAtLoad = 3, kOutOfMemoryAtRun = 4 };

// Loads within the limit. A run has it too unless the model is refused before; `inputs` are numbers for its int64[1] inputs.
Outcome outcome_of(const std::string& bytes, const std::string& max_tensor_bytes) {
  SessionOptions options;
  options.intra_op_threads = 1;
  options.config[kKeyOf<&Settings::max_tensor_bytes>] = max_tensor_bytes;
  std::unique_ptr<Session> session;
  try {
    session = Session::create(std::as_bytes(std::span(bytes)), options);
  } catch (const Error&) {
    return kRefusedAtLoad;
  } catch (const std::bad_alloc&) {
    return kOutOfMemoryAtLoad;
  }
  std::vector<const char*> names;
  for (const ValueInfo& info : session->outputs()) names.push_back(info.name.c_str());
  std::vector<const char*> input_names;
  const Value size = Tensor::ints(std::vector<int64_t>{int64_t{1} << 36});
  std::vector<const Value*> inputs;
  for (const ValueInfo& info : session->inputs()) {
    input_names.push_back(info.name.c_str());
    inputs.push_back(&size);
  }
  std::vector<Value> outputs(names.size());
  const Status status = session->run({}, input_names, inputs, names, outputs);
  if (status.ok()) return kRan;
  return status.message().find("out of memory") != std::string_view::npos ? kOutOfMemoryAtRun : kRefusedAtRun;
}

int in_child(const std::string& bytes, const std::string& max_tensor_bytes) {
  const pid_t child = ::fork();
  if (child == 0) {
    const MemoryLimit limit(kAllowed);
    std::_Exit(outcome_of(bytes, max_tensor_bytes));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

struct Row {
  const char* purpose;
  std::string body;  ///< what gives y, and the initializers before it
  Outcome expected = kRefusedAtRun;
  std::string inputs = "";
};

std::string twice(int times, const char* node) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += "  t" + std::to_string(i + 1) + " = " + node + " (t" + std::to_string(i) + ", t" + std::to_string(i) + ")\n";
  }
  return text + "  y = Identity (t" + std::to_string(times) + ")\n";
}

const std::vector<Row> kRows = {
    {"a constant of a shape", "< int64[1] s = {100000000} > { y = ConstantOfShape (s) }"},
    {"a constant of a shape that overflows", "< int64[3] s = {4611686018427387904, 8, 8} > { y = ConstantOfShape (s) }"},
    {"the largest dimension", "< int64[1] s = {9223372036854775807} > { y = ConstantOfShape (s) }"},
    {"a size from an input", "{ y = ConstantOfShape (n) }", kRefusedAtRun, "int64[1] n"},
    {"an expansion", "< float[1] x = {1}, int64[2] s = {20000, 20000} > { y = Expand (x, s) }"},
    {"an expansion by an input", "< float[1] x = {1} > { y = Expand (x, n) }", kRefusedAtRun, "int64[1] n"},
    {"repetitions", "< float[4] x = {1, 2, 3, 4}, int64[1] s = {100000000} > { y = Tile (x, s) }"},
    {"repetitions of nothing", "< float[0] x = {}, int64[1] s = {4611686018427387904} > { y = Tile (x, s) }", kRan},
    {"repeated sizes of nothing", "< int64[0] x = {}, int64[1] s = {4611686018427387904} > { y = Tile (x, s) }", kRan},
    {"a range", "< int64[] a = {0}, int64[] b = {1000000000}, int64[] c = {1} > { y = Range (a, b, c) }"},
    {"padding", "< float[1] x = {1}, int64[2] p = {0, 400000000} > { y = Pad (x, p) }"},
    {"a one-hot depth", "< int64[1] i = {1}, int64[] d = {400000000}, float[2] v = {0, 1} > { y = OneHot (i, d, v) }"},
    {"a diagonal matrix", "< int64[2] s = {30000, 30000} > { a = ConstantOfShape (s) y = EyeLike (a) }"},
    {"sizes of a resize", "< float[1, 1, 2] x = {1, 2}, int64[3] s = {1, 1, 400000000} > { y = Resize (x, _, _, s) }"},
    {"scales of a resize", "< float[1, 1, 2] x = {1, 2}, float[3] s = {1, 1, 1e8} > { y = Resize (x, _, s) }"},
    {"a centre with room around", "< float[1] x = {1}, int64[1] s = {400000000} > { y = CenterCropPad (x, s) }"},
    {"a transposed convolution's shape",
     "< float[1, 1, 1] x = {1}, float[1, 1, 1] w = {1} > { y = ConvTranspose <output_shape = [400000000]> (x, w) }"},
    {"a transposed convolution's stride",
     "< float[1, 1, 2] x = {1, 2}, float[1, 1, 1] w = {1} > { y = ConvTranspose <strides = [400000000]> (x, w) }"},
    {"concatenations in a row", "< float[64] t0 = {1, ...} > {\n" + twice(30, "Concat <axis = 0>") + "}"},
    {"additions in a row that grow by broadcasting",
     "< float[8192, 1] a = {1, ...}, float[8192] b = {1, ...} > { c = Add (a, b) y = Add (c, b) }"},
    {"a weight that is expanded",
     "< float[1] v = {1}, int64[2] s = {16384, 8192}, int64[2] t = {1, 16384} > { w = Expand (v, s) x = Expand (v, t) y = MatMul (x, w) }"},
    {"a weight of a shape",
     "< int64[4] s = {4096, 4096, 3, 3}, float[1] v = {1}, int64[4] t = {1, 4096, 3, 3} >\n"
     "{ w = ConstantOfShape (s) x = Expand (v, t) y = Conv (x, w) }"},
    {"a gather of many", "< float[1] x = {1}, int64[1] v = {0}, int64[1] s = {100000000} > { i = Expand (v, s) y = Gather (x, i) }"},
    {"a product that grows", "< float[20000, 1] a = {1, ...}, float[1, 20000] b = {1, ...} > { y = MatMul (a, b) }"},
    {"places of what is not zero", "< float[1] v = {1}, int64[2] s = {4000, 8000} > { x = Expand (v, s) y = NonZero (x) }"},
    {"a split into parts",
     "< float[1] v = {1}, int64[1] s = {100000000} > { x = Expand (v, s) q = SplitToSequence (x) y = SequenceLength (q) }"},
};

TEST(HostileModels, SmallOnesTakeLittleMemory) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.purpose);
    const std::string head = "<ir_version: 10, opset_import: [\"\" : 18]>\ng (" + row.inputs + ") => (float[...] y)\n";
    std::string text = head + row.body;
    std::string bytes;
    try {
      Model model = parse_model(text);
      model.graph->set_type(model.graph->outputs()[0], {});
      bytes = onnx::write_model(model);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    // Large constants of the text are large in the file as well: these rows grow from there.
    const size_t limit = std::max<size_t>(1024, 4 * 20'000 * 2 + 1024);
    EXPECT_LT(bytes.size(), row.body.find("...") == std::string::npos ? 1024 : limit);
    const int outcome = in_child(bytes, std::to_string(16 << 20));
    EXPECT_EQ(outcome, row.expected == kRefusedAtRun && outcome == kRefusedAtLoad ? kRefusedAtLoad : row.expected);
  }
}

// Without the option a tensor may take what the machine has: what is more fails all the same, as an error that names the node.
TEST(HostileModels, MoreThanTheMachineHasIsAnError) {
  const auto session =
      Session::create(parse_model("<ir_version: 10, opset_import: [\"\" : 18]>\n"
                                  "g (int64[2] n) => (float[N, M] y) { [big] y = ConstantOfShape (n) }"));
  const Value size = Tensor::ints(std::vector<int64_t>{int64_t{1} << 24, int64_t{1} << 24});
  const Value* const inputs[] = {&size};
  const char *const in[] = {"n"}, *const out[] = {"y"};
  Value outputs[1];
  const Status status = session->run({}, in, inputs, out, outputs);
  ASSERT_FALSE(status.ok());
  for (const char* part : {"node big", "[16777216, 16777216]", "1125899906842624 bytes", kKeyOf<&Settings::max_tensor_bytes>}) {
    EXPECT_NE(status.message().find(part), std::string_view::npos) << part << " in: " << status.message();
  }
}

}  // namespace
}  // namespace rh::test
