// CumSum and CumProd: a thread walks a line.
namespace rh {

template <class T, class Join, bool kExclusive, bool kReverse>
__device__ void cumulate(const LineArguments& a) {
  using C = compute_t<T>;
  for (long long line = first_element(); line < a.lines; line += element_step()) {
    const long long base = line / a.step * a.size * a.step + line % a.step;
    C all = Join::join((C)1, (C)1) == (C)1 ? (C)1 : (C)0;  // what changes nothing
    for (long long j = 0; j < a.size; ++j) {
      const long long at = base + (kReverse ? a.size - 1 - j : j) * a.step;
      const C before = all;
      all = Join::join(all, (C)load<T>(a.x, at));
      store<T>(a.y, at, kExclusive ? before : all);
    }
  }
}

}  // namespace rh
