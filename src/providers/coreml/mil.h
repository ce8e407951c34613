#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "providers/coreml/weights.h"
#include "tensor/tensor.h"

namespace rh::coreml {

/// A value of a program: float32, float16, int32 or boolean.
struct Mil {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
};

/// What an operator's argument is bound to: one value, or several.
struct Operand {
  Operand(Mil value) : values{std::move(value)} {}
  Operand(std::vector<Mil> several) : values(std::move(several)) {}
  std::vector<Mil> values;
};
using Arguments = std::vector<std::pair<std::string_view, Operand>>;

/// What a program takes or gives. Core ML passes float32 and int32 alone: other types are changed at the program's border.
struct Feature {
  std::string name;
  DType dtype = DType::undefined;  ///< float32 or int32
  Shape shape;
};

/// The type in which a value of an ONNX type is passed.
DType feature_type(DType dtype);

/// An ML Program while it is made: a function of operators in Core ML's Model Intermediate Language, opset CoreML5 (macOS 12, iOS 15), with
/// large constants in a file of weights.
class Program {
 public:
  /// An input of the program, as a value of this type. int64 becomes int32.
  Mil add_input(DType dtype, const Shape& shape);
  /// The value as an output of the program.
  void add_output(const Mil& value);

  /// Constants; equal small ones are one. A tensor's integers become int32: throws Error{not_implemented} where they are no such.
  Mil constant(const Tensor& tensor);
  Mil ints(std::span<const int64_t> values);
  Mil number(int64_t value);
  Mil real(double value, DType dtype);
  Mil flag(bool value);
  Mil text(std::string_view value);

  /// The value in another of the types.
  Mil cast(const Mil& value, DType dtype);
  /// What an operator gives.
  Mil op(std::string_view type, const Arguments& arguments, DType dtype, const Shape& shape);
  std::vector<Mil> ops(std::string_view type, const Arguments& arguments, std::vector<Mil> results);

  const std::vector<Feature>& inputs() const { return inputs_; }
  const std::vector<Feature>& outputs() const { return outputs_; }
  const WeightFile& weights() const { return weights_; }
  /// Of the model and its weights.
  size_t bytes() const;
  /// The model's bytes: what lies in model.mlmodel.
  std::string write() const;

 private:
  std::string fresh_name(std::string_view hint);
  /// `value`: a serialized Value of this type. An equal one that was added before is taken.
  Mil add_small(DType dtype, const Shape& shape, const std::string& value);
  Mil add_constant(DType dtype, const Shape& shape, const std::string& value);

  WeightFile weights_;
  std::vector<Feature> inputs_, outputs_;
  std::vector<std::string> operations_;  ///< serialized
  std::map<std::string, Mil> small_;     ///< by their serialized values
  size_t names_ = 0;
};

}  // namespace rh::coreml
