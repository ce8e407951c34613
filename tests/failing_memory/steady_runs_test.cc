#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "failing_memory/client.h"
#include "failing_memory/failing_allocations.h"
#include "graph/text_parse.h"
#include "onnx/writer.h"

// Operators whose runs take no memory once their shapes were seen, with values of the caller's in and out.
namespace rh::test {
namespace {

struct SteadyRow {
  const char* purpose;
  const char* nodes;      ///< from float[4, 64] x to y; they may use the constants below
  const char* constants;  ///< more of them
  int opset = 24;
  bool is_random = false;
};

/// Shapes for x, and numbers that many operators need.
constexpr const char* kConstants =
    "int64[4] s4 = {2, 4, 4, 8}, int64[3] s3 = {2, 8, 16}, int64[1] s1 = {256}, int64[4] heads = {2, 2, 8, 8}, float[] half = {0.5}, "
    "float[64] row = {0.5, ...}, uint8[] z = {3}, int8[] zi = {0}, float[] s = {0.1}, int64[1] one = {1}, int64[1] two = {2}, "
    "int64[] zero = {0}";

const std::vector<SteadyRow> kElementwise = {
    {"a chain of float", "a = Add (x, row) b = Erf (a) c = Tanh (b) y = Mul (c, x)", ""},
    {"functions of float", "a = Sin (x) b = Cosh (a) c = Softplus (b) d = Selu (c) e = Mish (d) y = Gelu (e)", ""},
    {"functions of double", "a = Cast <to = 11> (x) b = Exp (a) c = Atan (b) y = Sqrt (c)", ""},
    {"float16", "a = Cast <to = 10> (x) b = Sigmoid (a) c = Add (b, a) d = HardSwish (c) y = Cast <to = 1> (d)", ""},
    {"bfloat16", "a = Cast <to = 16> (x) b = Tanh (a) c = Mul (b, a) y = Cast <to = 1> (c)", ""},
    {"integers", "a = Cast <to = 6> (x) b = Abs (a) c = Div (b, k) d = Mod (c, k) e = Neg (d) y = Max (e, a)", "int32[] k = {3}"},
    {"bits",
     "a = Cast <to = 13> (x) b = BitShift <direction = \"LEFT\"> (a, k) c = BitwiseAnd (a, b) d = BitwiseNot (c) y = BitwiseXor (d, a)",
     "uint64[] k = {3}"},
    {"comparisons", "a = Greater (x, half) b = LessOrEqual (x, row) c = And (a, b) d = Not (c) e = Xor (d, a) y = Where (e, x, row)", ""},
    {"columns", "y = Sub (x, c)", "float[4, 1] c = {1, 2, 3, 4}"},
    {"an outer sum", "a = Slice (x, zeros, ends) b = Slice (x, zeros, rows) y = Add (a, b)",
     "int64[2] zeros = {0, 0}, int64[2] ends = {4, 1}, int64[2] rows = {1, 64}"},
    {"powers", "a = Abs (x) b = Pow (a, half) c = Pow (x, k) y = Add (b, c)", "int64[] k = {3}"},
    {"bounds of a run", "a = ReduceMin <keepdims = 0> (x) b = ReduceMean <keepdims = 0> (x) y = Clip (x, a, b)", ""},
    {"remainders", "y = Mod <fmod = 1> (x, k)", "float[] k = {1.5}"},
    {"several values", "a = Neg (x) b = Sum (a, x, row) c = Mean (a, b, x) y = Min (a, b, c)", ""},
    {"numbers that are none", "a = Log (x) b = IsNaN (a) c = IsInf (a) d = Or (b, c) y = Where (d, x, a)", ""},
    {"a slope a column", "y = PRelu (x, row)", ""},
    {"Shrink and ThresholdedRelu", "a = Shrink <lambd = 0.5> (x) y = ThresholdedRelu (a)", ""},
    {"Hardmax", "y = Hardmax (x)", ""},
    {"LogSoftmax over the first axis", "y = LogSoftmax <axis = 0> (x)", ""},
    {"Softmax over a middle axis", "a = Reshape (x, s3) y = Softmax <axis = 1> (a)", ""},
    {"Dropout", "a, m = Dropout (x) b = Cast <to = 1> (m) y = Add (a, b)", ""},
    {"BitCast", "y = BitCast <to = 6> (x)", "", 26},
    {"casts",
     "a = Cast <to = 7> (x) b = Cast <to = 9> (a) c = Cast <to = 2> (b) d = Cast <to = 17> (x) e = Cast <to = 1> (d) f = CastLike "
     "(c, e) y = Add (e, f)",
     ""},
    {"BiasGelu", "y = com.microsoft.BiasGelu (x, row)", ""},
};

const std::vector<SteadyRow> kMoves = {
    {"Transpose", "a = Reshape (x, s4) y = Transpose <perm = [3, 1, 0, 2]> (a)", ""},
    {"Concat and Split", "a, b = Split <axis = 1, num_outputs = 2> (x) y = Concat <axis = 1> (b, a)", ""},
    {"Split of sizes", "a, b, c = Split <axis = 1> (x, k) d = Concat <axis = 1> (c, a, b) y = Neg (d)", "int64[3] k = {10, 20, 34}"},
    {"Slice", "y = Slice (x, b, e, a, t)", "int64[2] b = {3, 60}, int64[2] e = {0, 2}, int64[2] a = {0, 1}, int64[2] t = {-1, -3}"},
    {"Gather", "a = Gather <axis = 1> (x, i) y = Neg (a)", "int64[3] i = {2, 0, -1}"},
    {"Gather by a run's indices", "a = ArgMax <axis = 1, keepdims = 0> (x) y = Gather <axis = 1> (x, a)", ""},
    {"GatherElements", "a = ArgMax <axis = 1> (x) y = GatherElements <axis = 1> (x, a)", ""},
    {"GatherND", "y = GatherND (x, i)", "int64[2, 2] i = {1, 2, 3, 4}"},
    {"GatherND of a batch", "a = ArgMax <axis = 1> (x) y = GatherND <batch_dims = 1> (x, a)", ""},
    {"ScatterElements", "a = ArgMax <axis = 1> (x) b = ReduceMax (x, one) y = ScatterElements <axis = 1, reduction = \"add\"> (x, a, b)",
     ""},
    {"ScatterElements without a sum", "a = ArgMax <axis = 1> (x) b = ReduceMax (x, one) y = ScatterElements <axis = 1> (x, a, b)", ""},
    {"ScatterND", "a = Gather (x, i1) y = ScatterND (x, i, a)", "int64[2, 1] i = {1, 3}, int64[2] i1 = {0, 2}"},
    {"ScatterND with a maximum", "a = Gather (x, i1) y = ScatterND <reduction = \"max\"> (x, i, a)",
     "int64[2, 1] i = {1, 3}, int64[2] i1 = {0, 2}"},
    {"TensorScatter", "a = Reshape (x, s3) b = Slice (a, i0, i1, two) y = TensorScatter <axis = 1> (a, c, at)",
     "int64[1] i0 = {0}, int64[1] i1 = {4}, float[2, 3, 16] c = {1, ...}, int64[2] at = {1, 2}"},
    {"Pad", "y = Pad (x, p, half)", "int64[4] p = {1, 2, 0, 3}"},
    {"Pad by reflection", "a = Reshape (x, s4) b = Pad <mode = \"reflect\"> (a, p) y = Neg (b)", "int64[8] p = {0, 0, 1, 2, 0, 0, 2, 1}"},
    {"Pad by the edge", "y = Pad <mode = \"edge\"> (x, p)", "int64[4] p = {1, 2, 0, 3}"},
    {"Pad by wrapping", "y = Pad <mode = \"wrap\"> (x, p)", "int64[4] p = {1, 2, 0, 3}"},
    {"Pad with a number of the run", "a = ReduceMax <keepdims = 0> (x) y = Pad (x, p, a)", "int64[4] p = {1, 2, 0, 3}"},
    {"Tile", "y = Tile (x, r)", "int64[2] r = {2, 3}"},
    {"Expand", "a = Unsqueeze (x, one) y = Expand (a, e)", "int64[3] e = {4, 3, 64}"},
    {"DepthToSpace", "a = Reshape (x, s4) b = DepthToSpace <blocksize = 2> (a) y = SpaceToDepth <blocksize = 2> (b)", ""},
    {"DepthToSpace, columns first", "a = Reshape (x, s4) y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (a)", ""},
    {"views", "a = Unsqueeze (x, one) b = Flatten (a) c = Squeeze (a, one) d = Neg (b) e = Reshape (d, s1) y = Identity (e)", ""},
    {"Trilu", "y = Trilu (x)", ""},
    {"EyeLike", "a = EyeLike <k = 1> (x) y = Add (a, x)", ""},
    {"OneHot", "a = ArgMax <axis = 1, keepdims = 0> (x) y = OneHot (a, d, v)", "int64[] d = {5}, float[2] v = {0, 1}"},
    {"ReverseSequence", "y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, l)", "int64[4] l = {4, 64, 1, 10}"},
    {"CenterCropPad", "y = CenterCropPad (x, c)", "int64[2] c = {6, 32}"},
    {"Compress along an axis", "y = Compress <axis = 0> (x, k)", "bool[4] k = {1, 0, 1, 1}"},
    {"Shape and Size",
     "a = Shape (x) b = Size (x) c = Cast <to = 1> (a) d = ReduceMax <keepdims = 0> (c) e = Cast <to = 1> (b) f = Add (d, "
     "e) y = Mul (x, f)",
     ""},
    {"UnfoldTensor", "y = com.microsoft.UnfoldTensor <dim = 1, size = 4, step = 2> (x)", ""},
    {"Col2Im", "a = Reshape (x, k) y = Col2Im (a, i, b)", "int64[3] k = {1, 16, 16}, int64[2] i = {5, 5}, int64[2] b = {2, 2}"},
};

const std::vector<SteadyRow> kReductions = {
    {"sums of rows", "y = ReduceSum (x, one)", ""},
    {"sums of columns", "y = ReduceMean (x, k)", "int64[1] k = {0}"},
    {"sums of all", "y = ReduceLogSumExp <keepdims = 0> (x)", ""},
    {"sums of two axes apart", "a = Reshape (x, s4) y = ReduceL2 (a, k)", "int64[2] k = {0, 2}"},
    {"products and extremes",
     "a = ReduceProd (x, one) b = ReduceMin (x, one) c = ReduceL1 (x, one) d = ReduceSumSquare (x, one) e = Add (a, b) "
     "f = Add (c, d) y = Add (e, f)",
     ""},
    {"sums of integers", "a = Cast <to = 7> (x) y = ReduceSum (a, one)", ""},
    {"sums of double", "a = Cast <to = 11> (x) y = ReduceLogSum (a, one)", ""},
    {"ArgMin", "a = ArgMin <axis = 0, select_last_index = 1> (x) y = Neg (a)", ""},
    {"TopK", "v, i = TopK (x, k) a = Cast <to = 1> (i) y = Add (v, a)", "int64[1] k = {5}"},
    {"TopK of columns, the least", "v, i = TopK <axis = 0, largest = 0> (x, two) a = Cast <to = 1> (i) y = Add (v, a)", ""},
    {"TopK of nearly all", "v, i = TopK (x, k) a = Cast <to = 1> (i) y = Add (v, a)", "int64[1] k = {60}"},
    {"TopK, unordered, of integers", "n = Cast <to = 7> (x) v, i = TopK <sorted = 0> (n, k) y = Add (v, i)", "int64[1] k = {7}"},
    {"CumSum", "a = CumSum (x, k) y = CumSum <exclusive = 1, reverse = 1> (a, zero)", "int64[] k = {1}"},
    {"normalised over a row", "y = LayerNormalization (x, row, row)", ""},
    {"normalised over a row of float16",
     "a = Cast <to = 10> (x) b = Cast <to = 10> (row) c = LayerNormalization (a, b) y = Cast <to = 1> (c)", ""},
    {"normalised over a row of double", "a = Cast <to = 11> (x) y = LayerNormalization (a, b, b)", "double[64] b = {0.5, ...}"},
    {"normalised over two axes, with factors of a run",
     "a = Reshape (x, s3) b = Slice (a, i0, i1) c = Squeeze (b, i0) y = LayerNormalization <axis = 1> (a, c)",
     "int64[1] i0 = {0}, int64[1] i1 = {1}"},
    {"mean and deviation", "y, m, d = LayerNormalization (x, row)", ""},
    {"the root of squares", "y = RMSNormalization (x, row)", ""},
    {"LpNormalization", "a = LpNormalization (x) y = LpNormalization <axis = 0, p = 1> (a)", ""},
    {"MeanVarianceNormalization", "a = Reshape (x, s4) y = MeanVarianceNormalization (a)", ""},
    {"MeanVarianceNormalization of a middle axis", "a = Reshape (x, s4) y = MeanVarianceNormalization <axes = [1]> (a)", ""},
    {"InstanceNormalization", "a = Reshape (x, s4) y = InstanceNormalization (a, g, g)", "float[4] g = {1, 2, 3, 4}"},
    {"InstanceNormalization, a sum and Relu",
     "a = Reshape (x, s4) b = Neg (a) c = InstanceNormalization (a, g, g) d = Add (c, b) y = Relu (d)", "float[4] g = {1, 2, 3, 4}"},
    {"GroupNormalization of float16 and SiLU",
     "a = Reshape (x, s4) b = Cast <to = 10> (a) h = Cast <to = 10> (g) c = GroupNormalization <num_groups = 2> (b, h, h) d = Swish (c) y "
     "= "
     "Cast <to = 1> (d)",
     "float[4] g = {1, 2, 3, 4}"},
    {"channels normalised, and Gelu",
     "a = Reshape (x, s4) b = Transpose <perm = [0, 2, 3, 1]> (a) c = LayerNormalization (b, g, g) d = Transpose <perm = [0, 3, 1, 2]> (c) "
     "y "
     "= Gelu (d)",
     "float[4] g = {1, 2, 3, 4}"},
    {"BatchNormalization", "a = Reshape (x, s4) y = BatchNormalization (a, g, g, g, g)", "float[4] g = {1, 2, 3, 4}"},
    {"BatchNormalization by a run's numbers",
     "a = Reshape (x, s4) m = ReduceMean <keepdims = 0> (a, k) y = BatchNormalization (a, m, g, m, g)",
     "float[4] g = {1, 2, 3, 4}, int64[3] k = {0, 2, 3}"},
    {"BatchNormalization as in training",
     "a = Reshape (x, s4) b, m, v = BatchNormalization <training_mode = 1> (a, g, g, g, g) c = Add (m, v) d = Unsqueeze (c, k) y = Add (b, "
     "d)",
     "float[4] g = {1, 2, 3, 4}, int64[2] k = {1, 2}"},
    {"SkipLayerNormalization", "a = Reshape (x, s3) b = Neg (a) y = com.microsoft.SkipLayerNormalization (a, b, g)",
     "float[16] g = {0.5, ...}"},
    {"LRN", "a = Reshape (x, s4) y = LRN <size = 3> (a)", ""},
    {"NegativeLogLikelihoodLoss", "y = NegativeLogLikelihoodLoss (x, t)", "int64[4] t = {1, 2, 3, 60}"},
    {"SoftmaxCrossEntropyLoss", "y = SoftmaxCrossEntropyLoss (x, t, row)", "int64[4] t = {1, 2, 3, 60}"},
};

const std::vector<SteadyRow> kProducts = {
    {"MatMul of two values", "a = Transpose <perm = [1, 0]> (x) y = MatMul (x, a)", ""},
    {"MatMul of batches", "a = Reshape (x, s3) b = Transpose <perm = [0, 2, 1]> (a) c = Sin (b) y = MatMul (a, c)", ""},
    {"MatMul of double", "a = Cast <to = 11> (x) b = Transpose <perm = [1, 0]> (a) y = MatMul (a, b)", ""},
    {"MatMul of float16", "a = Cast <to = 10> (x) b = Cast <to = 10> (w) c = MatMul (a, b) y = Cast <to = 1> (c)",
     "float[64, 8] w = {0.5, ...}"},
    {"MatMul of integers", "a = Cast <to = 6> (x) b = Transpose <perm = [1, 0]> (a) y = MatMul (a, b)", ""},
    {"Gemm", "a = Sin (x) y = Gemm <transB = 1, alpha = 0.5> (x, a, c)", "float[4] c = {1, 2, 3, 4}"},
    {"Gemm of constant weights", "a = Gemm (x, w, c) y = LeakyRelu (a)", "float[64, 8] w = {0.5, ...}, float[8] c = {1, ...}"},
    {"a constant left operand", "y = MatMul (w, x)", "float[8, 4] w = {0.5, ...}"},
    {"Einsum", "a = Reshape (x, s3) y = Einsum <equation = \"bij,bkj->bik\"> (a, a)", ""},
    {"Einsum, three operands", "a = Reshape (x, s3) y = Einsum <equation = \"bij,bkj,bk->bi\"> (a, a, w)", "float[2, 8] w = {0.5, ...}"},
    {"Einsum of a diagonal", "a = Reshape (x, h) y = Einsum <equation = \"...ii->...i\"> (a)", "int64[3] h = {4, 8, 8}"},
    {"Einsum, broadcast", "a = Reshape (x, s4) y = Einsum <equation = \"...ij,...jk->...ik\"> (a, w)", "float[8, 3] w = {0.5, ...}"},
    {"FusedMatMul", "y = com.microsoft.FusedMatMul <transB = 1, alpha = 2.0> (x, x)", ""},
    {"Det", "a = Reshape (x, h) y = Det (a)", "int64[3] h = {4, 8, 8}"},
    {"Inverse", "a = Reshape (x, h) b = EyeLike (w) c = Mul (b, k) d = Add (a, c) y = com.microsoft.Inverse (d)",
     "int64[3] h = {4, 8, 8}, float[8, 8] w = {1, ...}, float[] k = {100}"},
    {"CDist", "y = com.microsoft.CDist (x, w)", "float[3, 64] w = {0.5, ...}"},
    {"SwiGLU", "y = com.microsoft.QuickGelu (x)", ""},
    {"MatMulNBits", "y = com.microsoft.MatMulNBits <K = 64, N = 8, bits = 4, block_size = 32> (x, w, t)",
     "uint8[8, 2, 16] w = {37, ...}, float[16] t = {0.1, ...}"},
    {"MatMulNBits of 8 bits with zero points", "y = com.microsoft.MatMulNBits <K = 64, N = 8, bits = 8, block_size = 32> (x, w, t, o)",
     "uint8[8, 2, 32] w = {37, ...}, float[16] t = {0.1, ...}, uint8[16] o = {7, ...}"},
    {"MatMulNBits by integers", "y = com.microsoft.MatMulNBits <K = 64, N = 8, bits = 4, block_size = 32, accuracy_level = 4> (x, w, t)",
     "uint8[8, 2, 16] w = {37, ...}, float[16] t = {0.1, ...}"},
    {"MatMulBnb4", "y = com.microsoft.MatMulBnb4 <K = 64, N = 8, block_size = 32, quant_type = 1> (x, w, t)",
     "uint8[256] w = {37, ...}, float[16] t = {0.1, ...}"},
    {"GatherBlockQuantized",
     "i = ArgMax <axis = 1, keepdims = 0> (x) y = com.microsoft.GatherBlockQuantized <block_size = 16, quantize_axis = 1, bits = 8> (w, i, "
     "t)",
     "uint8[64, 32] w = {3, ...}, float[64, 2] t = {0.1, ...}"},
    {"GatherPacked",
     "i = ArgMax <axis = 1, keepdims = 0> (x) y = com.microsoft.GatherPacked <packed_type = 8, K = 64, output_dtype = 1> (w, i)",
     "uint8[64, 68] w = {3, ...}"},
    {"MoE", "r = Slice (x, b, e) y = com.microsoft.MoE <k = 2, activation_type = \"relu\"> (x, r, w, _, v, _)",
     "int64[2] b = {0, 0}, int64[2] e = {4, 4}, float[4, 16, 64] w = {0.1, ...}, float[4, 64, 16] v = {0.2, ...}"},
};

const std::vector<SteadyRow> kConvolutions = {
    {"Conv along one axis", "a = Reshape (x, s3) y = Conv <dilations = [2]> (a, w)", "float[8, 8, 3] w = {0.1, ...}"},
    {"Conv along three axes", "a = Reshape (x, k) y = Conv (a, w)", "int64[5] k = {1, 2, 4, 4, 8}, float[3, 2, 2, 2, 2] w = {0.1, ...}"},
    {"Conv with steps", "a = Reshape (x, s4) b = Conv <strides = [2, 2]> (a, w) y = Sigmoid (b)", "float[8, 4, 3, 3] w = {0.1, ...}"},
    {"Conv of double", "a = Cast <to = 11> (x) b = Reshape (a, s4) y = Conv (b, w)", "double[8, 4, 3, 3] w = {0.1, ...}"},
    {"Conv of float16", "a = Cast <to = 10> (x) b = Reshape (a, s4) v = Cast <to = 10> (w) c = Conv (b, v) y = Cast <to = 1> (c)",
     "float[8, 4, 3, 3] w = {0.1, ...}"},
    {"ConvTranspose along one axis", "a = Reshape (x, s3) y = ConvTranspose <strides = [2], group = 2> (a, w)",
     "float[8, 3, 3] w = {0.1, ...}"},
    {"ConvTranspose of double", "a = Cast <to = 11> (x) b = Reshape (a, s4) y = ConvTranspose (b, w)", "double[4, 2, 3, 3] w = {0.1, ...}"},
    {"DeformConv", "a = Reshape (x, s4) y = DeformConv (a, w, o)", "float[3, 4, 2, 2] w = {0.1, ...}, float[2, 8, 3, 7] o = {0.25, ...}"},
    {"DeformConv in groups of double", "d = Cast <to = 11> (x) a = Reshape (d, s4) y = DeformConv <group = 2> (a, w, o)",
     "double[4, 2, 2, 2] w = {0.1, ...}, double[2, 8, 3, 7] o = {0.25, ...}"},
    {"CausalConvWithState", "a = Reshape (x, s3) y, p = com.microsoft.CausalConvWithState (a, w)", "float[8, 1, 4] w = {0.1, ...}"},
    {"VarlenCausalConvWithState", "y, n = com.microsoft.VarlenCausalConvWithState (x, w, b, _, p)",
     "float[64, 1, 4] w = {0.1, ...}, int32[3] b = {0, 1, 4}, float[2, 64, 3] p = {0.5, ...}"},
    {"MaxPool with indices",
     "a = Reshape (x, s4) b, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a) y = MaxUnpool <kernel_shape = [2, 2], strides = [2, "
     "2]> (b, i)",
     ""},
    {"AveragePool", "a = Reshape (x, s4) y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], ceil_mode = 1> (a)", ""},
    {"LpPool", "a = Reshape (x, s4) y = LpPool <kernel_shape = [2, 2]> (a)", ""},
    {"MaxPool of bytes", "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) y = MaxPool <kernel_shape = [2, 2], dilations = [2, 1]> (a)",
     ""},
    {"pools of all",
     "a = Reshape (x, s4) b = GlobalAveragePool (a) c = GlobalMaxPool (a) d = GlobalLpPool (a) e = Add (b, c) y = Add (d, e)", ""},
    {"Resize by linear interpolation", "a = Reshape (x, s4) y = Resize <mode = \"linear\"> (a, _, k)", "float[4] k = {1, 1, 2, 1.5}"},
    {"Resize by the nearest", "a = Reshape (x, s4) y = Resize <mode = \"nearest\"> (a, _, _, k)", "int64[4] k = {2, 4, 9, 5}"},
    {"Resize by cubic interpolation", "a = Reshape (x, s4) y = Resize <mode = \"cubic\"> (a, _, _, k)", "int64[4] k = {2, 4, 9, 5}"},
    {"Resize with antialiasing", "a = Reshape (x, s4) y = Resize <mode = \"linear\", antialias = 1> (a, _, _, k)",
     "int64[4] k = {2, 4, 2, 5}"},
    {"Resize by crops",
     "a = Reshape (x, s4) y = Resize <mode = \"linear\", coordinate_transformation_mode = \"tf_crop_and_resize\"> (a, r, _, k)",
     "int64[4] k = {2, 4, 2, 5}, float[8] r = {0, 0, -0.1, 0.2, 1, 1, 1.2, 0.8}"},
    {"Resize of bytes", "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) y = Resize <mode = \"linear\"> (a, _, k)",
     "float[4] k = {1, 1, 2, 1.5}"},
    {"Resize of bytes by the nearest", "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) y = Resize (a, _, k)",
     "float[4] k = {1, 1, 2, 3}"},
    {"Resize by the nearest, twice", "a = Reshape (x, s4) y = Resize (a, _, k)", "float[4] k = {1, 1, 2, 2}"},
    {"GridSample", "a = Reshape (x, s4) g = Reshape (x, k) h = Mul (g, half) y = GridSample (a, h)", "int64[4] k = {2, 8, 8, 2}"},
    {"GridSample by cubic interpolation",
     "a = Reshape (x, s4) g = Reshape (x, k) y = GridSample <mode = \"cubic\", padding_mode = \"reflection\"> (a, g)",
     "int64[4] k = {2, 8, 8, 2}"},
    {"AffineGrid", "a = Slice (x, b, e) c = Reshape (a, m) y = AffineGrid (c, k)",
     "int64[2] b = {0, 0}, int64[2] e = {2, 6}, int64[3] m = {2, 2, 3}, int64[4] k = {2, 3, 4, 5}"},
    {"RoiAlign", "a = Reshape (x, s4) y = RoiAlign <output_height = 2, output_width = 3, sampling_ratio = 2> (a, r, i)",
     "float[2, 4] r = {0, 0, 3, 3, 1, 1, 6, 3}, int64[2] i = {0, 1}"},
    {"RoiAlign of maxima", "a = Reshape (x, s4) y = RoiAlign <output_height = 2, output_width = 3, mode = \"max\"> (a, r, i)",
     "float[2, 4] r = {0, 0, 3, 3, 1, 1, 6, 3}, int64[2] i = {0, 1}"},
    {"MaxRoiPool", "a = Reshape (x, s4) y = MaxRoiPool <pooled_shape = [2, 2]> (a, r)", "float[2, 5] r = {0, 0, 0, 3, 3, 1, 1, 1, 6, 3}"},
    {"CropAndResize", "a = Reshape (x, s4) y = com.microsoft.CropAndResize (a, r, i, k)",
     "float[2, 4] r = {0, 0, 0.5, 0.5, 0.2, 0.1, 1, 1}, int32[2] i = {0, 1}, int32[2] k = {3, 5}"},
    {"NonMaxSuppression", "a = Sigmoid (x) b = Reshape (a, k) c = Slice (x, i0, i1) d = Reshape (c, l) y = NonMaxSuppression (b, d, m, t)",
     "int64[3] k = {1, 64, 4}, int64[2] i0 = {0, 0}, int64[2] i1 = {2, 64}, int64[3] l = {1, 2, 64}, int64[1] m = {5}, float[1] t = {0.5}"},
    {"Upsample", "a = Reshape (x, s4) y = Upsample <mode = \"linear\"> (a, k)", "float[4] k = {1, 1, 2, 2}", 9},
    {"Conv by a run's weights", "a = Reshape (x, s4) w = Slice (a, i0, i1) v = Reshape (w, k) y = Conv (a, v, b)",
     "int64[1] i0 = {0}, int64[1] i1 = {1}, int64[4] k = {8, 4, 2, 2}, float[8] b = {0.5, ...}"},
    {"Conv by a run's weights, 1x1, with a sum and an activation",
     "a = Reshape (x, s4) v = Reshape (x, k) c = Conv (a, v) d = Conv (a, v) e = Add (c, d) y = Relu (e)", "int64[4] k = {64, 4, 1, 1}"},
    {"Conv by a run's weights, one channel a group",
     "a = Reshape (x, s4) w = Slice (x, i0, i1, one) v = Reshape (w, k) y = Conv <group = 4, pads = [1, 1, 1, 1]> (a, v)",
     "int64[1] i0 = {0}, int64[1] i1 = {9}, int64[4] k = {4, 1, 3, 3}"},
    {"Conv by a run's weights of Winograd's algorithm",
     "a = Tile (x, t) b = Reshape (a, sb) w = Tile (x, u) v = Reshape (w, sw) y = Conv <pads = [1, 1, 1, 1]> (b, v)",
     "int64[2] t = {8, 16}, int64[4] sb = {1, 32, 32, 32}, int64[2] u = {3, 12}, int64[4] sw = {32, 32, 3, 3}"},
    {"Conv by a run's weights along one axis, in groups",
     "a = Reshape (x, s3) w = Slice (x, i0, i1, one) v = Reshape (w, k) y = Conv <group = 2> (a, v)",
     "int64[1] i0 = {0}, int64[1] i1 = {48}, int64[3] k = {16, 4, 3}"},
    {"Conv by a run's weights with many taps",
     "a = Tile (x, t) b = Reshape (a, sb) w = Tile (x, u) v = Reshape (w, sw) y = Conv <strides = [2, 2]> (b, v)",
     "int64[2] t = {3, 16}, int64[4] sb = {1, 3, 64, 64}, int64[2] u = {3, 12}, int64[4] sw = {48, 3, 8, 8}"},
    {"Conv of double by a run's weights", "d = Cast <to = 11> (x) a = Reshape (d, s4) v = Reshape (d, k) y = Conv (a, v)",
     "int64[4] k = {16, 4, 2, 2}"},
    {"Conv of float16 by a run's weights",
     "d = Cast <to = 10> (x) a = Reshape (d, s4) v = Reshape (d, k) c = Conv (a, v) y = Cast <to = 1> (c)", "int64[4] k = {16, 4, 2, 2}"},
    {"ConvTranspose by a run's weights, overlapping", "a = Reshape (x, s4) v = Reshape (x, k) y = ConvTranspose <strides = [2, 2]> (a, v)",
     "int64[4] k = {4, 4, 4, 4}"},
    {"ConvTranspose by a run's weights, blocks", "a = Reshape (x, s4) v = Reshape (x, k) y = ConvTranspose <strides = [2, 2]> (a, v, b)",
     "int64[4] k = {4, 16, 2, 2}, float[16] b = {0.5, ...}"},
    {"ConvTranspose by a run's weights, without steps", "a = Reshape (x, s4) v = Reshape (x, k) y = ConvTranspose (a, v)",
     "int64[4] k = {4, 16, 2, 2}"},
    {"ConvTranspose by a run's weights, one channel a group",
     "a = Reshape (x, s4) v = Reshape (x, k) y = ConvTranspose <strides = [2, 2], group = 4> (a, v)", "int64[4] k = {4, 1, 8, 8}"},
    {"ConvTranspose by a run's weights, of large planes",
     "a = Tile (x, t) b = Reshape (a, sb) w = Tile (x, u) v = Reshape (w, sw) y = ConvTranspose <strides = [2, 2]> (b, v)",
     "int64[2] t = {8, 16}, int64[4] sb = {1, 32, 32, 32}, int64[2] u = {3, 12}, int64[4] sw = {32, 32, 3, 3}"},
    {"ConvTranspose of float16 by a run's weights",
     "d = Cast <to = 10> (x) a = Reshape (d, s4) v = Reshape (d, k) c = ConvTranspose <strides = [2, 2]> (a, v) y = Cast <to = 1> (c)",
     "int64[4] k = {4, 4, 4, 4}"},
    {"MaxpoolWithMask", "a = Reshape (x, s4) m = Cast <to = 6> (a) y = com.microsoft.MaxpoolWithMask <kernel_shape = [2, 2]> (a, m)", ""},
};

const std::vector<SteadyRow> kRecurrent = {
    {"GRU", "a = Reshape (x, k) y = GRU <hidden_size = 8> (a, w, r, b)",
     "int64[3] k = {8, 2, 16}, float[1, 24, 16] w = {0.1, ...}, float[1, 24, 8] r = {0.2, ...}, float[1, 48] b = {0.1, ...}"},
    {"GRU, reset before the product, both ways",
     "a = Reshape (x, k) y, h = GRU <hidden_size = 8, linear_before_reset = 1, direction = \"bidirectional\"> (a, w, r)",
     "int64[3] k = {8, 2, 16}, float[2, 24, 16] w = {0.1, ...}, float[2, 24, 8] r = {0.2, ...}"},
    {"RNN", "a = Reshape (x, k) y = RNN <hidden_size = 8> (a, w, r)",
     "int64[3] k = {8, 2, 16}, float[1, 8, 16] w = {0.1, ...}, float[1, 8, 8] r = {0.2, ...}"},
    {"LSTM both ways with lengths", "a = Reshape (x, k) y = LSTM <hidden_size = 8, direction = \"bidirectional\"> (a, w, r, _, l)",
     "int64[3] k = {8, 2, 16}, float[2, 32, 16] w = {0.1, ...}, float[2, 32, 8] r = {0.2, ...}, int32[2] l = {8, 3}"},
    {"GRU by a run's weights",
     "a = Reshape (x, k) c = Concat <axis = 0> (x, x, x) w = Reshape (c, wk) r = Slice (w, i0, i1, two) y = GRU <hidden_size = 8, "
     "direction = \"bidirectional\"> (a, w, r)",
     "int64[3] k = {8, 2, 16}, int64[3] wk = {2, 24, 16}, int64[1] i0 = {0}, int64[1] i1 = {8}"},
    {"RNN by a run's weights, both ways",
     "a = Reshape (x, k) w = Reshape (x, wk) r = Slice (w, i0, i1, two) y = RNN <hidden_size = 8, direction = \"bidirectional\"> (a, w, r)",
     "int64[3] k = {8, 2, 16}, int64[3] wk = {2, 8, 16}, int64[1] i0 = {0}, int64[1] i1 = {8}"},
    {"LSTM by a run's weights, one step",
     "a = Reshape (x, k) w = Reshape (x, wk) r = Slice (w, i0, i1, two) b = Slice (a, i0, one) y, h, c = LSTM <hidden_size = 4> (b, w, r)",
     "int64[3] k = {16, 1, 16}, int64[3] wk = {1, 16, 16}, int64[1] i0 = {0}, int64[1] i1 = {4}"},
    {"LSTM by a run's weights, many steps of one row",
     "a = Tile (x, t) b = Reshape (a, k) c = Tile (x, u) w = Reshape (c, wk) y = LSTM <hidden_size = 64> (b, w, w)",
     "int64[2] t = {8, 1}, int64[3] k = {32, 1, 64}, int64[2] u = {64, 1}, int64[3] wk = {1, 256, 64}"},
    {"AttnLSTM", "a = Reshape (x, k) b = Reshape (x, s3) y = com.microsoft.AttnLSTM <hidden_size = 8> (a, w, r, _, _, _, _, _, q, m, v, b)",
     "int64[3] k = {8, 2, 16}, float[1, 32, 32] w = {0.1, ...}, float[1, 32, 8] r = {0.2, ...}, float[1, 8, 4] q = {0.1, ...}, "
     "float[1, 16, 4] m = {0.2, ...}, float[1, 4] v = {0.5, ...}"},
    {"DynamicQuantizeLSTM",
     "a = Reshape (x, k) y = com.microsoft.DynamicQuantizeLSTM <hidden_size = 8> (a, w, r, _, _, _, _, _, t, o, t, o)",
     "int64[3] k = {8, 2, 16}, int8[1, 16, 32] w = {3, ...}, int8[1, 8, 32] r = {2, ...}, float[1] t = {0.1}, int8[1] o = {0}"},
    {"DynamicQuantizeLSTM by a run's weights",
     "a = Reshape (x, k) c = QuantizeLinear (x, s, zi) d = Concat <axis = 0> (c, c, c, c) w = Reshape (d, wk) e = Reshape (d, rk) r, q = "
     "Split <axis = 1, num_outputs = 2> (e)\n"
     "  y = com.microsoft.DynamicQuantizeLSTM <hidden_size = 8, direction = \"bidirectional\"> (a, w, r, _, _, _, _, _, t, o, t, o)",
     "int64[3] k = {8, 2, 16}, int64[3] wk = {2, 16, 32}, int64[3] rk = {2, 16, 32}, float[2] t = {0.1, 0.2}, int8[2] o = {0, 1}"},
};

const std::vector<SteadyRow> kAttention = {
    {"Attention of ai.onnx", "a = Reshape (x, heads) y = Attention (a, a, a)", ""},
    {"Attention of ai.onnx with a past", "a = Reshape (x, heads) b = Neg (a) y, k, v = Attention <is_causal = 1> (a, a, a, _, b, b)", ""},
    {"Attention of ai.onnx with a past and scores",
     "a = Reshape (x, heads) b = Neg (a) y, k, v, q = Attention <qk_matmul_output_mode = 1> (a, a, a, m, b, b)",
     "float[8, 16] m = {0.5, ...}"},
    {"Attention of ai.onnx, three dimensions, lengths",
     "a = Reshape (x, s3) y = Attention <q_num_heads = 2, kv_num_heads = 2> (a, a, a, _, _, _, l)", "int64[2] l = {8, 3}"},
    {"MultiHeadAttention", "a = Reshape (x, s3) y = com.microsoft.MultiHeadAttention <num_heads = 2> (a, a, a)", ""},
    {"MultiHeadAttention with a past",
     "a = Reshape (x, s3) b = Reshape (x, heads) y, k, v = com.microsoft.MultiHeadAttention <num_heads = 2> (a, a, a, w, m, _, b, b)",
     "float[48] w = {0.1, ...}, int32[2, 16] m = {1, ...}"},
    {"MultiHeadAttention with packed operands",
     "b = Slice (x, i0, i1) a = Reshape (b, k) y = com.microsoft.MultiHeadAttention <num_heads = 2> (a)",
     "int64[5] k = {1, 4, 2, 3, 8}, int64[1] i0 = {0}, int64[1] i1 = {3}"},
    {"DecoderMaskedMultiHeadAttention",
     "a = Reshape (x, q) b = Reshape (x, c) d = Pad (b, p) y, k, v = com.microsoft.DecoderMaskedMultiHeadAttention <num_heads = 2, "
     "past_present_share_buffer = 1> "
     "(a, a, a, _, _, d, d, l)",
     "int64[3] q = {4, 1, 64}, int64[4] c = {4, 2, 1, 32}, int64[8] p = {0, 0, 0, 0, 0, 0, 7, 0}, int32[1] l = {3}"},
    {"Attention of com.microsoft", "a = Reshape (x, s3) y = com.microsoft.Attention <num_heads = 2> (a, w, b)",
     "float[16, 48] w = {0.1, ...}, float[48] b = {0.1, ...}"},
    {"Attention of com.microsoft with a past",
     "a = Reshape (x, s3) p = Reshape (x, k) c = Concat <axis = 0> (p, p) y, q = com.microsoft.Attention <num_heads = 2, unidirectional = "
     "1> (a, w, b, _, c)",
     "float[16, 48] w = {0.1, ...}, float[48] b = {0.1, ...}, int64[5] k = {1, 2, 2, 8, 8}"},
    {"Attention of com.microsoft by a run's weights",
     "a = Reshape (x, s3) c = Concat <axis = 0> (x, x, x) w = Reshape (c, k) y = com.microsoft.Attention <num_heads = 2> (a, w, b, m)",
     "float[48] b = {0.1, ...}, int64[2] k = {16, 48}, int32[2] m = {8, 3}"},
    {"QAttention", "q = QuantizeLinear (x, s, z) a = Reshape (q, s3) y = com.microsoft.QAttention <num_heads = 2> (a, w, b, s, s, _, z, z)",
     "uint8[16, 48] w = {5, ...}, float[48] b = {0.1, ...}"},
    {"QAttention with a past",
     "q = QuantizeLinear (x, s, z) a = Reshape (q, s3) p = Reshape (x, k) c = Concat <axis = 0> (p, p) y, r = com.microsoft.QAttention "
     "<num_heads = 2, "
     "unidirectional = 1> (a, w, b, s, s, _, z, z, c)",
     "uint8[16, 48] w = {5, ...}, float[48] b = {0.1, ...}, int64[5] k = {1, 2, 2, 8, 8}"},
    {"GroupQueryAttention",
     "a = Reshape (x, q) b = Slice (a, i0, i1, two) p = Reshape (x, c) y, k, v = com.microsoft.GroupQueryAttention <num_heads = 4, "
     "kv_num_heads = 2> (a, b, b, p, p, l, t)",
     "int64[3] q = {2, 4, 32}, int64[1] i0 = {0}, int64[1] i1 = {16}, int64[4] c = {2, 2, 8, 8}, int32[2] l = {7, 6}, int32[1] t = {8}"},
    {"GroupQueryAttention with rotation",
     "a = Reshape (x, q) b = Slice (a, i0, i1, two) p = Reshape (x, c) y, k, v = com.microsoft.GroupQueryAttention <num_heads = 4, "
     "kv_num_heads = 2, do_rotary = 1> "
     "(a, b, b, p, p, l, t, g, g)",
     "int64[3] q = {2, 4, 32}, int64[1] i0 = {0}, int64[1] i1 = {16}, int64[4] c = {2, 2, 8, 8}, int32[2] l = {7, 6}, int32[1] t = {8}, "
     "float[16, 4] g = {0.5, ...}"},
    {"GroupQueryAttention of float16",
     "h = Cast <to = 10> (x) a = Reshape (h, q) b = Slice (a, i0, i1, two) p = Reshape (h, c) w, k, v = com.microsoft.GroupQueryAttention "
     "<num_heads = 4, kv_num_heads = 2> "
     "(a, b, b, p, p, l, t) y = Cast <to = 1> (w)",
     "int64[3] q = {2, 4, 32}, int64[1] i0 = {0}, int64[1] i1 = {16}, int64[4] c = {2, 2, 8, 8}, int32[2] l = {7, 6}, int32[1] t = {8}"},
    {"SparseAttention",
     "a = Reshape (x, q) b = Slice (a, i0, i1, two) p = Reshape (x, c) y, k, v = com.microsoft.SparseAttention <num_heads = 4, "
     "kv_num_heads = 2, sparse_block_size = 16> "
     "(a, b, b, p, p, br, bc, t, l)",
     "int64[3] q = {2, 4, 32}, int64[1] i0 = {0}, int64[1] i1 = {16}, int64[4] c = {2, 2, 8, 8}, int32[1, 2] br = {0, 1}, int32[1, 1] bc = "
     "{0}, int32[1] t = {8}, "
     "int32[2] l = {8, 8}"},
    {"LinearAttention",
     "a = Reshape (x, s3) y, p = com.microsoft.LinearAttention <q_num_heads = 2, kv_num_heads = 2, update_rule = \"linear\"> (a, a, a)",
     ""},
    {"GatedDeltaNet", "a = Reshape (x, heads) y, p = com.microsoft.GatedDeltaNet <update_rule = \"linear\", qk_l2_norm = 1> (a, a, a)", ""},
    {"MoEGroupRouter", "y = com.microsoft.MoEGroupRouter <top_k = 3, n_group = 8, topk_group = 2> (x, row)", ""},
    {"RotaryEmbedding", "a = Reshape (x, heads) y = RotaryEmbedding (a, c, c, i)", "float[8, 4] c = {0.5, ...}, int64[2, 8] i = {1, ...}"},
    {"RotaryEmbedding of com.microsoft", "a = Reshape (x, heads) y = com.microsoft.RotaryEmbedding (a, i, c, c)",
     "float[8, 4] c = {0.5, ...}, int64[2, 8] i = {1, ...}"},
    {"EmbedLayerNormalization",
     "i = ArgMax <axis = 1> (x) j = Cast <to = 6> (i) y, m = com.microsoft.EmbedLayerNormalization (j, _, w, w, _, g, g)",
     "float[64, 8] w = {0.5, ...}, float[8] g = {0.5, ...}"},
};

const std::vector<SteadyRow> kQuantized = {
    {"QLinearConv by a run's weights",
     "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) v = QuantizeLinear (x, s, zi) w = Reshape (v, k) y = QLinearConv (a, s, z, w, t, o, "
     "s, z, b)",
     "int64[4] k = {16, 4, 2, 2}, float[16] t = {0.1, ...}, int8[16] o = {1, ...}, int32[16] b = {100, ...}"},
    {"QLinearConv by a run's weights, in groups",
     "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) v = QuantizeLinear (x, s, z) w = Reshape (v, k) y = QLinearConv <group = 2> (a, s, "
     "z, w, s, z, s, z)",
     "int64[4] k = {32, 2, 2, 2}"},
    {"QLinearConv by a run's weights, one channel a group",
     "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) v = QuantizeLinear (x, s, zi) w = Reshape (v, k) y = QLinearConv <group = 4, pads = "
     "[1, 1, 1, 1]> (a, s, z, w, s, zi, "
     "s, z)",
     "int64[4] k = {16, 1, 4, 4}"},
    {"ConvInteger by a run's weights",
     "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) v = QuantizeLinear (x, s, z) w = Reshape (v, k) y = ConvInteger (a, w, z, z)",
     "int64[4] k = {16, 4, 2, 2}"},
    {"MatMulInteger by a run's weights", "q = QuantizeLinear (x, s, z) t = Transpose <perm = [1, 0]> (q) y = MatMulInteger (q, t, z)", ""},
    {"QLinearMatMul of a run's scales",
     "m = ReduceMax <keepdims = 0> (x) q = QuantizeLinear (x, m, z) y = QLinearMatMul (q, m, z, w, t, o, s, z)",
     "int8[64, 8] w = {5, ...}, float[8] t = {0.1, ...}, int8[8] o = {1, ...}"},
    {"QuantizeLinear in blocks",
     "q = QuantizeLinear <axis = 1, block_size = 16> (x, t, o) y = DequantizeLinear <axis = 1, block_size = 16> (q, t, o)",
     "float[4, 4] t = {0.1, ...}, int8[4, 4] o = {1, ...}"},
    {"QuantizeLinear to 4 bits", "q = QuantizeLinear (x, s, o) y = DequantizeLinear (q, s, o)", "int4[] o = {1}"},
    {"QuantizeLinear to float8", "q = QuantizeLinear <output_dtype = 17> (x, s) y = DequantizeLinear (q, s)", ""},
    {"DynamicQuantizeLinear", "q, t, o = DynamicQuantizeLinear (x) y = DequantizeLinear (q, t, o)", ""},
    {"sums and products of quantised values",
     "q = QuantizeLinear (x, s, z) a = com.microsoft.QLinearAdd (q, s, z, q, s, z, s, z) b = com.microsoft.QLinearMul (a, s, z, q, s, z, "
     "s, z) y = "
     "com.microsoft.QLinearLeakyRelu (b, s, z, s, z)",
     ""},
    {"QLinearSigmoid", "q = QuantizeLinear (x, s, z) y = com.microsoft.QLinearSigmoid (q, s, z, s, z)", ""},
    {"QLinearConcat", "q = QuantizeLinear (x, s, z) y = com.microsoft.QLinearConcat <axis = 1> (s, z, q, s, z, q, t, z)",
     "float[] t = {0.2}"},
    {"QLinearConcat of a run's scales",
     "m = ReduceMax <keepdims = 0> (x) q = QuantizeLinear (x, m, z) y = com.microsoft.QLinearConcat <axis = 1> (s, z, q, m, z, q, s, z)",
     ""},
    {"QLinearAveragePool",
     "q = QuantizeLinear (x, s, z) a = Reshape (q, s4) b = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2]> (a, s, z, s, z) y = "
     "com.microsoft.QLinearGlobalAveragePool (b, s, z, s, z)",
     ""},
    {"QLinearSoftmax", "q = QuantizeLinear (x, s, z) y = com.microsoft.QLinearSoftmax <axis = -1, opset = 13> (q, s, z, s, z)", ""},
    {"QLinearWhere", "c = Greater (x, half) q = QuantizeLinear (x, s, z) y = com.microsoft.QLinearWhere (c, q, s, z, q, s, z, s, z)", ""},
    {"QGemm of a run's weights", "q = QuantizeLinear (x, s, z) y = com.microsoft.QGemm <transB = 1> (q, s, z, q, s, z, _, s, z)", ""},
};

const std::vector<SteadyRow> kSignals = {
    {"DFT", "a = Unsqueeze (x, two) y = DFT (a, _, k)", "int64[] k = {1}"},
    {"DFT of a prime length", "a = Slice (x, i0, i1, one) b = Unsqueeze (a, two) y = DFT <onesided = 1> (b, _, k)",
     "int64[1] i0 = {0}, int64[1] i1 = {61}, int64[] k = {1}"},
    {"STFT", "a = Unsqueeze (x, two) y = STFT (a, f, w)", "int64[] f = {8}, float[16] w = {0.5, ...}"},
    {"STFT without a window", "a = Unsqueeze (x, two) y = STFT (a, f, _, w)", "int64[] f = {8}, int64[] w = {16}"},
    {"Rfft", "a = com.microsoft.Rfft <signal_ndim = 1> (x) y = com.microsoft.Irfft <signal_ndim = 1> (a)", ""},
    {"Range",
     "a = ReduceMax <keepdims = 0> (x) b = Cast <to = 7> (a) c = Mul (b, zero) d = Add (c, k) e = Range (c, d, i) y = Cast <to = 1> (e)",
     "int64[] k = {5}, int64[] i = {1}"},
    {"random numbers", "a = RandomNormalLike (x) b = RandomUniformLike (x) c = Bernoulli (b) y = Add (a, c)", "", 24, true},
    {"Multinomial", "y = Multinomial <sample_size = 5> (x)", "", 24, true},
};

const std::vector<SteadyRow> kClassic = {
    {"Scaler and Normalizer",
     "a = ai.onnx.ml.Scaler <offset = [0.5], scale = [2.0]> (x) b = ai.onnx.ml.Normalizer <norm = \"L2\"> (a) y = ai.onnx.ml.Binarizer (b)",
     ""},
    {"Imputer", "y = ai.onnx.ml.Imputer <imputed_value_floats = [1.0], replaced_value_float = 0.0> (x)", ""},
    {"LinearRegressor",
     "y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0, 3.0, 4.0], intercepts = [0.5], targets = 1> (a) a = Slice (x, i0, i1)",
     "int64[2] i0 = {0, 0}, int64[2] i1 = {4, 4}"},
    {"LinearClassifier",
     "a = Slice (x, i0, i1) l, y = ai.onnx.ml.LinearClassifier <coefficients = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], intercepts = [0.5, 1.0, "
     "2.0], classlabels_ints = [1, 2, 3], "
     "post_transform = \"SOFTMAX\"> (a)",
     "int64[2] i0 = {0, 0}, int64[2] i1 = {4, 2}"},
    {"SVMRegressor",
     "a = Slice (x, i0, i1) y = ai.onnx.ml.SVMRegressor <coefficients = [1.0, -1.0], kernel_params = [0.5, 0.0, 3.0], kernel_type = "
     "\"RBF\", n_supports = 2, rho = [0.5], "
     "support_vectors = [1.0, 2.0, 3.0, 4.0]> (a)",
     "int64[2] i0 = {0, 0}, int64[2] i1 = {4, 2}"},
    {"SVMClassifier",
     "a = Slice (x, i0, i1) l, y = ai.onnx.ml.SVMClassifier <coefficients = [1.0, -1.0], kernel_params = [0.5, 0.0, 3.0], kernel_type = "
     "\"RBF\", rho = [0.5], "
     "support_vectors = [1.0, 2.0, 3.0, 4.0], vectors_per_class = [1, 1], classlabels_ints = [0, 1], prob_a = [0.5], prob_b = [0.1]> (a)",
     "int64[2] i0 = {0, 0}, int64[2] i1 = {4, 2}"},
    {"TreeEnsembleRegressor",
     "y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, nodes_falsenodeids = [2, 0, 0], nodes_featureids = [3, 0, 0], nodes_modes = "
     "[\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], "
     "nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], nodes_truenodeids = [1, 0, 0], nodes_values = [0.5, 0.0, 0.0], target_ids = "
     "[0, 0], target_nodeids = [1, 2], "
     "target_treeids = [0, 0], target_weights = [1.0, 2.0]> (x)",
     ""},
    {"TreeEnsembleClassifier",
     "l, y = ai.onnx.ml.TreeEnsembleClassifier <classlabels_int64s = [0, 1, 2], nodes_falsenodeids = [2, 0, 0], nodes_featureids = [3, 0, "
     "0], nodes_modes = [\"BRANCH_LEQ\", "
     "\"LEAF\", \"LEAF\"], nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], nodes_truenodeids = [1, 0, 0], nodes_values = [0.5, 0.0, "
     "0.0], class_ids = [0, 2], "
     "class_nodeids = [1, 2], class_treeids = [0, 0], class_weights = [1.0, 2.0]> (x)",
     ""},
    {"ArrayFeatureExtractor", "y = ai.onnx.ml.ArrayFeatureExtractor (x, i)", "int64[1, 3] i = {5, 2, 60}"},
    {"OneHotEncoder", "a = Cast <to = 7> (x) y = ai.onnx.ml.OneHotEncoder <cats_int64s = [-2, 0, 1]> (a)", ""},
    {"LabelEncoder",
     "a = Cast <to = 7> (x) y = ai.onnx.ml.LabelEncoder <keys_int64s = [-2, 0, 1], values_floats = [1.0, 2.0, 3.0], default_float = 0.5> "
     "(a)",
     ""},
    {"FeatureVectorizer", "y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [64, 64]> (x, x)", ""},
    {"TfIdfVectorizer",
     "a = Cast <to = 6> (x) y = TfIdfVectorizer <max_gram_length = 2, max_skip_count = 1, min_gram_length = 1, mode = \"TF\", ngram_counts "
     "= [0, 2], ngram_indexes = [0, 1, 2, 3], "
     "pool_int64s = [2, 3, 1, 2, 3, 4]> (a)",
     ""},
    {"NGramRepeatBlock", "i = ArgMax <axis = 1> (x) y = com.microsoft.NGramRepeatBlock <ngram_size = 1> (i, x)", ""},
    {"WordConvEmbedding", "a = Abs (x) b = Cast <to = 6> (a) y = com.microsoft.WordConvEmbedding (b, w, c, e)",
     "float[3, 1, 2, 4] w = {0.1, ...}, float[3] c = {0.5, ...}, float[9, 4] e = {0.25, ...}"},
    {"WordConvEmbedding by a run's filters",
     "a = Abs (x) b = Cast <to = 6> (a) w = Slice (x, i0, i1, one) v = Reshape (w, k) y = com.microsoft.WordConvEmbedding (b, v, c, e)",
     "int64[1] i0 = {0}, int64[1] i1 = {6}, int64[4] k = {3, 1, 2, 4}, float[3] c = {0.5, ...}, float[9, 4] e = {0.25, ...}"},
    {"MurmurHash3", "a = Cast <to = 6> (x) b = com.microsoft.MurmurHash3 (a) y = Cast <to = 1> (b)", ""},
    {"MatMulInteger16", "a = Cast <to = 5> (x) b = Transpose <perm = [1, 0]> (a) y = com.microsoft.MatMulInteger16 (a, b)", ""},
    {"DynamicTimeWarping", "y = com.microsoft.DynamicTimeWarping (x)", ""},
    {"Adam", "a, b, c = ai.onnx.preview.training.Adam (r, t, x, g, v, h) d = Add (a, b) y = Add (d, c)",
     "float[] r = {0.1}, int64[] t = {1}, float[4, 64] g = {0.1, ...}, float[4, 64] v = {0.1, ...}, float[4, 64] h = {0.1, ...}"},
};

const std::vector<SteadyRow> kControlFlow = {
    {"If",
     "m = ReduceMax <keepdims = 0> (x) c = Greater (m, half) b = If (c) < then_branch = yes () => (float[4, 64] r) { r = Add (x, x) }, "
     "else_branch = no () => (float[4, 64] q) { q "
     "= Neg (x) } > y = Sin (b)",
     ""},
    {"If whose branch gives a value from outside",
     "m = ReduceMax <keepdims = 0> (x) c = Greater (m, half) w = Neg (x) b = If (c) < then_branch = yes () => (float[4, 64] r) { r = "
     "Identity (w) }, else_branch = no () => (float[4, 64] q) { "
     "q = Neg (w) } > y = Add (b, w)",
     ""},
    {"If to an output",
     "m = ReduceMax <keepdims = 0> (x) c = Greater (m, half) y = If (c) < then_branch = yes () => (float[4, 64] r) { r = Add (x, x) }, "
     "else_branch = no () => (float[4, 64] q) { q = Neg (x) } >",
     ""},
    {"Loop",
     "y = Loop (n, go, x) < body = step (int64[] i, bool[] k, float[4, 64] v) => (bool[] k2, float[4, 64] v2) { k2 = Identity (k) v2 = Add "
     "(v, x) } >",
     "int64[] n = {3}, bool[] go = {1}"},
    {"Loop with scan outputs",
     "b, c = Loop (n, go, x) < body = step (int64[] i, bool[] k, float[4, 64] v) => (bool[] k2, float[4, 64] v2, float[4, 64] v3) { k2 = "
     "Identity (k) v2 = Add (v, x) v3 = Mul (v, v) } > "
     "y = Add (b, c)",
     "int64[] n = {3}, bool[] go = {1}"},
    {"Loop that counts in its body",
     "b, c = Loop (n, go, x, zero) < body = step (int64[] i, bool[] k, float[4, 64] v, int64[] t) => (bool[] k2, float[4, 64] v2, int64[] "
     "t2) { t2 = Add (t, i) k2 = Less (t2, four) v2 = Neg (v) } > d = "
     "Cast <to = 1> (c) y = Add (b, d)",
     "int64[] n = {9}, bool[] go = {1}, int64[] four = {4}"},
    {"Scan",
     "b, c = Scan <num_scan_inputs = 1> (r, x) < body = step (float[64] v, float[64] e) => (float[64] v2, float[64] t) { v2 = Add (v, e) t "
     "= Relu (v2) } > y = Add (b, c)",
     "float[64] r = {0.5, ...}"},
    {"Scan of columns, backwards",
     "b, c = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1]> (r, x) < body = step "
     "(float[4] v, float[4] e) => (float[4] v2, float[4] t) { v2 = Add "
     "(v, e) t = Relu (v2) } > y = Neg (c)",
     "float[4] r = {0.5, ...}"},
    {"If in a Loop",
     "y = Loop (n, go, x) < body = step (int64[] i, bool[] k, float[4, 64] v) => (bool[] k2, float[4, 64] v2) { k2 = Identity (k) c = "
     "Equal (i, zero) v2 = If (c) < then_branch = yes () => (float[4, 64] r) { r "
     "= Add (v, x) }, else_branch = no () => (float[4, 64] q) { q = Neg (v) } > } >",
     "int64[] n = {3}, bool[] go = {1}"},
};

const std::vector<SteadyRow> kSizesOfTheRun = {
    {"NonZero", "a = Greater (x, half) i = NonZero (a) y = Neg (i)", ""},
    {"NonZero as an output", "a = Greater (x, half) y = NonZero (a)", ""},
    {"Compress", "a = Greater (x, half) b = Reshape (a, s1) c = Compress (x, b) y = Sin (c)", ""},
    {"Unique", "a = Reshape (x, s1) b, i, j, c = Unique (a) y = Sin (b)", ""},
    {"Unique, in order", "a = Reshape (x, s1) b = Unique <sorted = 0> (a) y = Sin (b)", ""},
    {"Unique rows", "b = Unique <axis = 0> (x) y = Sin (b)", ""},
    {"Gather of what is found",
     "a = Greater (x, half) i = NonZero (a) t = Transpose <perm = [1, 0]> (i) g = GatherND (x, t) v, k = TopK (g, two) y = Concat <axis = "
     "0> (g, v)",
     ""},
    {"what NonMaxSuppression found",
     "a = Sigmoid (x) b = Reshape (a, k) c = Slice (x, i0, i1) d = Reshape (c, l) e = NonMaxSuppression (b, d, m, t) f = Gather <axis = 1> "
     "(e, two) y = Neg (f)",
     "int64[3] k = {1, 64, 4}, int64[2] i0 = {0, 0}, int64[2] i1 = {2, 64}, int64[3] l = {1, 2, 64}, int64[1] m = {5}, float[1] t = {0.5}"},
};

std::string bytes_of(const SteadyRow& row) {
  const std::string more = row.constants;
  Model model = parse_model("<ir_version: 10, opset_import: [\"\" : " + std::to_string(row.opset) +
                            ", \"com.microsoft\" : 1, \"ai.onnx.ml\" : 3, \"ai.onnx.preview.training\" : 1]>\n"
                            "g (float[4, 64] x) => (? y) < " +
                            std::string(kConstants) + (more.empty() ? "" : ", " + more) + " >\n{ " + row.nodes + " }");
  return onnx::write_model(model);
}

/// A session with values of the caller's: x, and the y that the first run made.
class SteadyClient {
 public:
  SteadyClient(const Environment& environment, const SteadyRow& row) : x_(256) {
    set_x(1);
    expect_ok(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info_));
    const int64_t shape[] = {4, 64};
    expect_ok(api().CreateTensorWithDataAsOrtValue(info_, x_.data(), x_.size() * sizeof(float), shape, 2,
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input_));
    expect_ok(client_.open(environment, bytes_of(row)));
  }
  ~SteadyClient() {
    api().ReleaseValue(y_);
    api().ReleaseValue(input_);
    api().ReleaseMemoryInfo(info_);
  }
  SteadyClient(const SteadyClient&) = delete;
  SteadyClient& operator=(const SteadyClient&) = delete;

  /// Elements from -2 to 4, times so much.
  void set_x(float factor) {
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = factor * (static_cast<float>(i % 7) - 2);
  }
  OrtStatus* run(OrtValue** y) {
    const char* const in = "x";
    const char* const out = "y";
    return client_.session ? api().Run(client_.session, nullptr, &in, &input_, 1, &out, 1, y) : nullptr;
  }

  /// Runs until none takes memory, or so often: what the last of them took.
  int64_t taken_in_the_end() {
    constexpr int kRounds = 8, kRuns = 4;  // threads that a run had no use for take their memory when they first join in
    int64_t taken = 1;
    for (int round = 0; round < kRounds && taken != 0; ++round) {
      OrtStatus* status = run(&y_);
      FailingAllocations counted(int64_t{1} << 60, false);
      for (int i = 0; i < kRuns && !status; ++i) status = run(&y_);
      counted.stop();
      taken = counted.count();
      if (!status) continue;
      expect_ok(status);
      return 0;
    }
    return taken;
  }

  /// Of the y that the last of taken_in_the_end() gave.
  std::string bytes() const { return bytes_of_value(y_); }

  /// Those of a new y, for another x.
  std::string bytes_for(float factor) {
    set_x(factor);
    OrtValue* y = nullptr;
    expect_ok(run(&y));
    const std::string bytes = bytes_of_value(y);
    api().ReleaseValue(y);
    return bytes;
  }

 private:
  static std::string bytes_of_value(const OrtValue* value) {
    size_t bytes = 0;
    const void* data = nullptr;
    if (!value) return {};
    expect_ok(api().GetTensorSizeInBytes(value, &bytes));
    expect_ok(api().GetTensorData(value, &data));
    return {static_cast<const char*>(data), bytes};
  }

  std::vector<float> x_;
  Client client_;
  OrtMemoryInfo* info_ = nullptr;
  OrtValue *input_ = nullptr, *y_ = nullptr;
};

/// Memory of runs before changes no results either, of the same values or of others.
void expect_steady(const std::vector<SteadyRow>& rows) {
  const Environment environment;
  for (const SteadyRow& row : rows) {
    SCOPED_TRACE(row.purpose);
    SteadyClient client(environment, row);
    EXPECT_EQ(client.taken_in_the_end(), 0);
    if (row.is_random || testing::Test::HasFailure()) continue;
    const std::string steady = client.bytes(), other = client.bytes_for(-0.5f);
    EXPECT_EQ(client.bytes_for(1), steady);
    SteadyClient fresh(environment, row);
    EXPECT_EQ(fresh.bytes_for(-0.5f), other);
    EXPECT_EQ(fresh.bytes_for(1), steady);
  }
}

TEST(SteadyRuns, ElementwiseOperatorsTakeNoMemory) { expect_steady(kElementwise); }
TEST(SteadyRuns, OperatorsThatMoveElementsTakeNoMemory) { expect_steady(kMoves); }
TEST(SteadyRuns, ReductionsAndNormalizationsTakeNoMemory) { expect_steady(kReductions); }
TEST(SteadyRuns, ProductsTakeNoMemory) { expect_steady(kProducts); }
TEST(SteadyRuns, OperatorsOfImagesTakeNoMemory) { expect_steady(kConvolutions); }
TEST(SteadyRuns, RecurrentLayersTakeNoMemory) { expect_steady(kRecurrent); }
TEST(SteadyRuns, AttentionTakesNoMemory) { expect_steady(kAttention); }
TEST(SteadyRuns, QuantizedOperatorsTakeNoMemory) { expect_steady(kQuantized); }
TEST(SteadyRuns, SignalsTakeNoMemory) { expect_steady(kSignals); }
TEST(SteadyRuns, ClassicModelsTakeNoMemory) { expect_steady(kClassic); }
TEST(SteadyRuns, ControlFlowTakesNoMemory) { expect_steady(kControlFlow); }
TEST(SteadyRuns, SizesThatOnlyARunTellsTakeNoMemory) { expect_steady(kSizesOfTheRun); }

}  // namespace
}  // namespace rh::test
