// Weights that are not in the model: external data in memory, initializers that the caller has, weights that sessions share.
#include <map>

#include "library.h"
#include "model_bytes.h"

namespace rh::test {
namespace {

class WeightsTest : public ApiTest {
 protected:
  WeightsTest() { options.SetIntraOpNumThreads(1); }

  /// y = x + w + v, with w and v in the external file "weights.bin".
  static std::string model() {
    return ModelBytes()
        .node("Add", {"x", "w"}, {"a"})
        .node("Add", {"a", "v"}, {"y"})
        .external_initializer("w", {3}, "weights.bin", 0)
        .external_initializer("v", {3}, "weights.bin", 12)
        .input("x", 1, {3})
        .output("y", 1, {3})
        .model();
  }

  std::vector<float> run() {
    const std::string bytes = model();
    Ort::Session session(env, bytes.data(), bytes.size(), options);
    return run(session);
  }
  std::vector<float> run(Ort::Session& session) {
    std::vector<float> x{1, 2, 3};
    const int64_t shape[] = {3};
    const Ort::Value input = Ort::Value::CreateTensor<float>(cpu, x.data(), 3, shape, 1);
    const char* in = "x";
    const char* out = "y";
    const auto results = session.Run(Ort::RunOptions(), &in, &input, 1, &out, 1);
    const float* data = results[0].GetTensorData<float>();
    return {data, data + 3};
  }
  OrtErrorCode load_code() {
    const std::string bytes = model();
    OrtSession* session = nullptr;
    const OrtErrorCode code = code_of(api.CreateSessionFromArray(env, bytes.data(), bytes.size(), options, &session));
    api.ReleaseSession(session);
    return code;
  }

  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "test"};
  Ort::SessionOptions options;
  std::vector<float> weights{10, 20, 30, 100, 200, 300};
};

TEST_F(WeightsTest, FilesInMemoryStandForExternalFiles) {
  options.AddExternalInitializersFromFilesInMemory({ORT_TSTR("weights.bin")}, {reinterpret_cast<char*>(weights.data())},
                                                   {weights.size() * sizeof(float)});
  EXPECT_EQ(run(), (std::vector<float>{111, 222, 333}));
}

TEST_F(WeightsTest, FilesInMemoryAreHeldToTheirSize) {
  options.AddExternalInitializersFromFilesInMemory({ORT_TSTR("weights.bin")}, {reinterpret_cast<char*>(weights.data())}, {20});
  EXPECT_NE(load_code(), ORT_OK);
}

TEST_F(WeightsTest, AFileThatIsNotGivenIsMissed) {
  options.AddExternalInitializersFromFilesInMemory({ORT_TSTR("other.bin")}, {reinterpret_cast<char*>(weights.data())}, {24});
  EXPECT_NE(load_code(), ORT_OK);
}

TEST_F(WeightsTest, ExternalInitializersMayBeTheCallers) {
  const int64_t shape[] = {3};
  std::vector<Ort::Value> values;
  values.push_back(Ort::Value::CreateTensor<float>(cpu, weights.data(), 3, shape, 1));
  values.push_back(Ort::Value::CreateTensor<float>(cpu, weights.data() + 3, 3, shape, 1));
  options.AddExternalInitializers({"w", "v"}, values);
  EXPECT_EQ(run(), (std::vector<float>{111, 222, 333}));
}

TEST_F(WeightsTest, SomeMayBeTheCallersAndSomeInFiles) {
  const int64_t shape[] = {3};
  std::vector<float> w{-1, -2, -3};
  std::vector<Ort::Value> values;
  values.push_back(Ort::Value::CreateTensor<float>(cpu, w.data(), 3, shape, 1));
  options.AddExternalInitializers({"w"}, values);
  options.AddExternalInitializersFromFilesInMemory({ORT_TSTR("weights.bin")}, {reinterpret_cast<char*>(weights.data())}, {24});
  EXPECT_EQ(run(), (std::vector<float>{100, 200, 300}));
}

TEST_F(WeightsTest, ExternalInitializersMustFit) {
  const int64_t shape[] = {2};
  std::vector<Ort::Value> values;
  values.push_back(Ort::Value::CreateTensor<float>(cpu, weights.data(), 2, shape, 1));
  options.AddExternalInitializers({"w"}, values);
  options.AddExternalInitializersFromFilesInMemory({ORT_TSTR("weights.bin")}, {reinterpret_cast<char*>(weights.data())}, {24});
  EXPECT_NE(load_code(), ORT_OK);
}

// A container outlives sessions; theirs give what sessions without it give.
TEST_F(WeightsTest, SessionsShareAContainerOfPackedWeights) {
  std::vector<float> w(64 * 64);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 17) / 16;
  const std::string bytes = ModelBytes()
                                .node("MatMul", {"x", "w"}, {"y"})
                                .external_initializer("w", {64, 64}, "weights.bin", 0)
                                .input("x", 1, {"N", 64})
                                .output("y", 1, {"N", 64})
                                .model();
  options.AddExternalInitializersFromFilesInMemory({ORT_TSTR("weights.bin")}, {reinterpret_cast<char*>(w.data())},
                                                   {w.size() * sizeof(float)});
  std::vector<float> x(64, 0.5f);
  const auto run_with = [&](OrtPrepackedWeightsContainer* container) {
    Ort::Session session(env, bytes.data(), bytes.size(), options, container);
    const int64_t shape[] = {1, 64};
    const Ort::Value input = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), shape, 2);
    const char* in = "x";
    const char* out = "y";
    const auto results = session.Run(Ort::RunOptions(), &in, &input, 1, &out, 1);
    const float* data = results[0].GetTensorData<float>();
    return std::vector<float>(data, data + 64);
  };
  const Ort::PrepackedWeightsContainer container;
  const std::vector<float> alone = run_with(nullptr);
  EXPECT_EQ(run_with(container), alone);
  EXPECT_EQ(run_with(container), alone);
}

}  // namespace
}  // namespace rh::test
