#include "session/kernel_errors.h"

#include <algorithm>
#include <string_view>

namespace rh {

namespace {

// Operators of the standard that say INVALID_ARGUMENT there, for all or most of what they refuse; the others say FAIL. Those that run
// subgraphs hand on what a node inside said.
constexpr std::string_view kInvalidArgument[] = {"BatchNormalization",
                                                 "ConvTranspose",
                                                 "CumSum",
                                                 "DepthToSpace",
                                                 "Det",
                                                 "Einsum",
                                                 "Expand",
                                                 "EyeLike",
                                                 "GRU",
                                                 "Gather",
                                                 "GatherND",
                                                 "Gemm",
                                                 "If",
                                                 "InstanceNormalization",
                                                 "LSTM",
                                                 "LayerNormalization",
                                                 "Loop",
                                                 "OneHot",
                                                 "Optional",
                                                 "OptionalGetElement",
                                                 "OptionalHasElement",
                                                 "RMSNormalization",
                                                 "RNN",
                                                 "Range",
                                                 "RoiAlign",
                                                 "RotaryEmbedding",
                                                 "Scan",
                                                 "Scatter",
                                                 "ScatterElements",
                                                 "ScatterND",
                                                 "SequenceAt",
                                                 "SequenceConstruct",
                                                 "SequenceErase",
                                                 "SequenceInsert",
                                                 "SequenceMap",
                                                 "Slice",
                                                 "SpaceToDepth",
                                                 "StringNormalizer",
                                                 "TfIdfVectorizer",
                                                 "Tile",
                                                 "Transpose",
                                                 "Trilu",
                                                 "Unsqueeze"};
// Those that end in an exception there: of numbers in text, of a maximum of nothing.
constexpr std::string_view kException[] = {"ArgMax", "ArgMin", "Cast", "CastLike"};
// Operators of com.microsoft that say FAIL, as the products and convolutions of the standard; the others say INVALID_ARGUMENT.
constexpr std::string_view kProducts[] = {"DynamicQuantizeMatMul", "FusedConv",   "FusedMatMul",    "MatMulInteger16",
                                          "MatMulIntegerToFloat",  "MatMulNBits", "TransposeMatMul"};
// Operators of ai.onnx.ml that say FAIL; the others say INVALID_ARGUMENT.
constexpr std::string_view kLinear[] = {"LinearClassifier", "LinearRegressor"};
static_assert(std::ranges::is_sorted(kInvalidArgument) && std::ranges::is_sorted(kException) && std::ranges::is_sorted(kProducts));

ErrorCode code_of_operator(std::string_view domain, std::string_view op_type) {
  if (domain == "com.microsoft") return std::ranges::binary_search(kProducts, op_type) ? ErrorCode::fail : ErrorCode::invalid_argument;
  if (domain == "ai.onnx.ml" && std::ranges::binary_search(kLinear, op_type)) return ErrorCode::fail;
  if (!domain.empty()) return ErrorCode::invalid_argument;
  if (std::ranges::binary_search(kException, op_type)) return ErrorCode::runtime_exception;
  return std::ranges::binary_search(kInvalidArgument, op_type) ? ErrorCode::invalid_argument : ErrorCode::fail;
}

}  // namespace

ErrorCode code_of_kernel_error(const Node& node, ErrorCode code) {
  if (code != ErrorCode::invalid_argument) return code;
  if (node.domain != "roundhouse" || node.provenance.empty()) return code_of_operator(node.domain, node.op_type);
  const OriginalNode& first = *node.provenance.front();  // of a fused form: what the model had in its place
  return code_of_operator(first.domain, first.op_type);
}

}  // namespace rh
