// Arrays of handles: with nulls, with one handle several times, and with handles of another kind, every call fails or works, and frees
// nothing of the caller's.
#include "library.h"
#include "model_bytes.h"

namespace rh::test {
namespace {

class HandleArraysTest : public ApiTest {
 protected:
  Ort::Value floats(std::vector<float>& data) {
    const int64_t size = static_cast<int64_t>(data.size());
    return Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), &size, 1);
  }
  Ort::Value string_keys() {
    const int64_t size = 3;
    Ort::Value keys = Ort::Value::CreateTensor(allocator, &size, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
    const char* texts[] = {"a", "b", "c"};
    keys.FillStringTensor(texts, 3);
    return keys;
  }

  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "handles"};
  Ort::SessionOptions options;
  std::vector<float> data{1, 2, 3};
};

TEST_F(HandleArraysTest, OfSequencesAndMaps) {
  const Ort::Value value = floats(data);
  const OrtValue *twice[] = {value, value}, *with_null[] = {value, nullptr};
  OrtValue* out = nullptr;
  EXPECT_NE(code_of(api.CreateValue(with_null, 2, ONNX_TYPE_SEQUENCE, &out)), ORT_OK);
  EXPECT_EQ(out, nullptr);
  Ort::ThrowOnError(api.CreateValue(twice, 2, ONNX_TYPE_SEQUENCE, &out));
  const Ort::Value sequence(out);
  EXPECT_EQ(sequence.GetValue(1, allocator).GetTensorData<float>()[2], 3);
  const OrtValue* of_another_kind[] = {sequence, value};
  out = nullptr;
  EXPECT_NE(code_of(api.CreateValue(of_another_kind, 2, ONNX_TYPE_SEQUENCE, &out)), ORT_OK);
  EXPECT_NE(code_of(api.CreateValue(of_another_kind, 2, ONNX_TYPE_MAP, &out)), ORT_OK);
  EXPECT_NE(code_of(api.CreateValue(with_null, 2, ONNX_TYPE_MAP, &out)), ORT_OK);
  EXPECT_EQ(value.GetTensorData<float>()[0], 1);
}

TEST_F(HandleArraysTest, OfRuns) {
  const std::string bytes = ModelBytes().node("Add", {"a", "b"}, {"y"}).input("a", 1, {3}).input("b", 1, {3}).output("y", 1, {3}).model();
  Ort::Session session(env, bytes.data(), bytes.size(), options);
  const Ort::Value value = floats(data);
  const char *names[] = {"a", "b"}, *y = "y";
  const OrtValue *twice[] = {value, value}, *with_null[] = {value, nullptr};
  OrtValue* out = nullptr;
  Ort::ThrowOnError(api.Run(session, nullptr, names, twice, 2, &y, 1, &out));
  EXPECT_EQ(Ort::Value(out).GetTensorData<float>()[2], 6);
  // Of a name that stands twice the last value counts.
  std::vector<float> others{10, 20, 30};
  const Ort::Value other = floats(others);
  const char* repeated[] = {"a", "b", "a"};
  const OrtValue* three[] = {value, value, other};
  out = nullptr;
  Ort::ThrowOnError(api.Run(session, nullptr, repeated, three, 3, &y, 1, &out));
  EXPECT_EQ(Ort::Value(out).GetTensorData<float>()[2], 33);
  out = nullptr;
  EXPECT_NE(code_of(api.Run(session, nullptr, names, with_null, 2, &y, 1, &out)), ORT_OK);
  const Ort::Value map = Ort::Value::CreateMap(string_keys(), floats(data));
  const OrtValue* of_another_kind[] = {value, map};
  EXPECT_NE(code_of(api.Run(session, nullptr, names, of_another_kind, 2, &y, 1, &out)), ORT_OK);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(value.GetTensorData<float>()[2], 3);
}

TEST_F(HandleArraysTest, OfInitializers) {
  const Ort::Value value = floats(data);
  const char *names[] = {"a", "b"}, *same[] = {"a", "a"};
  const OrtValue *twice[] = {value, value}, *with_null[] = {value, nullptr};
  EXPECT_NE(code_of(api.AddExternalInitializers(options, names, with_null, 2)), ORT_OK);
  EXPECT_NE(code_of(api.AddExternalInitializers(options, same, twice, 2)), ORT_OK);
  Ort::SessionOptions others;
  EXPECT_EQ(code_of(api.AddExternalInitializers(others, names, twice, 2)), ORT_OK);
  EXPECT_EQ(value.GetTensorData<float>()[1], 2);
}

TEST_F(HandleArraysTest, OfDevices) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  Ort::ThrowOnError(api.GetEpDevices(env, &devices, &count));
  ASSERT_GT(count, 0u);
  const OrtEpDevice* with_null[] = {devices[0], nullptr};
  EXPECT_NE(code_of(api.SessionOptionsAppendExecutionProvider_V2(options, env, with_null, 2, nullptr, nullptr, 0)), ORT_OK);
  EXPECT_NE(code_of(api.SessionOptionsAppendExecutionProvider_V2(options, env, devices, 0, nullptr, nullptr, 0)), ORT_OK);
}

}  // namespace
}  // namespace rh::test
