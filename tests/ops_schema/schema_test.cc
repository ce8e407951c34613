#include "ops/schema.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace rh::ops {
namespace {

TEST(Schema, HasEveryOperatorOfTheStandard) {
  std::map<std::string_view, int> versions;
  std::map<std::string_view, std::set<std::string_view>> operators;
  for (const OpSchema& schema : all_schemas()) {
    ++versions[schema.domain];
    operators[schema.domain].insert(schema.op_type);
  }
  EXPECT_EQ(versions[""], 641);  // 12 of them those that the standard had once
  EXPECT_EQ(versions["ai.onnx.ml"], 25);
  EXPECT_EQ(versions["ai.onnx.preview.training"], 4);
  EXPECT_EQ(versions["ai.onnx.preview"], 1);
  EXPECT_EQ(operators["ai.onnx.ml"].size(), 19u);
  EXPECT_EQ(versions["com.microsoft"], 150);
}

TEST(Schema, IsSortedWithoutRepeats) {
  const auto all = all_schemas();
  for (size_t i = 1; i < all.size(); ++i) {
    const auto key = [](const OpSchema& schema) { return std::tie(schema.domain, schema.op_type, schema.since_version); };
    EXPECT_LT(key(all[i - 1]), key(all[i])) << all[i].op_type;
  }
}

TEST(Schema, PortsAgreeWithArity) {
  for (const OpSchema& schema : all_schemas()) {
    SCOPED_TRACE(std::string(schema.op_type) + " " + std::to_string(schema.since_version));
    for (const auto& [ports, least, most] : {std::tuple(schema.inputs, schema.min_inputs, schema.max_inputs),
                                             std::tuple(schema.outputs, schema.min_outputs, schema.max_outputs)}) {
      int required = 0;
      int position = 0;
      for (const Port& port : ports) {
        ++position;
        EXPECT_FALSE(port.name.empty());
        EXPECT_NE(type_list(*port.allowed), "") << port.name;
        if (port.option == PortOption::single) required = position;
        if (port.option == PortOption::variadic) {
          EXPECT_EQ(&port, &ports.back());
          required = std::max(required, position - 1 + port.min_arity);
        }
      }
      const bool variadic = !ports.empty() && ports.back().option == PortOption::variadic;
      EXPECT_EQ(required, least);
      EXPECT_EQ(variadic ? kUnbounded : static_cast<int>(ports.size()), most);
    }
    for (const SchemaAttribute& attribute : schema.attributes) {
      EXPECT_NE(attribute.kind, AttributeKind::undefined) << attribute.name;
      EXPECT_FALSE(attribute.required && attribute.default_value) << attribute.name;
    }
  }
}

struct Lookup {
  const char* domain;
  const char* op_type;
  int opset;
  int since_version;  ///< 0: none
};

TEST(Schema, FindsTheNewestVersionOfAnOpset) {
  const Lookup cases[] = {
      {"", "Softmax", 1, 1},
      {"", "Softmax", 10, 1},
      {"", "Softmax", 11, 11},
      {"", "Softmax", 12, 11},
      {"", "Softmax", 13, 13},
      {"ai.onnx", "Softmax", 28, 13},
      {"", "Softmax", 1000, 13},
      {"", "LayerNormalization", 16, 1},
      {"", "LayerNormalization", 17, 17},
      {"", "NoSuchOperator", 20, 0},
      {"ai.onnx.ml", "TreeEnsemble", 4, 0},
      {"ai.onnx.ml", "TreeEnsemble", 5, 5},
      {"com.microsoft", "Softmax", 1, 0},
      {"", "", 20, 0},
      {"ai.onnx.preview.training", "Adam", 1, 1},
      {"", "Upsample", 10, 10},
      {"", "ImageScaler", 7, 1},
      {"", "MeanVarianceNormalization", 8, 1},
  };
  for (const Lookup& c : cases) {
    const OpSchema* schema = find_schema(c.domain, c.op_type, c.opset);
    EXPECT_EQ(schema ? schema->since_version : 0, c.since_version) << c.domain << " " << c.op_type << " " << c.opset;
  }
  EXPECT_TRUE(find_schema("", "Upsample", 10)->deprecated);
  EXPECT_FALSE(find_schema("", "Upsample", 9)->deprecated);
}

TEST(Schema, KnowsTheNewestOpsets) {
  EXPECT_EQ(latest_opset(""), 28);
  EXPECT_EQ(latest_opset("ai.onnx"), 28);
  EXPECT_EQ(latest_opset("ai.onnx.ml"), 5);
  EXPECT_EQ(latest_opset("com.microsoft"), 1);
  EXPECT_EQ(latest_opset("com.example"), 0);
}

TEST(Schema, DescribesConv) {
  const OpSchema& conv = *find_schema("", "Conv", 11);
  EXPECT_EQ(std::tuple(conv.min_inputs, conv.max_inputs, conv.min_outputs, conv.max_outputs), std::tuple(2, 3, 1, 1));
  EXPECT_EQ(conv.input(2)->name, "B");
  EXPECT_EQ(conv.input(2)->option, PortOption::optional);
  EXPECT_EQ(conv.input(3), nullptr);
  EXPECT_EQ(conv.input(-1), nullptr);
  EXPECT_EQ(type_list(*conv.type_parameter("T")->allowed), "tensor(float), tensor(float16), tensor(double)");
  EXPECT_TRUE(find_schema("", "Conv", 22)->input(0)->allowed->allows_tensor(DType::bfloat16));
  EXPECT_FALSE(conv.input(0)->allowed->allows_tensor(DType::bfloat16));
  EXPECT_EQ(conv.attribute("group")->default_value->integer, 1);
  EXPECT_EQ(conv.attribute("auto_pad")->default_value->string, "NOTSET");
  EXPECT_EQ(conv.attribute("pads")->kind, AttributeKind::integers);
  EXPECT_EQ(conv.attribute("pads")->default_value, nullptr);
  EXPECT_EQ(conv.attribute("axis"), nullptr);
  EXPECT_FALSE(conv.has_function);
}

TEST(Schema, DescribesContributedOperators) {
  const OpSchema& product = *find_schema("com.microsoft", "MatMulNBits", 1);
  EXPECT_EQ(std::tuple(product.min_inputs, product.max_inputs), std::tuple(3, 6));
  EXPECT_TRUE(product.attribute("K")->required);
  EXPECT_EQ(product.attribute("bits")->default_value->integer, 4);
  EXPECT_EQ(type_list(*product.input(1)->allowed), "tensor(uint8)");
  EXPECT_EQ(product.input(4)->option, PortOption::optional);
  const OpSchema& concat = *find_schema("com.microsoft", "QLinearConcat", 1);
  EXPECT_EQ(concat.max_inputs, kUnbounded);
  EXPECT_FALSE(concat.input(5)->homogeneous);
}

TEST(Schema, DescribesRequiredAttributesFloatsAndFunctions) {
  EXPECT_TRUE(find_schema("", "Cast", 13)->attribute("to")->required);
  EXPECT_FLOAT_EQ(find_schema("", "LeakyRelu", 16)->attribute("alpha")->default_value->floating, 0.01f);
  EXPECT_FLOAT_EQ(find_schema("", "Selu", 6)->attribute("gamma")->default_value->floating, 1.05070102214813232421875f);
  EXPECT_TRUE(find_schema("", "LayerNormalization", 17)->has_function);
  EXPECT_TRUE(find_schema("", "SoftmaxCrossEntropyLoss", 13)->has_function);
  const auto activations = find_schema("", "GRU", 7)->attribute("activations");
  EXPECT_EQ(activations->kind, AttributeKind::strings);
}

TEST(Schema, DescribesVariadicAndOtherForms) {
  const OpSchema& concat = *find_schema("", "Concat", 13);
  EXPECT_EQ(concat.max_inputs, kUnbounded);
  EXPECT_EQ(concat.input(57), concat.input(0));
  EXPECT_TRUE(concat.input(0)->homogeneous);
  const OpSchema& loop = *find_schema("", "Loop", 16);
  EXPECT_FALSE(loop.input(2)->homogeneous);
  EXPECT_EQ(loop.input(2)->min_arity, 0);
  EXPECT_EQ(loop.attribute("body")->kind, AttributeKind::graph);
  EXPECT_TRUE(find_schema("", "SequenceAt", 11)->input(0)->allowed->allows_sequence(DType::string));
  EXPECT_EQ(type_list(*find_schema("ai.onnx.ml", "ZipMap", 1)->output(0)->allowed), "seq(map(int64, float)), seq(map(string, float))");
  EXPECT_TRUE(find_schema("", "Cast", 28)->input(0)->allowed->allows_tensor(DType::float4e2m1));
}

TEST(Schema, SaysWhichValueTypesItAllows) {
  const ValueType floats = ValueType::tensor(DType::float32);
  const ValueType strings = ValueType::tensor(DType::string);
  const ValueType map = ValueType::map_of(DType::int64, floats);
  const TypeSet& identity = *find_schema("", "Identity", 16)->input(0)->allowed;
  EXPECT_TRUE(allows(identity, strings));
  EXPECT_TRUE(allows(identity, ValueType::sequence_of(strings)));
  EXPECT_TRUE(allows(identity, ValueType::optional_of(strings)));
  EXPECT_TRUE(allows(identity, ValueType::optional_of(ValueType::sequence_of(strings))));
  EXPECT_FALSE(allows(identity, map));
  EXPECT_FALSE(allows(identity, ValueType()));
  EXPECT_FALSE(allows(identity, ValueType::tensor(DType::undefined)));
  const TypeSet& zip_map = *find_schema("ai.onnx.ml", "ZipMap", 1)->output(0)->allowed;
  EXPECT_TRUE(allows(zip_map, ValueType::sequence_of(map)));
  EXPECT_FALSE(allows(zip_map, ValueType::sequence_of(ValueType::map_of(DType::string, strings))));
  EXPECT_FALSE(allows(zip_map, map));
  const TypeSet& vectorizer = *find_schema("ai.onnx.ml", "DictVectorizer", 1)->input(0)->allowed;
  EXPECT_TRUE(allows(vectorizer, map));
  EXPECT_FALSE(allows(vectorizer, floats));
}

}  // namespace
}  // namespace rh::ops
