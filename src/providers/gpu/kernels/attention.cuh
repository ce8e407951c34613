// softmax(scale q k' + masks) v without the scores in memory: a block of 256 threads makes kRows queries of a head, and walks the keys kRows
// at a time. Sums so far are scaled anew where a larger score comes.
namespace rh {

template <class A, class B>
struct Same {
  static constexpr bool kIs = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool kIs = true;
};

constexpr int kAttentionThreads = 256, kMostColumns = 32;  // of a thread

/// M: of the mask; false hides a key, and so does an int that is not above 0, though not wholly.
template <class T, class M>
__device__ inline float score_of(const AttentionArguments& a, float product, long long batch, long long head, long long query,
                                 long long key, bool& is_zero) {
  float score = product * a.scale;
  if (a.softcap != 0.0f) score = a.softcap * m_tanh(score / a.softcap);
  if (a.mask) {
    const long long at = offset_of(a.mask_strides, batch, head, query, key);
    float mask = (float)load<M>(a.mask, at);
    if (Same<M, bool>::kIs) mask = mask != 0.0f ? 0.0f : -infinity();
    if (Same<M, int>::kIs) mask = mask > 0.0f ? 0.0f : a.hidden;
    if (a.replaces_masked && mask == a.masked) {
      is_zero = a.masked_is_zero != 0;
      return a.masked_score;
    }
    score += mask;
  }
  if (a.ranges) {
    const int* ends = static_cast<const int*>(a.ranges);
    if (key >= ends[batch] || (a.has_starts && key < ends[a.batches + batch])) score += a.hidden;
  }
  if (a.key_mask) score += (float)load<T>(a.key_mask, offset_of(a.key_mask_strides, batch, head, query, key));
  return score;
}

/// Keys that a sequence has. Those behind the last row that is numbered are none.
__device__ inline long long keys_of(const AttentionArguments& a, long long batch, long long before) {
  if (!a.sequences.ends) return a.keys;
  if (!a.sees_ends) return before + a.sequences.added < a.keys ? before + a.sequences.added : a.keys;
  return bounded((long long)static_cast<const int*>(a.sequences.ends)[batch] + 1, 0, a.keys);
}

template <class T, class M, int kRows>
__device__ void attention(const AttentionArguments& a) {
  constexpr int kEach = kAttentionThreads / kRows;  // threads of a row
  float* qs = reinterpret_cast<float*>(shared_memory());
  const int wide = (int)(a.depth > a.value_depth ? a.depth : a.value_depth);
  float* ks = qs + kRows * a.depth;      // keys, then values
  float* scores = ks + kRows * wide;     // [query][key]
  float* seen = scores + kRows * kRows;  // 0 where a weight counts in the sum alone
  const int row = threadIdx.x / kEach, lane = threadIdx.x % kEach;
  const long long tiles = (a.queries + kRows - 1) / kRows;
  for (long long work = blockIdx.x; work < tiles * a.heads * a.batches; work += gridDim.x) {
    const long long first = work % tiles * kRows, head = work / tiles % a.heads, batch = work / tiles / a.heads;
    const long long k_head = head / (a.heads / a.key_heads), v_head = head / (a.heads / a.value_heads), query = first + row;
    const long long before = rows_before(a.sequences, batch);
    for (long long i = threadIdx.x; i < kRows * a.depth; i += kAttentionThreads) {
      const long long at = first + i / a.depth;
      qs[i] = at < a.queries ? (float)turned_element<T>(a.q, a.turn, before, batch, head, at, i % a.depth, a.depth) : 0.0f;
    }
    const float sink = a.sinks ? (float)load<T>(a.sinks, head) : a.is_smooth ? 0.0f : -infinity();
    float top = sink, sum = a.sinks || a.is_smooth ? 1.0f : 0.0f, results[kMostColumns] = {};
    const long long own = query + before, seen_keys = keys_of(a, batch, before);
    const long long end = a.right_window >= 0 && own + a.right_window + 1 < seen_keys ? own + a.right_window + 1 : seen_keys;
    const long long begin = a.left_window >= 0 && own > a.left_window ? own - a.left_window : 0;
    // Keys that some query of the block sees. What lies behind those of the sequence may be anything.
    const long long last = first + kRows + before + a.right_window, far = a.right_window >= 0 && last < seen_keys ? last : seen_keys;
    const long long near = a.left_window >= 0 && first + before > a.left_window ? (first + before - a.left_window) / kRows * kRows : 0;
    for (long long key0 = near; key0 < far; key0 += kRows) {
      __syncthreads();
      for (long long i = threadIdx.x; i < kRows * a.depth; i += kAttentionThreads) {
        const long long at = key0 + i / a.depth;
        ks[i] = at < seen_keys ? (float)head_element<T>(a.k, batch, k_head, at, i % a.depth, a.depth) : 0.0f;
      }
      __syncthreads();
      float tile_top = top;
      for (int j = lane; j < kRows; j += kEach) {
        const long long key = key0 + j;
        float score = -infinity();
        bool is_zero = false;
        if (key >= begin && key < end && query < a.queries) {
          float product = 0.0f;
          for (long long d = 0; d < a.depth; ++d) product += qs[row * a.depth + d] * ks[j * a.depth + d];
          score = score_of<T, M>(a, product, batch, head, query, key, is_zero);
        }
        scores[row * kRows + j] = score;
        seen[row * kRows + j] = is_zero ? 0.0f : 1.0f;
      }
      __syncthreads();
      for (int j = 0; j < kRows; ++j) tile_top = Largest::join(tile_top, scores[row * kRows + j]);
      const float shift = tile_top == -infinity() ? 0.0f : tile_top;
      const float factor = m_exp(top - shift);
      top = tile_top;
      sum *= factor;
      for (int c = 0; c < kMostColumns; ++c) results[c] *= factor;
      for (long long i = threadIdx.x; i < kRows * a.value_depth; i += kAttentionThreads) {
        const long long at = key0 + i / a.value_depth;
        ks[i] = at < seen_keys ? (float)head_element<T>(a.v, batch, v_head, at, i % a.value_depth, a.value_depth) : 0.0f;
      }
      __syncthreads();
      for (int j = 0; j < kRows; ++j) {
        const float weight = m_exp(scores[row * kRows + j] - shift);
        sum += weight;
        const float counted = weight * seen[row * kRows + j];
        for (int c = 0; c < kMostColumns && c * kEach + lane < a.value_depth; ++c) {
          results[c] += counted * ks[j * a.value_depth + c * kEach + lane];
        }
      }
    }
    const bool is_zero = (a.nan_is_zero && sum != sum) || ((a.nan_is_zero || a.masked_rows_are_zero) && sum == 0.0f) || begin >= end;
    for (int c = 0; c < kMostColumns && c * kEach + lane < a.value_depth && query < a.queries; ++c) {
      store<T>(a.y, offset_of(a.y_strides, batch, head, query, c * kEach + lane), is_zero ? 0.0f : results[c] / sum);
    }
    __syncthreads();
  }
}

}  // namespace rh
