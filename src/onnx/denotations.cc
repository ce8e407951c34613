#include "onnx/denotations.h"

#include "onnx/located.h"
#include "onnx/messages.h"
#include "onnx/proto.h"

namespace rh::onnx {

namespace {

// The content of the first field of this number; empty where there is none.
std::string_view find_field(std::string_view message, uint32_t number) {
  Wire wire = wire_of(message);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(number)) return content(wire);
    wire.skip();
  }
  return {};
}

std::vector<std::string> denotations_of(std::string_view value_info) {
  std::vector<std::string> denotations;
  const std::string_view tensor = find_field(type_of_value_info(value_info), field::type::tensor);
  Wire wire = wire_of(find_field(tensor, field::tensor_type::shape));
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(field::shape::dim)) {
      denotations.emplace_back(find_field(content(wire), field::dimension::denotation));
    } else {
      wire.skip();
    }
  }
  return denotations;
}

}  // namespace

std::map<std::string, std::vector<std::string>> read_dim_denotations(std::span<const std::byte> model) {
  return located([] { return Where{}; },
                 [&] {
                   const std::string_view bytes(reinterpret_cast<const char*>(model.data()), model.size());
                   std::map<std::string, std::vector<std::string>> all;
                   const ModelFields fields = ModelFields::parse(bytes);
                   for (const NamedMessage& input : GraphFields::parse(fields.graph).inputs) {
                     all.emplace(input.name, denotations_of(input.message));
                   }
                   return all;
                 });
}

}  // namespace rh::onnx
