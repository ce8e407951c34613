// Keys or values of a cache [batch, heads, capacity, depth]: its past rows, then the new ones. Where the cache is the past one's memory, only
// the new rows are written.
namespace rh {

template <class T>
__device__ void append_heads(const AppendArguments& a) {
  const bool in_place = a.past == a.to;
  const long long capacity = a.sequences.capacity;
  for (long long i = first_element(); i < a.batches * a.heads * capacity * a.depth; i += element_step()) {
    const long long column = i % a.depth, row = i / a.depth % capacity, head = i / a.depth / capacity % a.heads;
    const long long batch = i / a.depth / capacity / a.heads, before = rows_before(a.sequences, batch), added = row - before;
    if (added >= 0 && added < a.sequences.added) {
      store<T>(a.to, i, turned_element<T>(a.rows, a.turn, before, batch, head, added, column, a.depth));
      continue;
    }
    if (in_place) continue;
    const bool is_past = row < a.past_capacity && (added < 0 || a.keeps_rest);
    const T* past = static_cast<const T*>(a.past);
    const T none = {};
    static_cast<T*>(a.to)[i] = is_past ? past[((batch * a.heads + head) * a.past_capacity + row) * a.depth + column] : none;
  }
}

}  // namespace rh
