// What kernels of attention and of its caches share: where elements of heads lie, how many rows a sequence has, how heads turn.
namespace rh {

__device__ inline long long offset_of(const long long (&strides)[4], long long batch, long long head, long long row, long long column) {
  return batch * strides[0] + head * strides[1] + row * strides[2] + column * strides[3];
}

__device__ inline long long bounded(long long value, long long least, long long most) {
  return value < least ? least : value > most ? most : value;
}

/// Rows of a sequence before the new ones. A number that the cache has no room for is brought into it.
__device__ inline long long rows_before(const SequenceRows& rows, long long batch) {
  if (!rows.ends || rows.is_first) return rows.past;
  return bounded((long long)static_cast<const int*>(rows.ends)[batch] + 1 - rows.added, 0, rows.capacity - rows.added);
}

/// An element of new heads, with the bias of its projection.
template <class T>
__device__ inline compute_t<T> head_element(const HeadRows& x, long long batch, long long head, long long row, long long column,
                                            long long depth) {
  compute_t<T> value = load<T>(x.data, offset_of(x.strides, batch, head, row, column));
  if (x.bias) value += load<T>(x.bias, head * depth + column);
  return value;
}

/// The same, turned by the angles of the row's position; `before` is that of the first row.
template <class T>
__device__ inline compute_t<T> turned_element(const HeadRows& x, const HeadRotation& turn, long long before, long long batch, long long head,
                                              long long row, long long column, long long depth) {
  const compute_t<T> own = head_element<T>(x, batch, head, row, column, depth);
  if (!turn.cosines || column >= 2 * turn.half) return own;
  long long position = before + row;
  if (turn.positions) position = static_cast<const long long*>(turn.positions)[batch * turn.length + row];
  position = bounded(position, 0, turn.rows - 1);
  const long long angle = turn.interleaved ? column / 2 : column % turn.half;
  const bool is_second = turn.interleaved ? column % 2 != 0 : column >= turn.half;
  const long long step = turn.interleaved ? 1 : turn.half, other = is_second ? column - step : column + step;
  const compute_t<T> pair = head_element<T>(x, batch, head, row, other, depth);
  const compute_t<T> cosine = load<T>(turn.cosines, position * turn.half + angle), sine = load<T>(turn.sines, position * turn.half + angle);
  return is_second ? own * cosine + pair * sine : own * cosine - pair * sine;
}

}  // namespace rh
