#include "sample_vendor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
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

/// Whom to tell of steps.
struct Watcher {
  sv_step_done done = nullptr;
  void* state = nullptr;
};

const char* run(const sv_program& program, const std::vector<Held>& inputs, std::vector<Held>& results, Watcher watcher = {});

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
const char* run(const sv_program& program, const std::vector<Held>& inputs, std::vector<Held>& results, Watcher watcher) {
  std::vector<Held> values;
  values.reserve(static_cast<size_t>(program.values));
  for (const Held& input : inputs) {
    values.emplace_back();
    values.back().dims = input.dims;
    values.back().data = input.data;
  }
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (const char* fault = run_step(program.steps[i], values)) return fault;
    if (watcher.done) watcher.done(watcher.state, static_cast<int>(i));
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

std::atomic<int64_t> compilations = 0, loads = 0, runs = 0;

std::mutex fault_mutex;
std::string fault_text;

std::string fault() {
  const std::lock_guard lock(fault_mutex);
  return fault_text;
}
bool fails(const char* what) { return fault() == what; }

/// Writes programs as bytes, or counts these.
class Writer {
 public:
  Writer(void* bytes, size_t room) : bytes_(static_cast<char*>(bytes)), room_(room) {}
  size_t size() const { return size_; }

  void add(const void* data, size_t size) {
    if (size > 0 && size_ + size <= room_) std::memcpy(bytes_ + size_, data, size);
    size_ += size;
  }
  void add(int64_t number) { add(&number, sizeof number); }
  template <typename T>
  void add(const std::vector<T>& list) {
    add(static_cast<int64_t>(list.size()));
    add(list.data(), list.size() * sizeof(T));
  }
  void add(const sv_program& program) {
    for (int64_t number : {program.inputs, program.values, static_cast<int>(program.steps.size())}) add(number);
    for (const Step& step : program.steps) {
      for (int64_t number : {static_cast<int>(step.kind), step.a, step.b}) add(number);
      add(step.constant.dims);
      add(step.constant.own);
      if (step.kind != Step::Kind::branch) continue;
      add(*step.then_program);
      add(*step.else_program);
      add(step.then_inputs);
      add(step.else_inputs);
    }
    add(program.outputs);
  }

 private:
  char* bytes_;
  size_t room_, size_ = 0;
};

/// Reads what Writer wrote. Once the bytes end before they should, it gives zeros and is_good() is false.
class Reader {
 public:
  Reader(const void* bytes, size_t size) : bytes_(static_cast<const char*>(bytes)), left_(size) {}
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && left_ == 0; }

  void take(void* data, size_t size) {
    is_good_ = is_good_ && size <= left_;
    if (!is_good_ || size == 0) return;
    std::memcpy(data, bytes_, size);
    bytes_ += size, left_ -= size;
  }
  int64_t number() {
    int64_t value = 0;
    take(&value, sizeof value);
    return value;
  }
  template <typename T>
  void take(std::vector<T>& list) {
    const int64_t count = number();
    is_good_ = is_good_ && count >= 0 && static_cast<size_t>(count) <= left_ / sizeof(T);
    if (!is_good_) return;
    list.resize(static_cast<size_t>(count));
    take(list.data(), list.size() * sizeof(T));
  }
  std::shared_ptr<sv_program> program() {
    auto program = std::make_shared<sv_program>();
    program->inputs = static_cast<int>(number());
    program->values = static_cast<int>(number());
    for (int64_t steps = number(); steps > 0 && is_good_; --steps) {
      Step step{static_cast<Step::Kind>(number())};
      step.a = static_cast<int>(number());
      step.b = static_cast<int>(number());
      take(step.constant.dims);
      take(step.constant.own);
      if (step.kind == Step::Kind::branch) {
        step.then_program = this->program();
        step.else_program = this->program();
        take(step.then_inputs);
        take(step.else_inputs);
      }
      program->steps.push_back(std::move(step));
    }
    take(program->outputs);
    return program;
  }

 private:
  const char* bytes_;
  size_t left_;
  bool is_good_ = true;
};

constexpr char kMagic[8] = {'s', 'v', 'p', 'r', 'o', 'g', '0', '1'};

}  // namespace

extern "C" {

void sv_inject(const char* fault) {
  const std::lock_guard lock(fault_mutex);
  fault_text = fault;
}

int sv_version(void) { return fault().starts_with("version ") ? std::stoi(fault().substr(8)) : 4; }
sv_program* sv_create(int inputs) { return fails("create") ? nullptr : new sv_program{inputs, inputs, {}, {}}; }
void sv_destroy(sv_program* program) { delete program; }

int sv_add_constant(sv_program* program, const float* data, const int64_t* dims, int rank) {
  if (fails("add_constant")) return -1;
  Step step{Step::Kind::constant};
  step.constant.dims.assign(dims, dims + rank);
  step.constant.own.assign(data, data + step.constant.elements());
  return program->append(std::move(step), 1);
}

int sv_add_step(sv_program* program, const char* op, int a, int b) {
  const std::string name = op;
  if (fails("add_step")) return -1;
  if (fails("wrong number")) return 1000;
  if (a < 0 || b < 0 || a >= program->values || b >= program->values) return -1;
  if (name != "add" && name != "mul" && name != "matmul") return -1;
  return program->append(Step{name == "add" ? Step::Kind::add : name == "mul" ? Step::Kind::mul : Step::Kind::matmul, a, b}, 1);
}

int sv_add_branch(sv_program* program, int condition, sv_program* then_program, const int* then_inputs, sv_program* else_program,
                  const int* else_inputs) {
  Step step{Step::Kind::branch, condition};
  step.then_program.reset(then_program);
  step.else_program.reset(else_program);
  if (fails("add_branch") || condition < 0 || then_program->outputs.size() != else_program->outputs.size()) return -1;
  step.then_inputs.assign(then_inputs, then_inputs + then_program->inputs);
  step.else_inputs.assign(else_inputs, else_inputs + else_program->inputs);
  return program->append(std::move(step), static_cast<int>(then_program->outputs.size()));
}

size_t sv_save(const sv_program* program, void* bytes, size_t room) {
  Writer writer(bytes, room);
  writer.add(kMagic, sizeof kMagic);
  writer.add(*program);
  return writer.size() + (fails("wrong size") && bytes ? 1 : 0);
}

sv_program* sv_load(const void* bytes, size_t size) {
  ++loads;
  if (fails("load")) return nullptr;
  if (size < sizeof kMagic || std::memcmp(bytes, kMagic, sizeof kMagic) != 0) return nullptr;
  Reader reader(static_cast<const char*>(bytes) + sizeof kMagic, size - sizeof kMagic);
  const std::shared_ptr<sv_program> program = reader.program();
  return reader.is_at_end() ? new sv_program(*program) : nullptr;
}

int64_t sv_count(const char* what) {
  const std::string name = what;
  return name == "compile" ? compilations.load() : name == "load" ? loads.load() : runs.load();
}

int sv_set_outputs(sv_program* program, const int* values, int count) {
  ++compilations;
  if (fails("throw at compile")) throw std::runtime_error("the vendor's compiler has no room");
  if (fails("set_outputs")) return -1;
  for (int i = 0; i < count; ++i) {
    if (values[i] < 0 || values[i] >= program->values) return -1;
  }
  program->outputs.assign(values, values + count);
  return 0;
}

int sv_run(const sv_program* program, const sv_tensor* inputs, sv_make_output make, void* state, const char** message) {
  return sv_run_watched(program, inputs, make, nullptr, state, message);
}

int sv_run_watched(const sv_program* program, const sv_tensor* inputs, sv_make_output make, sv_step_done done, void* state,
                   const char** message) {
  ++runs;
  *message = nullptr;
  if (fails("silent run")) return -1;
  if (fails("throw at run")) throw std::bad_alloc();
  if (fails("odd bytes")) {
    *message = "the device \xff is lost";
    return -1;
  }
  if (fails("run")) {
    *message = "the device is lost";
    return -1;
  }
  std::vector<Held> values(static_cast<size_t>(program->inputs)), results;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].dims.assign(inputs[i].dims, inputs[i].dims + inputs[i].rank);
    values[i].data = inputs[i].data;
  }
  *message = run(*program, values, results, {done, state});
  for (size_t i = 0; i < results.size() && !*message; ++i) {
    if (fails("no output")) break;
    std::vector<int64_t> dims = results[i].dims;
    if (fails("more axes")) dims.push_back(1);
    if (fails("negative size")) dims[0] = -1;
    if (fails("huge size")) dims[0] = int64_t{1} << 50;
    float* memory = make(state, static_cast<int>(i) + (fails("another output") ? 7 : 0), dims.data(), static_cast<int>(dims.size()));
    if (!memory) {
      *message = "there is no memory for an output";
    } else if (results[i].elements() > 0) {
      std::memcpy(memory, results[i].data, static_cast<size_t>(results[i].elements()) * sizeof(float));
    }
  }
  return *message ? -1 : 0;
}
}
