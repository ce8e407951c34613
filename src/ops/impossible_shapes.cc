#include "ops/impossible_shapes.h"

#include <algorithm>
#include <string_view>

namespace rh {

namespace {

// Operators whose attributes and shapes ONNX Runtime holds against each other when the node runs, not when the model loads.
constexpr std::string_view kStandard[] = {"Attention",
                                          "CumProd",
                                          "CumSum",
                                          "DeformConv",
                                          "Einsum",
                                          "GatherElements",
                                          "GatherND",
                                          "Gelu",
                                          "GroupNormalization",
                                          "NonMaxSuppression",
                                          "RMSNormalization",
                                          "RotaryEmbedding",
                                          "STFT",
                                          "Scatter",
                                          "ScatterElements",
                                          "ScatterND",
                                          "Unique"};
constexpr std::string_view kMicrosoft[] = {"BiasGelu",
                                           "CDist",
                                           "CausalConvWithState",
                                           "ConvTransposeWithDynamicPads",
                                           "DecoderMaskedMultiHeadAttention",
                                           "DynamicQuantizeLSTM",
                                           "DynamicTimeWarping",
                                           "FastGelu",
                                           "FusedConv",
                                           "GatherPacked",
                                           "GridSample",
                                           "LinearAttention",
                                           "MRotaryEmbedding",
                                           "MoE",
                                           "MultiHeadAttention",
                                           "Pad",
                                           "QAttention",
                                           "QGemm",
                                           "QMoE",
                                           "RotaryEmbedding",
                                           "SkipLayerNormalization",
                                           "SkipSimplifiedLayerNormalization",
                                           "SparseToDenseMatMul",
                                           "Unique",
                                           "VarlenCausalConvWithState",
                                           "WordConvEmbedding"};
constexpr std::string_view kMl[] = {"ArrayFeatureExtractor", "FeatureVectorizer"};
static_assert(std::ranges::is_sorted(kStandard) && std::ranges::is_sorted(kMicrosoft) && std::ranges::is_sorted(kMl));

}  // namespace

bool is_for_runs(const Node& node, const Error& error) {
  if (dynamic_cast<const ShapeError*>(&error)) return true;
  if (const auto* axis = dynamic_cast<const AxisError*>(&error); axis && axis->for_runs) return true;
  if (error.code() != ErrorCode::fail) return false;
  if (node.domain.empty()) return std::ranges::binary_search(kStandard, node.op_type);
  if (node.domain == "com.microsoft") return std::ranges::binary_search(kMicrosoft, node.op_type);
  return node.domain == "ai.onnx.ml" && std::ranges::binary_search(kMl, node.op_type);
}

}  // namespace rh
