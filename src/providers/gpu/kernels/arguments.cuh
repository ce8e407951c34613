// What kernels take, in the argument block: read by the host's code and by the kernels. Sizes are those of a run. Addresses are filled in
// when a run begins.
#ifndef RH_GPU_ARGUMENTS
#define RH_GPU_ARGUMENTS

namespace rh {

constexpr int kMostDims = 8;        // after those that lie one behind the other are one
constexpr int kMostOperands = 8;    // of a generated kernel
constexpr int kMostResults = 4;     // of one
constexpr int kMostParameters = 16;

/// Elements by their number: sizes of dimensions, the last one first, and how far apart their elements lie in each operand.
struct ElementwiseArguments {
  const void* in[kMostOperands];
  void* out[kMostResults];
  long long n;
  int rank;
  unsigned sizes[kMostDims];
  long long strides[kMostOperands][kMostDims];
  double parameters[kMostParameters];
};

/// Copies n elements from places to places. The last dimension comes first.
struct MoveArguments {
  const void* from;
  void* to;
  long long n;
  int rank;
  unsigned sizes[kMostDims];
  long long from_strides[kMostDims], to_strides[kMostDims];
  long long from_offset, to_offset;
};

struct FillArguments {
  void* y;
  long long n;
  double value;
  long long integer, step;  // of integers, which may grow from element to element
};

/// c = alpha a b + beta bias, for each of `batches`. Strides are in elements; the last batch dimension comes first.
struct GemmArguments {
  const void* a;
  const void* b;
  const void* bias;  // may be null
  void* c;
  long long m, n, k, batches;
  long long a_row, a_column, b_row, b_column, bias_row, bias_column;
  int batch_rank;
  unsigned batch_sizes[kMostDims];
  long long a_batch[kMostDims], b_batch[kMostDims];
  float alpha, beta;
};

/// y of [images, channels, spatial...]; sizes are of depth, height, width, of which those that an operator lacks are 1.
struct ConvArguments {
  const void* x;
  const void* w;
  const void* bias;  // may be null
  void* y;
  long long images, groups, in_channels, out_channels;  // channels of a group
  int in[3], out[3], kernel[3], strides[3], dilations[3], pads[3];
};

struct PoolArguments {
  const void* x;
  void* y;
  long long planes;
  int in[3], out[3], kernel[3], strides[3], dilations[3], pads[3], end_pads[3];
};

/// Results are kept elements; each comes of all elements along the reduced dimensions. The last dimension comes first.
struct ReduceArguments {
  const void* x;
  void* y;
  long long kept, reduced;
  int kept_rank, reduced_rank;
  unsigned kept_sizes[kMostDims], reduced_sizes[kMostDims];
  long long kept_strides[kMostDims], reduced_strides[kMostDims];
};

/// Rows of `columns` elements that lie `step` apart.
struct SoftmaxArguments {
  const void* x;
  void* y;
  long long rows, columns, step;
};

struct NormalizationArguments {
  const void* x;
  const void* scale;
  const void* bias;  // may be null, as may what follows
  void* y;
  void* mean;
  void* inverse_deviation;
  long long rows, columns;
  float epsilon;
};

struct GatherArguments {
  const void* data;
  const void* indices;
  void* y;
  long long outer, count, inner, size;  // indices; elements behind the axis; of the axis
};

}  // namespace rh

#endif
