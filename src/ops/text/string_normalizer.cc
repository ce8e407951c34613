#include "ops/text/string_normalizer.h"

#include "ops/registry.h"

namespace rh::ops {

StringNormalizer StringNormalizer::read(const NodeView& node) {
  StringNormalizer op;
  const std::string action = node.string_or("case_change_action", "NONE");
  if (action == "LOWER") {
    op.case_change = CaseChange::lower;
  } else if (action == "UPPER") {
    op.case_change = CaseChange::upper;
  } else if (action != "NONE") {
    node.fail("attribute 'case_change_action' is '{}', expected LOWER, UPPER or NONE", action);
  }
  op.case_sensitive = node.flag("is_case_sensitive");
  op.stop_words = node.strings_or("stopwords");
  return op;
}

void infer(const StringNormalizer& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, DType::string);
  const auto refuse = [&] { context.node().fail("input has shape {}, expected [C] or [1, C]", to_string(*x.dims)); };
  if (x.rank() != 1 && x.rank() != 2) refuse();
  if (x.rank() == 2 && (*x.dims)[0].is_constant() && (*x.dims)[0].value() != 1) refuse();
  SymbolicShape shape = *x.dims;
  const bool keeps_all = op.stop_words.empty() && shape.back().is_constant() && shape.back().value() > 0;
  if (!keeps_all) shape.back() = context.fresh_symbol();
  if (shape.size() == 2) shape[0] = 1;
  context.set_output(0, DType::string, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(StringNormalizer)
