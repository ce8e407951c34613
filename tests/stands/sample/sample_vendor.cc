#include "sample_vendor.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

/// A value of a run: the caller's memory, a constant's, or its own.
struct Held {
  std::vector<int64_t> dims;
  const void* data = nullptr;
  std::vector<float> own;

  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    return count;
  }
  const float* floats() const { return static_cast<const float*>(data); }
};

struct Step {
  enum class Kind { constant, add, mul, matmul, branch } kind;
  int a = -1, b = -1;
  Held constant = {};
  std::shared_ptr<sv_program> then_program = {}, else_program = {};
  std::vector<int> then_inputs = {}, else_inputs = {};
};

}  // namespace

struct sv_program {
  int inputs = 0, values = 0;
  std::vector<Step> steps;
  std::vector<int> outputs;

  int append(Step step, int results) {
    steps.push_back(std::move(step));
    values += results;
    return values - results;
  }
};

namespace {

/// The element of an operand that stands for the one at `index` of a result with these dimensions.
int64_t operand_index(const std::vector<int64_t>& dims, const std::vector<int64_t>& result, int64_t index) {
  int64_t at = 0, stride = 1;
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t size = result[result.size() - 1 - i], place = index % size;
    index /= size;
    if (i >= dims.size()) continue;
    const int64_t own = dims[dims.size() - 1 - i];
    at += (own == 1 ? 0 : place) * stride;
    stride *= own;
  }
  return at;
}

const char* elementwise(const Held& a, const Held& b, bool add, Held& out) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  out.dims.assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < a.dims.size() ? a.dims[a.dims.size() - 1 - i] : 1, y = i < b.dims.size() ? b.dims[b.dims.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return "operands do not broadcast";
    out.dims[rank - 1 - i] = x == 1 ? y : x;
  }
  out.own.resize(static_cast<size_t>(out.elements()));
  for (int64_t i = 0; i < out.elements(); ++i) {
    const float x = a.floats()[operand_index(a.dims, out.dims, i)], y = b.floats()[operand_index(b.dims, out.dims, i)];
    out.own[static_cast<size_t>(i)] = add ? x + y : x * y;
  }
  return nullptr;
}

const char* matmul(const Held& a, const Held& b, Held& out) {
  if (a.dims.size() != 2 || b.dims.size() != 2 || a.dims[1] != b.dims[0]) return "matrices do not fit";
  const int64_t rows = a.dims[0], inner = a.dims[1], columns = b.dims[1];
  out.dims = {rows, columns};
  out.own.assign(static_cast<size_t>(rows * columns), 0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < columns; ++j)
        out.own[static_cast<size_t>(i * columns + j)] += a.floats()[i * inner + k] * b.floats()[k * columns + j];
    }
  }
  return nullptr;
}

const char* run(const sv_program& program, const std::vector<Held>& inputs, std::vector<Held>& results);

const char* run_step(const Step& step, std::vector<Held>& values) {
  Held out;
  const char* fault = nullptr;
  switch (step.kind) {
    case Step::Kind::constant: out.dims = step.constant.dims, out.own = step.constant.own; break;
    case Step::Kind::add:
    case Step::Kind::mul: fault = elementwise(values[step.a], values[step.b], step.kind == Step::Kind::add, out); break;
    case Step::Kind::matmul: fault = matmul(values[step.a], values[step.b], out); break;
    case Step::Kind::branch: {
      const bool condition = *static_cast<const unsigned char*>(values[step.a].data) != 0;
      std::vector<Held> inputs, results;
      for (int value : condition ? step.then_inputs : step.else_inputs) {
        Held input;
        input.dims = values[value].dims;
        input.data = values[value].data;
        inputs.push_back(std::move(input));
      }
      fault = run(condition ? *step.then_program : *step.else_program, inputs, results);
      for (Held& result : results) values.push_back(std::move(result));
      return fault;
    }
  }
  out.data = out.own.data();
  values.push_back(std::move(out));
  return fault;
}

/// The results own their memory.
const char* run(const sv_program& program, const std::vector<Held>& inputs, std::vector<Held>& results) {
  std::vector<Held> values;
  values.reserve(static_cast<size_t>(program.values));
  for (const Held& input : inputs) {
    values.emplace_back();
    values.back().dims = input.dims;
    values.back().data = input.data;
  }
  for (const Step& step : program.steps) {
    if (const char* fault = run_step(step, values)) return fault;
  }
  for (int output : program.outputs) {
    const Held& value = values[static_cast<size_t>(output)];
    Held& result = results.emplace_back();
    result.dims = value.dims;
    result.own.assign(value.floats(), value.floats() + value.elements());
    result.data = result.own.data();
  }
  return nullptr;
}

}  // namespace

extern "C" {

int sv_version(void) { return 3; }
sv_program* sv_create(int inputs) { return new sv_program{inputs, inputs, {}, {}}; }
void sv_destroy(sv_program* program) { delete program; }

int sv_add_constant(sv_program* program, const float* data, const int64_t* dims, int rank) {
  Step step{Step::Kind::constant};
  step.constant.dims.assign(dims, dims + rank);
  step.constant.own.assign(data, data + step.constant.elements());
  return program->append(std::move(step), 1);
}

int sv_add_step(sv_program* program, const char* op, int a, int b) {
  const std::string name = op;
  if (a < 0 || b < 0 || a >= program->values || b >= program->values) return -1;
  if (name != "add" && name != "mul" && name != "matmul") return -1;
  return program->append(Step{name == "add" ? Step::Kind::add : name == "mul" ? Step::Kind::mul : Step::Kind::matmul, a, b}, 1);
}

int sv_add_branch(sv_program* program, int condition, sv_program* then_program, const int* then_inputs, sv_program* else_program,
                  const int* else_inputs) {
  Step step{Step::Kind::branch, condition};
  step.then_program.reset(then_program);
  step.else_program.reset(else_program);
  if (condition < 0 || then_program->outputs.size() != else_program->outputs.size()) return -1;
  step.then_inputs.assign(then_inputs, then_inputs + then_program->inputs);
  step.else_inputs.assign(else_inputs, else_inputs + else_program->inputs);
  return program->append(std::move(step), static_cast<int>(then_program->outputs.size()));
}

int sv_set_outputs(sv_program* program, const int* values, int count) {
  program->outputs.assign(values, values + count);
  return 0;
}

int sv_run(const sv_program* program, const sv_tensor* inputs, sv_make_output make, void* state, const char** message) {
  std::vector<Held> values(static_cast<size_t>(program->inputs)), results;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].dims.assign(inputs[i].dims, inputs[i].dims + inputs[i].rank);
    values[i].data = inputs[i].data;
  }
  *message = run(*program, values, results);
  for (size_t i = 0; i < results.size() && !*message; ++i) {
    float* memory = make(state, static_cast<int>(i), results[i].dims.data(), static_cast<int>(results[i].dims.size()));
    if (!memory) {
      *message = "there is no memory for an output";
    } else if (results[i].elements() > 0) {
      std::memcpy(memory, results[i].data, static_cast<size_t>(results[i].elements()) * sizeof(float));
    }
  }
  return *message ? -1 : 0;
}
}
