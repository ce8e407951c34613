// Domains of custom operators that a plugin's factory brings, in Roundhouse, and with RH_CAPI_LIBRARY in another runtime.
#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kDomains[] = "DomainsExecutionProvider", kLibrary[] = RH_BUILD_DIR "/lib/custom_ops_plugin.so";

class FactoryDomainsTest : public PluginTest {
 protected:
  void SetUp() override { register_library("domains", test_plugin("domains")); }

  /// y = op(x).
  static std::string model(const char* op, const char* domain) {
    return ModelBytes().custom(op, domain, {"x"}, {"y"}).import(domain, 1).input("x", 1, {2}).output("y", 1, {2}).model();
  }
  Floats result_of(const std::string& model, const Ort::SessionOptions& options) {
    Ort::Session session = session_of(model, options);
    Floats x = {1, -4};
    const int64_t dims[] = {2};
    const char *input = "x", *output = "y";
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 1);
    const auto results = session.Run(Ort::RunOptions{nullptr}, &input, &value, 1, &output, 1);
    const auto* data = results[0].GetTensorData<float>();
    return Floats(data, data + 2);
  }
};

TEST_F(FactoryDomainsTest, TheCpuRunsWhatTheProviderLeaves) {
  EXPECT_EQ(result_of(model("Thrice", "test.plugin"), options_for(kDomains)), (Floats{3, -12}));
}

TEST_F(FactoryDomainsTest, TheProviderCompilesItsOwn) {
  EXPECT_EQ(result_of(model("Quarter", "test.plugin"), options_for(kDomains)), (Floats{0.25f, -1}));
}

TEST_F(FactoryDomainsTest, WithoutTheProviderTheyAreNotKnown) {
  const std::string message = message_of([&] { result_of(model("Thrice", "test.plugin"), Ort::SessionOptions()); });
  EXPECT_NE(message.find("Thrice"), std::string::npos) << message;
}

TEST_F(FactoryDomainsTest, ADomainOfTheProgramGoesFirst) {
  EXPECT_EQ(result_of(model("Twice", "test.ops"), options_for(kDomains)), (Floats{-2, 8}));
  Ort::SessionOptions options;
  options.RegisterCustomOpsLibrary(kLibrary);
  const auto devices = devices_of(kDomains);
  Ort::ThrowOnError(api.SessionOptionsAppendExecutionProvider_V2(options, env(), devices.data(), devices.size(), nullptr, nullptr, 0));
  EXPECT_EQ(result_of(model("Twice", "test.ops"), options), (Floats{2, -8}));
  EXPECT_EQ(result_of(model("Thrice", "test.plugin"), options), (Floats{3, -12}));
}

TEST_F(FactoryDomainsTest, TheOrderDoesNotMatter) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library refuses a domain that the provider brought before";
  Ort::SessionOptions options = options_for(kDomains);
  options.RegisterCustomOpsLibrary(kLibrary);
  EXPECT_EQ(result_of(model("Twice", "test.ops"), options), (Floats{2, -8}));
}

TEST_F(FactoryDomainsTest, OptionsServeSeveralSessions) {
  const Ort::SessionOptions options = options_for(kDomains);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(result_of(model("Thrice", "test.plugin"), options), (Floats{3, -12}));
}

}  // namespace
}  // namespace rh::test
