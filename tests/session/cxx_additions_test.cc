#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/text_parse.h"
#include "onnx/writer.h"
#include "roundhouse/roundhouse_cxx_api.h"

namespace rh::test {
namespace {

TEST(CxxAdditions, TellTheMemoryOfARunAndGiveItBack) {
  const std::string model = onnx::write_model(
      parse_model("<ir_version: 10, opset_import: [\"\" : 18]>\ng (float[N, 64] x) => (float[N, 64] y) < float[64, 64] w = {1, ...} >\n"
                  "{ a = MatMul (x, w) b = Softmax (a) y = MatMul (b, w) }"));
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL, "test");
  Ort::Session session(env, model.data(), model.size(), Ort::SessionOptions());
  const auto by_shape = nlohmann::json::parse(roundhouse::MemoryPlan(session, {{"x", {100, 64}}}));
  const auto by_name = nlohmann::json::parse(roundhouse::MemoryPlan(session, {}, {{"N", 100}}));
  EXPECT_EQ(by_shape, by_name);
  EXPECT_GE(by_shape["arena_bytes"].get<size_t>(), 100 * 64 * sizeof(float));
  EXPECT_EQ(by_shape["output_bytes"].get<size_t>(), 100 * 64 * sizeof(float));
  EXPECT_THROW(roundhouse::MemoryPlan(session, {{"q", {1}}}), Ort::Exception);

  std::vector<float> x(100 * 64, 1.0f);
  const int64_t shape[] = {100, 64};
  const auto cpu = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  const Ort::Value input = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), shape, 2);
  const char* in = "x";
  const char* out = "y";
  session.Run(Ort::RunOptions(), &in, &input, 1, &out, 1);
  EXPECT_GE(roundhouse::Trim(session), 100 * 64 * sizeof(float));
}

}  // namespace
}  // namespace rh::test
