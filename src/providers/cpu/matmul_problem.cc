#include "providers/cpu/matmul_problem.h"

namespace rh::cpu {

Status MatMulProblem::make(const char* op_type, const Shape& a, const Shape& b, MatMulProblem& p) {
  const auto mismatch = [&] {
    return error_status(ErrorCode::invalid_argument, "{}: shapes {} and {} cannot be multiplied", op_type, a.to_string(), b.to_string());
  };
  if (a.empty() || b.empty()) return mismatch();
  p.k = a.back();
  p.m = a.size() == 1 ? 1 : a[a.size() - 2];
  p.n = b.size() == 1 ? 1 : b.back();
  if ((b.size() == 1 ? b[0] : b[b.size() - 2]) != p.k) return mismatch();
  p.a_batch.assign(a.begin(), a.size() > 2 ? a.end() - 2 : a.begin());
  p.b_batch.assign(b.begin(), b.size() > 2 ? b.end() - 2 : b.begin());
  p.batch = broadcast(p.a_batch, p.b_batch);
  p.result = p.batch;
  if (a.size() > 1) p.result.push_back(p.m);
  if (b.size() > 1) p.result.push_back(p.n);
  return {};
}

void fill_batch_offsets(const Shape& operand, const Shape& batch, int64_t matrix, int64_t* offsets) {
  Shape strides = strides_of(operand);
  Shape steps(batch.size(), 0);
  const int lead = batch.rank() - operand.rank();
  for (int i = 0; i < operand.rank(); ++i) steps[lead + i] = operand[i] == 1 ? 0 : strides[i] * matrix;
  Shape index(batch.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0, count = batch.elements(); i < count; ++i) {
    offsets[i] = offset;
    for (int d = batch.rank() - 1; d >= 0; --d) {
      offset += steps[d];
      if (++index[d] < batch[d]) break;
      offset -= steps[d] * batch[d];
      index[d] = 0;
    }
  }
}

}  // namespace rh::cpu
