#include <gtest/gtest.h>

#include "onnx/reader.h"
#include "onnx/writer.h"

namespace rh::onnx {
namespace {

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

Tensor pattern(DType dtype, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  if (dtype == DType::string) {
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<std::string>()[i] = std::string(static_cast<size_t>(i), 'x') + '\0';
    return tensor;
  }
  uint8_t* bytes = static_cast<uint8_t*>(tensor.raw());
  for (size_t i = 0; i < tensor.bytes(); ++i) bytes[i] = static_cast<uint8_t>(dtype == DType::boolean ? i % 3 == 0 : 37 * i + 11);
  const int bits = bits_of(dtype);
  if (bits < 8) {
    for (int64_t i = tensor.elements(); i < static_cast<int64_t>(tensor.bytes()) * 8 / bits; ++i) set_packed_code(bytes, bits, i, 0);
    const int64_t used = tensor.elements() * bits % 8;
    if (used != 0) bytes[tensor.bytes() - 1] &= static_cast<uint8_t>((1 << used) - 1);
  }
  return tensor;
}

TEST(RoundTrip, EveryTypeAsTensor) {
  for (int number = 1; number < kDTypeCount; ++number) {
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 0, 3}, Shape{3, 1, 5}, Shape{8, 3}}) {
      const Tensor tensor = pattern(static_cast<DType>(number), shape);
      const Tensor back = read_tensor(bytes_of_text(write_tensor(tensor, "name")));
      EXPECT_TRUE(identical(tensor.view(), back.view())) << to_string(tensor.dtype()) << shape.to_string();
    }
  }
}

TEST(RoundTrip, EveryTypeAsInitializer) {
  for (int number = 1; number < kDTypeCount; ++number) {
    Model model;
    model.ir_version = 10;
    model.graph->opset_imports[""] = 21;
    const Tensor tensor = pattern(static_cast<DType>(number), {2, 3});
    model.graph->add_output(model.graph->add_initializer("weights", tensor));
    const Model back = read_model(bytes_of_text(write_model(model)));
    const GraphValue& value = back.graph->value(back.graph->find_value("weights"));
    EXPECT_TRUE(value.is_output && value.is_constant());
    EXPECT_TRUE(identical(tensor.view(), value.constant_tensor()->view())) << to_string(tensor.dtype());
  }
}

}  // namespace
}  // namespace rh::onnx
