#include "ops/ml/dict_vectorizer.h"

#include "ops/registry.h"

namespace rh::ops {

DictVectorizer DictVectorizer::read(const NodeView& node) {
  DictVectorizer op{node.ints_or("int64_vocabulary"), node.strings_or("string_vocabulary")};
  if (op.integers.empty() == op.strings.empty()) node.fail("needs one of the attributes 'int64_vocabulary' and 'string_vocabulary'");
  return op;
}

void infer(const DictVectorizer& op, InferenceContext& context) {
  const ValueType& x = context.input_type(0);
  if (x.is_unknown()) return;
  if (x.kind() != ValueType::Kind::map) context.node().fail("the input is {}, expected a map", x.to_string());
  if ((x.key() == DType::string) != op.integers.empty()) {
    context.node().fail("the input is {}, but the vocabulary is of {}", x.to_string(), op.integers.empty() ? "strings" : "integers");
  }
  context.set_output(0, x.element().is_tensor() ? x.element().tensor().dtype : DType::undefined, SymbolicShape{Dim(1), Dim(op.count())});
}

}  // namespace rh::ops

RH_DEFINE_OP(DictVectorizer)
