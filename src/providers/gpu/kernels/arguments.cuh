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

/// Elements of `data` along several dimensions at once, by rows of indices.
struct GatherNdArguments {
  const void* data;
  const void* indices;
  void* y;
  long long batches, count, inner, data_batch;  // rows of indices of a batch; elements that a row names; of a batch of the data
  int depth;
  long long sizes[kMostDims], strides[kMostDims];
};

/// Elements by indices along one dimension; the last dimension comes first, and sizes are those of the indices.
struct ElementIndexArguments {
  const void* from;
  const void* indices;
  void* to;
  long long n, size, step;  // of the dimension in the data
  int rank, axis;
  unsigned sizes[kMostDims];
  long long strides[kMostDims];  // of the data
};

/// The last dimension comes first.
struct PadArguments {
  const void* x;
  const void* value;  // may be null: `bits` stand for it
  void* y;
  long long n;
  unsigned long long bits;
  int rank;
  unsigned sizes[kMostDims];
  long long in[kMostDims], strides[kMostDims], begins[kMostDims];
};

struct TriluArguments {
  const void* x;
  void* y;
  long long n, rows, columns, diagonal;
};

struct OneHotArguments {
  const void* indices;
  const void* values;  // off, on
  void* y;
  long long n, depth, inner;
};

/// Lines of `size` elements that lie `step` apart.
struct LineArguments {
  const void* x;
  void* y;
  void* indices;
  long long lines, size, step, count;  // results of a line
};

/// Each dimension by `taps` elements with weights, from a table behind these arguments; the last dimension comes first.
struct ResizeArguments {
  const void* x;
  void* y;
  long long n;
  double outside;  // for what lies outside
  int rank;
  unsigned sizes[kMostDims];
  long long strides[kMostDims];
  int taps[kMostDims];         // 0: the dimension stays as it is
  long long first[kMostDims];  // of its entries in the table
};

/// A group is `channels` times `inner` elements.
struct GroupNormalizationArguments {
  const void* x;
  const void* scale;
  const void* bias;
  void* y;
  long long rows, groups, channels, inner;
  float epsilon;
  int is_of_groups;  // scale and bias
};

/// y = normalised (x + skip + bias), the skip repeated from row to row.
struct SkipNormalizationArguments {
  const void* x;
  const void* skip;
  const void* bias;  // may be null, as may beta and what follows y
  const void* scale;
  const void* beta;
  void* y;
  void* mean;
  void* inverse_deviation;
  void* sum;
  long long rows, columns, skip_rows;
  float epsilon;
};

/// Of element i the scale number is (i / outer * blocks + i / inner % size / block) * inner_scales + i % inner_scales.
struct QuantizeArguments {
  const void* x;
  const void* scale;
  const void* zero;  // may be null
  void* y;
  long long n, outer, inner, size, block, blocks, inner_scales;
};

struct IntegerProductArguments {
  GemmArguments product;
  const void* a_zero;  // may be null
  const void* b_zero;
  int a_zero_step, b_zero_step;
};

/// c = a times the transpose of codes [n, blocks, block], each with its scale and zero point.
struct CodesProductArguments {
  const void* a;
  const void* codes;
  const void* scales;
  const void* zeros;  // may be null, as may what follows
  const void* bias;
  const void* groups;  // int [k]: the block whose scale and zero point are those of a place along k
  void* c;
  long long m, n, k, block, blocks;
};

/// Queries, keys or values as they come: strides of batch, head, row and column, in elements.
struct HeadRows {
  const void* data;
  const void* bias;  // [heads, depth], may be null
  long long strides[4];
};

/// Of each sequence: rows before the new ones, new ones, room for all. Where `ends` are given, each sequence has as many rows before as its
/// last row's number says; `is_first`: none.
struct SequenceRows {
  const void* ends;  // int, may be null
  long long past, added, capacity;
  int is_first;
};

/// Angles [rows, half] by which the first 2 half elements of heads turn.
struct HeadRotation {
  const void* cosines;  // may be null: nothing turns
  const void* sines;
  const void* positions;  // long long [batch, length]; null: they follow those before
  long long half, rows, length;
  int interleaved;
};

struct AttentionArguments {
  HeadRows q, k, v;
  const void* mask;  // may be null, as may what follows
  const void* key_mask;
  const void* ranges;  // int [batch] ends of keys that are not hidden, then [batch] starts
  const void* sinks;   // a logit of each head, without a key; 0 where `is_smooth`
  void* y;
  long long batches, heads, key_heads, value_heads, queries, keys, depth, value_depth;
  long long mask_strides[4], key_mask_strides[4], y_strides[4];
  long long left_window, right_window;  // -1: all
  SequenceRows sequences;
  HeadRotation turn;  // of queries
  float scale, softcap, masked, masked_score, hidden;
  int replaces_masked, masked_is_zero, nan_is_zero, masked_rows_are_zero, has_starts, sees_ends, is_smooth;
};

struct AppendArguments {
  const void* past;  // [batches, heads, past_capacity, depth], may be null
  HeadRows rows;
  void* to;
  long long batches, heads, depth, past_capacity;
  SequenceRows sequences;
  HeadRotation turn;
  int keeps_rest;  // of the past, behind the new rows
};

struct RotaryArguments {
  const void* x;
  const void* cosines;
  const void* sines;
  const void* positions;  // may be null
  void* y;
  long long batches, heads, length, depth, rotary, batch_stride, head_stride, row_stride;
  int one_position, interleaved;
};

}  // namespace rh

#endif
