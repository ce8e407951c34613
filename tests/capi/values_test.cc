// Values: tensors of every type, strings, sequences, maps, sparse tensors.
#include <numeric>

#include "library.h"

namespace rh::test {
namespace {

using ValuesTest = ApiTest;

struct TypeCase {
  ONNXTensorElementDataType type;
  const char* name;
  size_t bytes_of_five;
};

constexpr TypeCase kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "float", 20},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, "uint8", 5},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, "int8", 5},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, "uint16", 10},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, "int16", 10},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, "int32", 20},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, "int64", 40},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, "bool", 5},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, "float16", 10},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, "double", 40},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, "uint32", 20},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, "uint64", 40},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, "bfloat16", 10},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, "float8e4m3fn", 5},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, "float8e5m2", 5},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, "float8e8m0", 5},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, "uint4", 3},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, "int4", 3},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, "float4e2m1", 3},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, "uint2", 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, "int2", 2},
};

TEST_F(ValuesTest, EveryElementType) {
  const int64_t shape[] = {5};
  for (const TypeCase& row : kTypes) {
    SCOPED_TRACE(row.name);
    char memory[64] = {};
    Ort::Value value = Ort::Value::CreateTensor(cpu, memory, row.bytes_of_five, shape, 1, row.type);
    EXPECT_EQ(value.GetTensorMutableRawData(), memory);
    EXPECT_EQ(value.GetTensorSizeInBytes(), row.bytes_of_five);
    EXPECT_EQ(value.GetTensorTypeAndShapeInfo().GetElementType(), row.type);
    EXPECT_EQ(value.GetTypeInfo().GetTensorTypeAndShapeInfo().GetElementType(), row.type);
    OrtValue* out = nullptr;
    EXPECT_EQ(code_of(api.CreateTensorWithDataAsOrtValue(cpu, memory, row.bytes_of_five - 1, shape, 1, row.type, &out)),
              ORT_INVALID_ARGUMENT);
    Ort::Value allocated = Ort::Value::CreateTensor(allocator, shape, 1, row.type);
    EXPECT_EQ(allocated.GetTensorSizeInBytes(), row.bytes_of_five);
    EXPECT_NE(allocated.GetTensorRawData(), nullptr);
  }
}

TEST_F(ValuesTest, WrongTensors) {
  float data[6] = {};
  OrtValue* out = nullptr;
  const auto create = [&](std::vector<int64_t> shape, ONNXTensorElementDataType type) {
    return code_of(api.CreateTensorWithDataAsOrtValue(cpu, data, sizeof data, shape.data(), shape.size(), type, &out));
  };
  EXPECT_EQ(create({2, 4}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(create({-1, 3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(create({2}, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED), ORT_NOT_IMPLEMENTED);
  EXPECT_EQ(create({2}, static_cast<ONNXTensorElementDataType>(99)), ORT_NOT_IMPLEMENTED);
  EXPECT_NE(create({int64_t{1} << 40, int64_t{1} << 40}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT), ORT_OK);
}

TEST_F(ValuesTest, ScalarAndEmpty) {
  float data[1] = {4};
  Ort::Value scalar = Ort::Value::CreateTensor<float>(cpu, data, 1, nullptr, 0);
  EXPECT_EQ(scalar.GetTensorTypeAndShapeInfo().GetShape(), std::vector<int64_t>());
  EXPECT_EQ(scalar.GetTensorTypeAndShapeInfo().GetElementCount(), 1u);
  const int64_t shape[] = {0, 3};
  Ort::Value empty = Ort::Value::CreateTensor<float>(cpu, data, 0, shape, 2);
  EXPECT_EQ(empty.GetTensorTypeAndShapeInfo().GetElementCount(), 0u);
}

TEST_F(ValuesTest, TensorAt) {
  std::vector<float> data(6);
  std::iota(data.begin(), data.end(), 0.0f);
  const int64_t shape[] = {2, 3};
  Ort::Value value = Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), shape, 2);
  EXPECT_EQ(value.At<float>({1, 2}), 5);
  void* out = nullptr;
  const auto at = [&](std::vector<int64_t> position) { return code_of(api.TensorAt(value, position.data(), position.size(), &out)); };
  EXPECT_EQ(at({1, 3}), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(at({-1, 0}), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(at({1}), ORT_INVALID_ARGUMENT);
}

TEST_F(ValuesTest, MemoryInfoStays) {
  float data[2] = {};
  const int64_t shape[] = {2};
  Ort::Value value = Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1);
  EXPECT_TRUE(value.GetTensorMemoryInfo() == cpu.GetConst());
  EXPECT_EQ(value.GetTensorMemoryInfo().GetAllocatorName(), "Cpu");
}

struct CountingAllocator : OrtAllocator {
  explicit CountingAllocator(const OrtMemoryInfo* memory) : OrtAllocator{}, info(memory) {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator* self, size_t size) {
      ++static_cast<CountingAllocator*>(self)->live;
      return std::malloc(size);
    };
    Free = [](OrtAllocator* self, void* memory) {
      --static_cast<CountingAllocator*>(self)->live;
      std::free(memory);
    };
    Info = [](const OrtAllocator* self) { return static_cast<const CountingAllocator*>(self)->info; };
    Reserve = Alloc;
  }
  const OrtMemoryInfo* info;
  int live = 0;
};

TEST_F(ValuesTest, MemoryOfCallersAllocator) {
  CountingAllocator own(cpu);
  const int64_t shape[] = {4};
  {
    Ort::Value value = Ort::Value::CreateTensor<float>(&own, shape, 1);
    EXPECT_EQ(own.live, 1);
    Ort::Value strings = Ort::Value::CreateTensor(&own, shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
    strings.FillStringTensorElement("longer than what a string holds without memory of its own", 3);
    EXPECT_EQ(own.live, 2);
  }
  EXPECT_EQ(own.live, 0);
  void* memory = own.Alloc(&own, 16);
  {
    Ort::Value taken = Ort::Value::CreateTensor(&own, memory, 16, shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  }
  EXPECT_EQ(own.live, 0);
}

TEST_F(ValuesTest, Strings) {
  const int64_t shape[] = {3};
  Ort::Value value = Ort::Value::CreateTensor(allocator, shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  const char* texts[] = {"ab", "", "cde"};
  value.FillStringTensor(texts, 3);
  EXPECT_EQ(code_of(api.FillStringTensor(value, texts, 2)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(value.GetStringTensorDataLength(), 5u);
  char buffer[5];
  size_t offsets[3];
  value.GetStringTensorContent(buffer, 5, offsets, 3);
  EXPECT_EQ(std::string(buffer, 5), "abcde");
  EXPECT_EQ(std::vector<size_t>(offsets, offsets + 3), (std::vector<size_t>{0, 2, 2}));
  EXPECT_EQ(code_of(api.GetStringTensorContent(value, buffer, 4, offsets, 3)), ORT_FAIL);
  EXPECT_EQ(code_of(api.GetStringTensorContent(value, buffer, 5, offsets, 2)), ORT_FAIL);
  EXPECT_EQ(value.GetStringTensorElement(2), "cde");
  size_t length = 0;
  EXPECT_EQ(code_of(api.GetStringTensorElementLength(value, 3, &length)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.FillStringTensorElement(value, "x", 3)), ORT_INVALID_ARGUMENT);
  std::copy_n("wxyz", 4, value.GetResizedStringTensorElementBuffer(1, 4));
  EXPECT_EQ(value.GetStringTensorElement(1), "wxyz");
  EXPECT_EQ(code_of(api.GetTensorSizeInBytes(value, &length)), ORT_INVALID_ARGUMENT);

  float number = 0;
  Ort::Value other = Ort::Value::CreateTensor<float>(cpu, &number, 1, nullptr, 0);
  EXPECT_EQ(code_of(api.GetStringTensorDataLength(other, &length)), ORT_FAIL);
  EXPECT_EQ(code_of(api.FillStringTensorElement(other, "x", 0)), ORT_FAIL);
}

TEST_F(ValuesTest, Sequences) {
  float data[2] = {1, 2};
  const int64_t shape[] = {2};
  std::vector<Ort::Value> parts;
  for (int i = 0; i < 2; ++i) parts.push_back(Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1));
  Ort::Value sequence = Ort::Value::CreateSequence(parts);
  EXPECT_FALSE(sequence.IsTensor());
  EXPECT_EQ(sequence.GetCount(), 2u);
  EXPECT_EQ(sequence.GetValue(1, allocator).GetTensorData<float>()[1], 2);
  const Ort::TypeInfo type = sequence.GetTypeInfo();
  EXPECT_EQ(type.GetONNXType(), ONNX_TYPE_SEQUENCE);
  EXPECT_EQ(type.GetSequenceTypeInfo().GetSequenceElementType().GetTensorTypeAndShapeInfo().GetElementType(),
            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  OrtValue* out = nullptr;
  EXPECT_EQ(code_of(api.GetValue(sequence, 2, allocator, &out)), ORT_FAIL);
  EXPECT_EQ(code_of(api.GetValue(parts[0], 0, allocator, &out)), ORT_FAIL);
  size_t count = 0;
  EXPECT_EQ(code_of(api.GetValueCount(parts[0], &count)), ORT_FAIL);
  OrtTensorTypeAndShapeInfo* info = nullptr;
  EXPECT_EQ(code_of(api.GetTensorTypeAndShape(sequence, &info)), ORT_FAIL);
  void* raw = nullptr;
  EXPECT_EQ(code_of(api.GetTensorMutableData(sequence, &raw)), ORT_RUNTIME_EXCEPTION);

  int32_t whole[2] = {};
  parts[1] = Ort::Value::CreateTensor<int32_t>(cpu, whole, 2, shape, 1);
  const OrtValue* mixed[] = {parts[0], parts[1]};
  EXPECT_EQ(code_of(api.CreateValue(mixed, 2, ONNX_TYPE_SEQUENCE, &out)), ORT_FAIL);
  EXPECT_EQ(code_of(api.CreateValue(mixed, 0, ONNX_TYPE_SEQUENCE, &out)), ORT_FAIL);
  EXPECT_EQ(code_of(api.CreateValue(mixed, 2, ONNX_TYPE_TENSOR, &out)), ORT_FAIL);
}

TEST_F(ValuesTest, MapsAreSortedByKey) {
  int64_t numbers[] = {5, 3};
  float data[] = {50, 30};
  const int64_t shape[] = {2};
  Ort::Value keys = Ort::Value::CreateTensor<int64_t>(cpu, numbers, 2, shape, 1);
  Ort::Value values = Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1);
  Ort::Value map = Ort::Value::CreateMap(keys, values);
  EXPECT_EQ(map.GetCount(), 2u);
  const Ort::Value sorted_keys = map.GetValue(0, allocator), sorted_values = map.GetValue(1, allocator);
  EXPECT_EQ(sorted_keys.GetTensorData<int64_t>()[0], 3);
  EXPECT_EQ(sorted_values.GetTensorData<float>()[0], 30);
  const Ort::TypeInfo type = map.GetTypeInfo();
  EXPECT_EQ(type.GetMapTypeInfo().GetMapKeyType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  EXPECT_EQ(type.GetMapTypeInfo().GetMapValueType().GetTensorTypeAndShapeInfo().GetElementType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  const OrtValue* wrong[] = {values, values};
  OrtValue* out = nullptr;
  EXPECT_EQ(code_of(api.CreateValue(wrong, 2, ONNX_TYPE_MAP, &out)), ORT_FAIL);
  EXPECT_EQ(code_of(api.CreateValue(wrong, 1, ONNX_TYPE_MAP, &out)), ORT_FAIL);
}

TEST_F(ValuesTest, SparseCoo) {
  const float data[] = {1, 2, 3};
  const int64_t positions[] = {0, 5, 8};
  Ort::Value value = Ort::Value::CreateSparseTensor(allocator, {3, 3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  EXPECT_TRUE(value.IsSparseTensor());
  EXPECT_EQ(value.GetSparseFormat(), ORT_SPARSE_UNDEFINED);
  value.FillSparseTensorCoo(cpu, {3}, data, positions, 3);
  EXPECT_EQ(value.GetSparseFormat(), ORT_SPARSE_COO);
  EXPECT_EQ(value.GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(value.GetSparseTensorValuesTypeAndShapeInfo().GetShape(), std::vector<int64_t>{3});
  EXPECT_EQ(value.GetSparseTensorValues<float>()[2], 3);
  size_t count = 0;
  EXPECT_EQ(value.GetSparseTensorIndicesData<int64_t>(ORT_SPARSE_COO_INDICES, count)[1], 5);
  EXPECT_EQ(count, 3u);
  const void* none = nullptr;
  EXPECT_NE(code_of(api.GetSparseTensorIndices(value, ORT_SPARSE_CSR_INNER_INDICES, &count, &none)), ORT_OK);
}

TEST_F(ValuesTest, SparseCsrOverCallersMemory) {
  float data[] = {1, 2, 3};
  int64_t inner[] = {0, 2, 1}, outer[] = {0, 1, 2, 3};
  Ort::Value value = Ort::Value::CreateSparseTensor(cpu, data, {3, 3}, {3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  value.UseCsrIndices(inner, 3, outer, 4);
  EXPECT_EQ(value.GetSparseFormat(), ORT_SPARSE_CSRC);
  EXPECT_EQ(value.GetSparseTensorValues<float>(), data);
  size_t count = 0;
  EXPECT_EQ(value.GetSparseTensorIndicesData<int64_t>(ORT_SPARSE_CSR_OUTER_INDICES, count), outer);
  EXPECT_EQ(count, 4u);
}

// What GetValue gives is a copy, in memory of the caller's allocator.

TEST_F(ValuesTest, ElementsOfSequencesAreCopies) {
  float data[2] = {1, 2};
  const int64_t shape[] = {2};
  std::vector<Ort::Value> parts;
  parts.push_back(Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1));
  const Ort::Value sequence = Ort::Value::CreateSequence(parts);
  const Ort::Value element = sequence.GetValue(0, allocator);
  data[0] = 99;
  EXPECT_EQ(element.GetTensorData<float>()[0], 1);
  EXPECT_NE(element.GetTensorData<float>(), data);
}

TEST_F(ValuesTest, KeysAndValuesOfMapsAreCopies) {
  int64_t numbers[] = {3, 5};
  float data[] = {30, 50};
  const int64_t shape[] = {2};
  const Ort::Value keys = Ort::Value::CreateTensor<int64_t>(cpu, numbers, 2, shape, 1);
  const Ort::Value values = Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1);
  const Ort::Value map = Ort::Value::CreateMap(keys, values);
  Ort::Value first = map.GetValue(1, allocator);
  const Ort::Value second = map.GetValue(1, allocator);
  first.GetTensorMutableData<float>()[0] = 99;
  EXPECT_EQ(second.GetTensorData<float>()[0], 30);
}

TEST_F(ValuesTest, CopiesComeFromTheCallersAllocator) {
  struct Counting : OrtAllocator {
    explicit Counting(const OrtMemoryInfo* memory) : OrtAllocator{}, info(memory) {
      version = ORT_API_VERSION;
      Alloc = [](OrtAllocator* self, size_t bytes) {
        ++static_cast<Counting*>(self)->blocks;
        return std::malloc(bytes);
      };
      Free = [](OrtAllocator* self, void* memory) {
        if (memory) --static_cast<Counting*>(self)->blocks;
        std::free(memory);
      };
      Info = [](const OrtAllocator* self) { return static_cast<const Counting*>(self)->info; };
    }
    const OrtMemoryInfo* info;
    int blocks = 0;
  } counting(cpu);
  float data[2] = {1, 2};
  const int64_t shape[] = {2};
  std::vector<Ort::Value> parts;
  parts.push_back(Ort::Value::CreateTensor<float>(cpu, data, 2, shape, 1));
  const Ort::Value sequence = Ort::Value::CreateSequence(parts);
  {
    const Ort::Value element = sequence.GetValue(0, &counting);
    EXPECT_EQ(counting.blocks, 1);
  }
  EXPECT_EQ(counting.blocks, 0);
}

TEST_F(ValuesTest, PlacesBehindTheLastElement) {
  int64_t numbers[] = {3};
  float data[] = {30};
  const int64_t shape[] = {1};
  const Ort::Value keys = Ort::Value::CreateTensor<int64_t>(cpu, numbers, 1, shape, 1);
  const Ort::Value values = Ort::Value::CreateTensor<float>(cpu, data, 1, shape, 1);
  std::vector<Ort::Value> maps;
  maps.push_back(Ort::Value::CreateMap(keys, values));
  OrtValue* out = nullptr;
  EXPECT_EQ(code_of(api.GetValue(maps[0], 2, allocator, &out)), ORT_FAIL);
  const Ort::Value sequence = Ort::Value::CreateSequence(maps);
  EXPECT_EQ(code_of(api.GetValue(sequence, 999, allocator, &out)), ORT_RUNTIME_EXCEPTION);
}

TEST_F(ValuesTest, IndicesOfSparseTensorsStayWithinTheDenseShape) {
  const float data[] = {1, 2};
  const int64_t values_shape[] = {2};
  const auto coo = [&](std::vector<int64_t> indices) {
    Ort::Value value = Ort::Value::CreateSparseTensor(allocator, {3, 3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
    return code_of(api.FillSparseTensorCoo(value, cpu, values_shape, 1, data, indices.data(), indices.size()));
  };
  EXPECT_EQ(coo({0, 8}), ORT_OK);
  EXPECT_NE(coo({0, 9}), ORT_OK);
  EXPECT_NE(coo({-1, 8}), ORT_OK);
  EXPECT_EQ(coo({0, 1, 2, 2}), ORT_OK);
  EXPECT_NE(coo({0, 1, 2, 3}), ORT_OK);
  const auto csr = [&](std::vector<int64_t> inner, std::vector<int64_t> outer) {
    Ort::Value value = Ort::Value::CreateSparseTensor(allocator, {3, 3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
    return code_of(api.FillSparseTensorCsr(value, cpu, values_shape, 1, data, inner.data(), inner.size(), outer.data(), outer.size()));
  };
  EXPECT_EQ(csr({0, 2}, {0, 1, 1, 2}), ORT_OK);
  EXPECT_NE(csr({0, 3}, {0, 1, 1, 2}), ORT_OK);
  EXPECT_NE(csr({0, -2}, {0, 1, 1, 2}), ORT_OK);
  EXPECT_NE(csr({0, 2}, {0, 1, 1, 9}), ORT_OK);
  EXPECT_NE(csr({0, 2}, {0, 2, 1, 2}), ORT_OK);
}

TEST_F(ValuesTest, IndicesInTheCallersMemoryStayWithinTheDenseShape) {
  float data[] = {1, 2, 3, 4};
  const auto over = [&](std::vector<int64_t> dense, std::vector<int64_t> shape) {
    return Ort::Value::CreateSparseTensor(cpu, data, {dense.data(), dense.size()}, {shape.data(), shape.size()},
                                          ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  };
  const auto coo = [&](std::vector<int64_t> indices) {
    return code_of(api.UseCooIndices(over({3, 3}, {2}), indices.data(), indices.size()));
  };
  EXPECT_EQ(coo({0, 8}), ORT_OK);
  EXPECT_EQ(coo({0, 9}), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(coo({0, 3, 0, 0}), ORT_INVALID_ARGUMENT);
  const auto csr = [&](std::vector<int64_t> inner, std::vector<int64_t> outer) {
    return code_of(api.UseCsrIndices(over({3, 3}, {2}), inner.data(), inner.size(), outer.data(), outer.size()));
  };
  EXPECT_EQ(csr({0, 2}, {0, 1, 1, 2}), ORT_OK);
  EXPECT_EQ(csr({0, 3}, {0, 1, 1, 2}), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(csr({0, 2}, {0, 1, 5, 2}), ORT_INVALID_ARGUMENT);
  const auto blocks = [&](std::vector<int64_t> values, std::vector<int64_t> indices) {
    int32_t places[6] = {};
    return code_of(api.UseBlockSparseIndices(over({4, 4}, values), indices.data(), indices.size(), places));
  };
  EXPECT_EQ(blocks({2, 2, 1}, {2, 1}), ORT_OK);
  EXPECT_EQ(blocks({1, 2, 2}, {2, 2}), ORT_OK);
  EXPECT_EQ(blocks({0}, {0}), ORT_OK);
  EXPECT_EQ(blocks({1, 2, 2}, {2, 1}), ORT_FAIL);
  EXPECT_EQ(blocks({4}, {2, 1}), ORT_FAIL);
  EXPECT_EQ(blocks({2, 2, 1}, {3, 1}), ORT_FAIL);
}

}  // namespace
}  // namespace rh::test
