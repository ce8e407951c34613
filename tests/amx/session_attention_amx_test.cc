// Attention in sessions on a processor with AMX: what is chosen, what is told, and what comes out.
#include "amx/support.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

class SessionAttentionAmx : public AmxTest {};

std::string model(const std::string& length, const std::string& depth) {
  const std::string type = "float[1, 2, " + length + ", " + depth + "]";
  return R"(<ir_version: 10, opset_import: ["" : 23]>
g ()" + type +
         " q, " + type + " k, " + type + R"( v) => (float[...] y) { y = Attention (q, k, v) })";
}

SessionOptions with(const std::string& key, const std::string& value) {
  SessionOptions options;
  options.config[key] = value;
  return options;
}

std::string_view variant_of(const Session& session) {
  const auto list = session.variants();
  EXPECT_EQ(list.size(), 1u);
  return list.empty() ? std::string_view() : list[0].second.variant;
}

TEST_F(SessionAttentionAmx, says_how_it_computes) {
  const struct {
    const char *length, *depth, *asked, *expected;
  } rows[] = {
      {"500", "128", "", "amx"},         {"n", "128", "", "blocked_or_amx"}, {"500", "64", "", "blocked"},
      {"500", "128", "gemm", "blocked"}, {"500", "64", "amx", "amx"},        {"500", "300", "amx", "blocked"},
  };
  for (const auto& row : rows) {
    const auto session = make_session(model(row.length, row.depth), with("roundhouse.variant", row.asked));
    EXPECT_EQ(variant_of(*session), row.expected) << row.length << " keys of " << row.depth << ", asked for " << row.asked;
  }
}

Tensor ramp(int64_t length, int64_t depth, int64_t step) {
  Tensor tensor(DType::float32, {1, 2, length, depth});
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i * step % 97) / 31 - 1.5f;
  return tensor;
}

TEST_F(SessionAttentionAmx, results_are_those_of_multiply_add_under_every_precision) {
  const auto result = [&](const SessionOptions& options, bool by_tiles) {
    const auto session = make_session(model("70", "40"), options);
    const int64_t before = emulator_->instructions();
    auto y = run(*session, {{"q", ramp(70, 40, 1)}, {"k", ramp(70, 40, 7)}, {"v", ramp(70, 40, 3)}}, {"y"});
    EXPECT_TRUE(AmxEmulator::native() || (emulator_->instructions() > before) == by_tiles);
    return y;
  };
  const auto plain = result(with("roundhouse.variant", "gemm"), false);
  for (const char* precision : {"strict", "fp32", "fast", "bf16"}) {
    SessionOptions options = with("roundhouse.variant", "amx");
    options.config["roundhouse.precision"] = precision;
    const auto found = result(options, true);
    for (int64_t i = 0; i < plain[0].tensor().elements(); ++i)
      ASSERT_NEAR(found[0].tensor().data<float>()[i], plain[0].tensor().data<float>()[i], 1e-5) << precision << " at " << i;
  }
}

}  // namespace
}  // namespace rh::test
