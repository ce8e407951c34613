// LoRA adapters: parameters that come from a file and replace initializers in the runs that ask for them.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "library.h"
#include "model_bytes.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::test {
namespace {

/// The FlatBuffer of an adapter with parameters of floats: every table has all of its fields, in order, and its vtable before it.
class AdapterBytes {
 public:
  explicit AdapterBytes(int32_t version = 1) : version_(version) {}
  AdapterBytes& parameter(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& data, int32_t type = 1) {
    parameters_.push_back({name, dims, data, type});
    return *this;
  }
  /// All parameters have the bytes of the last one.
  AdapterBytes& shares_data() {
    shares_data_ = true;
    return *this;
  }
  std::string bytes() {
    bytes_ = std::string(4, '\0') + "TORT";
    table();
    point(0, 4);
    put<int32_t>(version_);
    put<int32_t>(3);
    put<int32_t>(5);
    put<uint32_t>(0);
    point(bytes_.size() - 4);
    put(static_cast<uint32_t>(parameters_.size()));
    const size_t list = bytes_.size();
    bytes_.append(4 * parameters_.size(), '\0');
    for (size_t i = 0; i < parameters_.size(); ++i) {
      table();
      point(list + 4 * i, 4);
      write(parameters_[i]);
    }
    return bytes_;
  }

 private:
  struct Parameter {
    std::string name;
    std::vector<int64_t> dims;
    std::vector<float> data;
    int32_t type;
  };

  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  /// Makes the offset at this place lead to `back` bytes before the end.
  void point(size_t from, size_t back = 0) {
    const uint32_t offset = static_cast<uint32_t>(bytes_.size() - back - from);
    std::memcpy(bytes_.data() + from, &offset, 4);
  }
  /// Pads until what follows the next `before` bytes is aligned.
  void align(size_t to, size_t before = 0) {
    while ((bytes_.size() + before) % to != 0) bytes_ += '\0';
  }
  /// A vtable of four fields of 4 bytes, and the beginning of its table.
  void table() {
    align(4);
    for (const uint16_t entry : {12, 20, 4, 8, 12, 16}) put<uint16_t>(entry);
    put<int32_t>(12);  // back to the vtable
  }
  void write(const Parameter& parameter) {
    const size_t fields = bytes_.size();
    put<uint32_t>(0);
    put<uint32_t>(0);
    put<int32_t>(parameter.type);
    put<uint32_t>(0);
    point(fields);
    put(static_cast<uint32_t>(parameter.name.size()));
    bytes_ += parameter.name + '\0';
    align(8, 4);
    point(fields + 4);
    put(static_cast<uint32_t>(parameter.dims.size()));
    for (const int64_t dim : parameter.dims) put(dim);
    data_from_.push_back(fields + 12);
    if (shares_data_ && &parameter != &parameters_.back()) return;
    align(8, 4);
    for (const size_t from : data_from_) point(from);
    data_from_.clear();
    put(static_cast<uint32_t>(parameter.data.size() * sizeof(float)));
    for (const float value : parameter.data) put(value);
  }

  int32_t version_;
  bool shares_data_ = false;
  std::vector<Parameter> parameters_;
  std::vector<size_t> data_from_;  // fields that are to lead to the data that comes next
  std::string bytes_;
};

class LoraTest : public ApiTest {
 protected:
  LoraTest() { options.SetIntraOpNumThreads(1); }
  ~LoraTest() override {
    for (OrtLoraAdapter* adapter : adapters) api.ReleaseLoraAdapter(adapter);
  }

  /// y = x + a + b; a and b are initializers of zeros that a run may replace.
  Ort::Session session() {
    const std::string bytes = ModelBytes()
                                  .node("Add", {"x", "a"}, {"h"})
                                  .node("Add", {"h", "b"}, {"y"})
                                  .initializer("a", {0, 0})
                                  .initializer("b", {0, 0})
                                  .input("x", 1, {2})
                                  .input("a", 1, {2})
                                  .input("b", 1, {2})
                                  .output("y", 1, {2})
                                  .model();
    return Ort::Session(env, bytes.data(), bytes.size(), options);
  }
  OrtStatus* load(const std::string& bytes) {
    OrtLoraAdapter* adapter = nullptr;
    OrtStatus* status = api.CreateLoraAdapterFromArray(bytes.data(), bytes.size(), nullptr, &adapter);
    if (adapter) adapters.push_back(adapter);
    return status;
  }
  OrtStatus* run(Ort::Session& session, const Ort::RunOptions& run_options, std::vector<float>* result) {
    float x[] = {1, 2};
    const int64_t shape[] = {2};
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x, 2, shape, 1);
    const char *in = "x", *out = "y";
    const OrtValue* given = value;
    OrtValue* made = nullptr;
    OrtStatus* status = api.Run(session, run_options, &in, &given, 1, &out, 1, &made);
    if (made) {
      const Ort::Value y(made);
      result->assign(y.GetTensorData<float>(), y.GetTensorData<float>() + 2);
    }
    return status;
  }

  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "test"};
  Ort::SessionOptions options;
  std::vector<OrtLoraAdapter*> adapters;
};

TEST_F(LoraTest, ParametersReplaceInitializersInRunsWithTheAdapter) {
  Ort::Session target = session();
  Ort::ThrowOnError(load(AdapterBytes().parameter("a", {2}, {10, 20}).bytes()));
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "lora_test.onnx_adapter";
  std::ofstream(path, std::ios::binary) << AdapterBytes().parameter("b", {2}, {100, 200}).bytes();
  const Ort::LoraAdapter second = Ort::LoraAdapter::CreateLoraAdapter(path.native(), nullptr);
  std::filesystem::remove(path);

  std::vector<float> y;
  Ort::RunOptions with;
  Ort::ThrowOnError(api.RunOptionsAddActiveLoraAdapter(with, adapters[0]));
  Ort::ThrowOnError(run(target, with, &y));
  EXPECT_EQ(y, (std::vector<float>{11, 22}));
  with.AddActiveLoraAdapter(second);
  Ort::ThrowOnError(run(target, with, &y));
  EXPECT_EQ(y, (std::vector<float>{111, 222}));
  Ort::ThrowOnError(run(target, Ort::RunOptions(), &y));
  EXPECT_EQ(y, (std::vector<float>{1, 2}));
}

TEST_F(LoraTest, RunsWithABindingTakeParametersToo) {
  if (!Library::get().ours) GTEST_SKIP() << "the other library leaves adapters out of such runs";
  Ort::Session target = session();
  Ort::ThrowOnError(load(AdapterBytes().parameter("a", {2}, {10, 20}).bytes()));
  Ort::RunOptions with;
  Ort::ThrowOnError(api.RunOptionsAddActiveLoraAdapter(with, adapters[0]));
  float x[] = {1, 2};
  const int64_t shape[] = {2};
  Ort::IoBinding binding(target);
  binding.BindInput("x", Ort::Value::CreateTensor<float>(cpu, x, 2, shape, 1));
  binding.BindOutput("y", cpu);
  target.Run(with, binding);
  const std::vector<Ort::Value> y = binding.GetOutputValues();
  EXPECT_EQ(y[0].GetTensorData<float>()[0], 11);
  EXPECT_EQ(y[0].GetTensorData<float>()[1], 22);
}

TEST_F(LoraTest, ParametersCountMoreThanInputsAndThoseOfEarlierAdapters) {
  Ort::Session target = session();
  Ort::ThrowOnError(load(AdapterBytes().parameter("a", {2}, {10, 20}).bytes()));
  Ort::ThrowOnError(load(AdapterBytes().parameter("a", {2}, {30, 40}).parameter("b", {2}, {100, 200}).bytes()));
  Ort::RunOptions with;
  Ort::ThrowOnError(api.RunOptionsAddActiveLoraAdapter(with, adapters[0]));
  float x[] = {1, 2}, a[] = {5, 5};
  const int64_t shape[] = {2};
  const Ort::Value values[] = {Ort::Value::CreateTensor<float>(cpu, x, 2, shape, 1), Ort::Value::CreateTensor<float>(cpu, a, 2, shape, 1)};
  const char *in[] = {"x", "a"}, *out[] = {"y"};
  std::vector<Ort::Value> y = target.Run(with, in, values, 2, out, 1);
  EXPECT_EQ(y[0].GetTensorData<float>()[0], 11);
  EXPECT_EQ(y[0].GetTensorData<float>()[1], 22);
  Ort::ThrowOnError(api.RunOptionsAddActiveLoraAdapter(with, adapters[1]));
  y = target.Run(with, in, values, 2, out, 1);
  EXPECT_EQ(y[0].GetTensorData<float>()[0], 131);
  EXPECT_EQ(y[0].GetTensorData<float>()[1], 242);
}

TEST_F(LoraTest, RefusesParametersThatTheModelHasNotOrOfAnotherShape) {
  Ort::Session target = session();
  for (const std::string& bytes : {AdapterBytes().parameter("q", {2}, {1, 2}).bytes(), AdapterBytes().parameter("a", {1}, {1}).bytes()}) {
    Ort::ThrowOnError(load(bytes));
    Ort::RunOptions with;
    Ort::ThrowOnError(api.RunOptionsAddActiveLoraAdapter(with, adapters.back()));
    std::vector<float> y;
    EXPECT_EQ(code_of(run(target, with, &y)), ORT_INVALID_ARGUMENT);
  }
}

TEST_F(LoraTest, RefusesDamagedAdapters) {
  const std::string good = AdapterBytes().parameter("a", {2}, {1, 2}).bytes();
  Ort::ThrowOnError(load(good));
  EXPECT_EQ(code_of(load("")), ORT_FAIL);
  EXPECT_EQ(code_of(load("no adapter at all")), ORT_FAIL);
  EXPECT_EQ(code_of(load(AdapterBytes(2).parameter("a", {2}, {1, 2}).bytes())), ORT_FAIL);
  if (!Library::get().ours) return;
  for (size_t size = 0; size < good.size(); ++size) EXPECT_EQ(code_of(load(good.substr(0, size))), ORT_FAIL) << size;
  for (size_t at = 0; at < good.size(); ++at) {  // no byte makes it read beyond the data
    std::string changed = good;
    changed[at] = static_cast<char>(0xff);
    api.ReleaseStatus(load(changed));
  }
  EXPECT_EQ(code_of(load(AdapterBytes().parameter("a", {3}, {1, 2}).bytes())), ORT_FAIL);
  EXPECT_EQ(code_of(load(AdapterBytes().parameter("a", {2}, {1, 2}, 8).bytes())), ORT_FAIL);
  EXPECT_EQ(code_of(load(AdapterBytes().parameter("a", {2}, {1, 2}).parameter("a", {2}, {1, 2}).bytes())), ORT_FAIL);
  EXPECT_EQ(code_of(load(AdapterBytes().parameter("a", {int64_t{1} << 40}, {1}).bytes())), ORT_FAIL) << "no memory is taken for it";
  const std::vector<float> many(500, 1);  // longer than all else
  Ort::ThrowOnError(load(AdapterBytes().parameter("a", {500}, many).parameter("b", {500}, many).bytes()));
  EXPECT_EQ(code_of(load(AdapterBytes().parameter("a", {500}, many).parameter("b", {500}, many).shares_data().bytes())), ORT_FAIL);
}

/// A function of ours beside the ABI.
template <typename Function>
Function* own(const char* name) {
  return reinterpret_cast<Function*>(Library::get().function(name));
}

TEST_F(LoraTest, WritesWhatItReads) {
  if (!Library::get().ours) GTEST_SKIP() << "the other library has no such functions";
  const auto create = own<decltype(RhCreateEmptyLoraAdapter)>("RhCreateEmptyLoraAdapter");
  const auto load_file = own<decltype(RhLoadLoraAdapter)>("RhLoadLoraAdapter");
  const auto info_of = own<decltype(RhGetLoraAdapterInfo)>("RhGetLoraAdapterInfo");
  const auto parameter = own<decltype(RhGetLoraAdapterParameter)>("RhGetLoraAdapterParameter");
  const auto write = own<decltype(RhWriteLoraAdapter)>("RhWriteLoraAdapter");
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "lora_test_written.onnx_adapter";
  float data[] = {10, 20};
  const int64_t shape[] = {2};
  const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1);
  const OrtValue *given = value, *twice[] = {value, value};
  const char *name = "a", *names[] = {"a", "a"}, *empty = "";
  const RhLoraAdapterInfo one{0, 7, -3, 1}, two{0, 0, 0, 2};
  Ort::ThrowOnError(write(path.c_str(), &one, &name, &given));
  OrtLoraAdapter* adapter = nullptr;
  Ort::ThrowOnError(create(&adapter));
  adapters.push_back(adapter);
  RhLoraAdapterInfo info{};
  Ort::ThrowOnError(info_of(adapter, &info));
  EXPECT_EQ(info.parameter_count, 0u);

  Ort::Session target = session();
  Ort::RunOptions with;
  Ort::ThrowOnError(api.RunOptionsAddActiveLoraAdapter(with, adapter));
  std::vector<float> y;
  Ort::ThrowOnError(run(target, with, &y));
  EXPECT_EQ(y, (std::vector<float>{1, 2}));
  Ort::ThrowOnError(load_file(adapter, path.c_str()));
  Ort::ThrowOnError(run(target, with, &y));
  EXPECT_EQ(y, (std::vector<float>{11, 22}));

  Ort::ThrowOnError(info_of(adapter, &info));
  EXPECT_EQ(info.format_version, 1);
  EXPECT_EQ(info.adapter_version, 7);
  EXPECT_EQ(info.model_version, -3);
  ASSERT_EQ(info.parameter_count, 1u);
  const char* read_name = nullptr;
  OrtValue* read_value = nullptr;
  Ort::ThrowOnError(parameter(adapter, 0, &read_name, &read_value));
  EXPECT_STREQ(read_name, "a");
  EXPECT_EQ(Ort::Value(read_value).GetTensorData<float>()[1], 20);
  EXPECT_EQ(code_of(parameter(adapter, 1, &read_name, &read_value)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(parameter(nullptr, 0, &read_name, &read_value)), ORT_INVALID_ARGUMENT);

  EXPECT_EQ(code_of(write(path.c_str(), &two, names, twice)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(write(path.c_str(), &one, &empty, &given)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(write(path.c_str(), &one, nullptr, &given)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(write(path.c_str(), nullptr, &name, &given)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(write(ORT_TSTR("/nowhere/at/all"), &one, &name, &given)), ORT_FAIL);
  EXPECT_EQ(code_of(load_file(adapter, ORT_TSTR("/nowhere/at/all"))), ORT_NO_SUCHFILE);
  EXPECT_EQ(code_of(load_file(nullptr, path.c_str())), ORT_INVALID_ARGUMENT);
  Ort::ThrowOnError(run(target, with, &y));
  EXPECT_EQ(y, (std::vector<float>{11, 22})) << "what failed changed nothing";
  std::filesystem::remove(path);
}

TEST_F(LoraTest, RefusesNulls) {
  if (!Library::get().ours) GTEST_SKIP() << "the other library takes null for a crash";
  OrtLoraAdapter* adapter = nullptr;
  EXPECT_EQ(code_of(api.CreateLoraAdapter(nullptr, nullptr, &adapter)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.CreateLoraAdapter(ORT_TSTR("/nowhere"), nullptr, &adapter)), ORT_NO_SUCHFILE);
  EXPECT_EQ(code_of(api.CreateLoraAdapterFromArray(nullptr, 5, nullptr, &adapter)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.RunOptionsAddActiveLoraAdapter(nullptr, nullptr)), ORT_INVALID_ARGUMENT);
  api.ReleaseLoraAdapter(nullptr);
}

}  // namespace
}  // namespace rh::test
