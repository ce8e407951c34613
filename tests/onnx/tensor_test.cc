#include "onnx/reader.h"
#include "onnx/tensor_reader.h"
#include "protos.h"
#include "tensor/sparse.h"

namespace rh::onnx::test {
namespace {

namespace fields = field::tensor;

Tensor raw_bytes(DType dtype, Shape shape, std::vector<uint8_t> bytes) {
  Tensor tensor(dtype, std::move(shape));
  EXPECT_EQ(tensor.bytes(), bytes.size());
  std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(tensor.raw()));
  return tensor;
}

template <typename T>
Tensor of(Shape shape, std::vector<T> values) {
  return Tensor::from<T>(std::move(shape), values);
}

struct Readable {
  const char* what;
  Message message;
  Tensor expected;
};

TEST(ReadTensor, TypedFields) {
  const Readable cases[] = {
      {"packed floats", tensor(DType::float32, {2}).packed_reals(fields::float_data, {1.5f, -2}), of<float>({2}, {1.5f, -2})},
      {"unpacked floats", tensor(DType::float32, {2}).real(fields::float_data, 1.5f).real(fields::float_data, -2),
       of<float>({2}, {1.5f, -2})},
      {"floats in two packed parts and one alone",
       tensor(DType::float32, {4})
           .packed_reals(fields::float_data, {1})
           .real(fields::float_data, 2)
           .packed_reals(fields::float_data, {3, 4}),
       of<float>({4}, {1, 2, 3, 4})},
      {"packed dims", Message().packed_numbers(fields::dims, {2, 1}).number(fields::data_type, 1).packed_reals(fields::float_data, {1, 2}),
       of<float>({2, 1}, {1, 2})},
      {"scalar", tensor(DType::float32, {}).packed_reals(fields::float_data, {7}), of<float>({}, {7})},
      {"no elements", tensor(DType::float32, {0, 3}), Tensor(DType::float32, {0, 3})},
      {"no elements but a raw field", tensor(DType::float32, {0}).text(fields::raw_data, ""), Tensor(DType::float32, {0})},
      {"complex64", tensor(DType::complex64, {1}).packed_reals(fields::float_data, {1, 2}), of<std::complex<float>>({1}, {{1, 2}})},
      {"doubles", tensor(DType::float64, {2}).packed_reals64(fields::double_data, {1, 2}), of<double>({2}, {1, 2})},
      {"unpacked doubles", tensor(DType::float64, {1}).real64(fields::double_data, 0.1), of<double>({1}, {0.1})},
      {"complex128", tensor(DType::complex128, {1}).packed_reals64(fields::double_data, {1, 2}), of<std::complex<double>>({1}, {{1, 2}})},
      {"int64", tensor(DType::int64, {3}).packed_numbers(fields::int64_data, {INT64_MIN, -1, INT64_MAX}),
       of<int64_t>({3}, {INT64_MIN, -1, INT64_MAX})},
      {"unpacked int64", tensor(DType::int64, {2}).numbers(fields::int64_data, {-1, 5}), of<int64_t>({2}, {-1, 5})},
      {"uint64", tensor(DType::uint64, {1}).packed_numbers(fields::uint64_data, {-1}), of<uint64_t>({1}, {UINT64_MAX})},
      {"uint32", tensor(DType::uint32, {2}).packed_numbers(fields::uint64_data, {4294967295, 0}), of<uint32_t>({2}, {UINT32_MAX, 0})},
      {"int32", tensor(DType::int32, {2}).packed_numbers(fields::int32_data, {INT32_MIN, 5}), of<int32_t>({2}, {INT32_MIN, 5})},
      {"int16", tensor(DType::int16, {2}).packed_numbers(fields::int32_data, {-32768, 5}), of<int16_t>({2}, {-32768, 5})},
      {"int8", tensor(DType::int8, {2}).numbers(fields::int32_data, {-128, 5}), of<int8_t>({2}, {-128, 5})},
      {"bytes by the bits of the other sign", tensor(DType::int8, {2}).numbers(fields::int32_data, {255, 128}),
       of<int8_t>({2}, {-1, -128})},
      {"bytes without a sign by negative numbers", tensor(DType::uint8, {2}).numbers(fields::int32_data, {-1, 5}),
       of<uint8_t>({2}, {255, 5})},
      {"raw data beside others",
       tensor(DType::float32, {1}).text(fields::raw_data, std::string_view("\0\0\x80\x3f", 4)).packed_reals(fields::float_data, {7, 7}),
       of<float>({1}, {1})},
      {"raw data beside those of another type",
       tensor(DType::int8, {1}).text(fields::raw_data, "\x01").packed_reals64(fields::double_data, {7}), of<int8_t>({1}, {1})},
      {"typed data beside those of another type",
       tensor(DType::int64, {1}).packed_numbers(fields::int64_data, {2}).packed_reals(fields::float_data, {7}), of<int64_t>({1}, {2})},
      {"no elements, and some of another type", tensor(DType::int64, {0}).packed_reals(fields::float_data, {7}), Tensor(DType::int64, {0})},
      {"a whole tensor as one segment",
       tensor(DType::float32, {1}).packed_reals(fields::float_data, {7}).add(fields::segment, Message().number(1, 0)), of<float>({1}, {7})},
      {"uint16", tensor(DType::uint16, {1}).packed_numbers(fields::int32_data, {65535}), of<uint16_t>({1}, {65535})},
      {"uint8", tensor(DType::uint8, {1}).packed_numbers(fields::int32_data, {255}), of<uint8_t>({1}, {255})},
      {"float16", tensor(DType::float16, {1}).packed_numbers(fields::int32_data, {0xbc00}), of<Float16>({1}, {Float16(-1)})},
      {"bfloat16", tensor(DType::bfloat16, {1}).packed_numbers(fields::int32_data, {0xbf80}), of<BFloat16>({1}, {BFloat16(-1)})},
      {"float8", tensor(DType::float8e5m2, {1}).packed_numbers(fields::int32_data, {0xbc}), of<Float8E5M2>({1}, {Float8E5M2(-1)})},
      {"4 bits, two to an entry", tensor(DType::int4, {3}).packed_numbers(fields::int32_data, {0x21, 0x0f}),
       raw_bytes(DType::int4, {3}, {0x21, 0x0f})},
      {"4 bits, padding set", tensor(DType::uint4, {3}).packed_numbers(fields::int32_data, {0x21, 0xff}),
       raw_bytes(DType::uint4, {3}, {0x21, 0x0f})},
      {"2 bits, four to an entry", tensor(DType::uint2, {5}).packed_numbers(fields::int32_data, {0xe4, 1}),
       raw_bytes(DType::uint2, {5}, {0xe4, 1})},
      {"6 bits, one to an entry", tensor(DType::float6e2m3, {4}).packed_numbers(fields::int32_data, {1, 2, 3, 63}),
       raw_bytes(DType::float6e2m3, {4}, {0x81, 0x30, 0xfc})},
      {"6 bits, raw", tensor(DType::float6e3m2, {4}).text(fields::raw_data, "\x81\x30\xfc"),
       raw_bytes(DType::float6e3m2, {4}, {0x81, 0x30, 0xfc})},
      {"raw bool is zero or one", tensor(DType::boolean, {3}).text(fields::raw_data, std::string_view("\0\1\7", 3)),
       raw_bytes(DType::boolean, {3}, {0, 1, 1})},
      {"bool", tensor(DType::boolean, {2}).packed_numbers(fields::int32_data, {0, 1}), raw_bytes(DType::boolean, {2}, {0, 1})},
      {"strings", tensor(DType::string, {2}).text(fields::string_data, "a").text(fields::string_data, ""), of<std::string>({2}, {"a", ""})},
      {"raw", tensor(DType::float32, {1}).text(fields::raw_data, std::string_view("\0\0\x80\x3f", 4)), of<float>({1}, {1})},
  };
  for (const Readable& row : cases) {
    const Tensor found = read_tensor(as_span(row.message));
    EXPECT_TRUE(identical(found.view(), row.expected.view())) << row.what;
  }
}

struct Refused {
  const char* what;
  Message message;
  std::vector<std::string_view> parts;
};

TEST(ReadTensor, Refused) {
  const Refused cases[] = {
      {"no type", Message().number(fields::dims, 1), {"element type 0"}},
      {"unknown type", Message().number(fields::data_type, 99), {"element type 99"}},
      {"type past 32 bits", Message().number(fields::data_type, (int64_t{1} << 32) + 1), {"element type 4294967297"}},
      {"negative dimension", tensor(DType::float32, {-1, 2}, "w"), {"[-1, 2]", "tensor w"}},
      {"overflow", tensor(DType::float32, {int64_t{1} << 40, int64_t{1} << 40}), {"overflows"}},
      {"overflow beside a zero", tensor(DType::float32, {int64_t{1} << 40, int64_t{1} << 40, 0}), {"overflows"}},
      {"too large in bytes", tensor(DType::complex128, {int64_t{1} << 61}), {"too large"}},
      {"far more elements than bytes",
       tensor(DType::float32, {int64_t{1} << 40}, "w").packed_reals(fields::float_data, {1}),
       {"float_data has 1 entries", "1099511627776", "tensor w"}},
      {"many strings", tensor(DType::string, {int64_t{1} << 30}), {"string_data has 0 entries"}},
      {"short raw data", tensor(DType::float32, {2}).text(fields::raw_data, "1234567"), {"raw_data has 7 bytes", "expected 8"}},
      {"long raw data", tensor(DType::int8, {2}).text(fields::raw_data, "123"), {"raw_data has 3 bytes", "expected 2 for int8[2]"}},
      {"raw strings", tensor(DType::string, {1}).text(fields::raw_data, "1"), {"raw_data", "string_data"}},
      {"short raw data beside others",
       tensor(DType::float32, {2}).text(fields::raw_data, "1234").packed_reals(fields::float_data, {1, 2}),
       {"raw_data has 4 bytes", "expected 8"}},
      {"wrong field", tensor(DType::float32, {1}).packed_numbers(fields::int32_data, {1}), {"int32_data", "float_data"}},
      {"half a float", tensor(DType::float32, {1}).text(fields::float_data, "12345"), {"5 bytes"}},
      {"int8 out of range", tensor(DType::int8, {1}).packed_numbers(fields::int32_data, {256}), {"256", "8 bits"}},
      {"int32 out of range", tensor(DType::int32, {1}).packed_numbers(fields::int32_data, {int64_t{1} << 32}), {"4294967296", "32 bits"}},
      {"float16 out of range", tensor(DType::float16, {1}).packed_numbers(fields::int32_data, {65536}), {"65536"}},
      {"6 bits out of range", tensor(DType::float6e3m2, {1}).packed_numbers(fields::int32_data, {64}), {"64", "[0, 63]"}},
      {"uint32 out of range", tensor(DType::uint32, {1}).packed_numbers(fields::uint64_data, {int64_t{1} << 32}), {"32 bits"}},
      {"unending varint",
       tensor(DType::int64, {1}).text(fields::int64_data, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
       {"Protobuf"}},
      {"varint cut off", tensor(DType::int64, {1}).text(fields::int64_data, "\x01\xff"), {"Protobuf"}},
      {"external data in a lone tensor", tensor(DType::float32, {1}).number(fields::data_location, 1), {"external"}},
  };
  for (const Refused& row : cases) {
    try {
      read_tensor(as_span(row.message));
      ADD_FAILURE() << row.what << ": expected an error";
    } catch (const Error& error) {
      for (std::string_view part : row.parts)
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << row.what << ": " << error.what();
    }
  }
}

TEST(ReadTensor, TooManyDimensions) {
  Message message;
  for (int i = 0; i < 65; ++i) message.number(fields::dims, 1);
  message.number(fields::data_type, 1);
  expect_error("65 dimensions", {"more than 64 dimensions"}, [&] { read_tensor(as_span(message)); });
}

Message sparse(const Message& values, const Message& indices, std::initializer_list<int64_t> dims) {
  return Message()
      .add(field::sparse_tensor::values, values)
      .add(field::sparse_tensor::indices, indices)
      .numbers(field::sparse_tensor::dims, dims);
}

Message indices(std::initializer_list<int64_t> dims, std::initializer_list<int64_t> values) {
  return tensor(DType::int64, dims).packed_numbers(fields::int64_data, values);
}

TEST(ReadSparse, BecomesDense) {
  const Message values = float_tensor("v", {5, 6});
  const Message four_bits = tensor(DType::int4, {2}).packed_numbers(fields::int32_data, {0x87});
  const Readable cases[] = {
      {"linear", sparse(values, indices({2}, {1, 5}), {2, 3}), of<float>({2, 3}, {0, 5, 0, 0, 0, 6})},
      {"by axis", sparse(values, indices({2, 2}, {0, 1, 1, 2}), {2, 3}), of<float>({2, 3}, {0, 5, 0, 0, 0, 6})},
      {"packed type", sparse(four_bits, indices({2}, {1, 2}), {4}), raw_bytes(DType::int4, {4}, {0x70, 0x08})},
      {"no values", sparse(tensor(DType::float32, {0}), indices({0}, {}), {2}), of<float>({2}, {0, 0})},
  };
  for (const Readable& row : cases) {
    TensorReader reader({.bytes = row.message.bytes()}, nullptr);
    EXPECT_TRUE(identical(to_dense(reader.read_sparse(row.message.bytes())).view(), row.expected.view())) << row.what;
  }
}

TEST(ReadSparse, Refused) {
  const Message values = float_tensor("v", {5, 6});
  const Refused cases[] = {
      {"index too large", sparse(values, indices({2}, {1, 6}), {2, 3}), {"6", "[0, 6)", "tensor v"}},
      {"negative index", sparse(values, indices({2}, {-1, 2}), {2, 3}), {"-1"}},
      {"index of an axis too large", sparse(values, indices({2, 2}, {0, 3, 1, 2}), {2, 3}), {"3", "[0, 3)"}},
      {"fewer indices", sparse(values, indices({1}, {1}), {2, 3}), {"int64[1]", "int64[2]"}},
      {"no values", Message().number(field::sparse_tensor::dims, 2), {"no values"}},
      {"negative dimension", sparse(values, indices({2}, {0, 1}), {-2}), {"[-2]"}},
  };
  for (const Refused& row : cases) {
    try {
      TensorReader({.bytes = row.message.bytes()}, nullptr).read_sparse(row.message.bytes());
      ADD_FAILURE() << row.what << ": expected an error";
    } catch (const Error& error) {
      for (std::string_view part : row.parts)
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << row.what << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace rh::onnx::test
