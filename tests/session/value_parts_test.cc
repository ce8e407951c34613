#include <gtest/gtest.h>

#include <random>

#include "passes/pass_lists.h"
#include "session/observer.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// Counts what Concat, Split and Slice copied.
class CopyObserver final : public RunObserver {
 public:
  void after_step(const StepEvent& event) override {
    const std::string& op = event.node.op_type;
    if (op == "Concat") {
      const std::byte* at = bytes_of(event.outputs[0]);
      for (const Value* input : event.inputs) {
        copies += input->tensor().bytes() > 0 && bytes_of(input) != at;
        at += input->tensor().bytes();
      }
    } else if (op == "Split" || op == "Slice") {
      const std::byte *begin = bytes_of(event.inputs[0]), *end = begin + event.inputs[0]->tensor().bytes();
      for (const Value* output : event.outputs) {
        if (!output || output->empty() || output->tensor().bytes() == 0) continue;
        copies += bytes_of(output) < begin || bytes_of(output) >= end;
      }
    }
  }
  int copies = 0;

 private:
  static const std::byte* bytes_of(const Value* value) { return static_cast<const std::byte*>(value->tensor().raw()); }
};

SessionOptions options_with(OptimizationLevel level) {
  SessionOptions options;
  options.optimization_level = level;
  for (std::span<const Pass> list : {standard_passes(), cpu_passes()}) {
    for (const Pass& pass : list) options.disabled_passes.emplace_back(pass.name);
  }
  return options;
}

Tensor numbered(const Shape& shape) {
  Tensor tensor(DType::float32, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i % 251) - 100;
  return tensor;
}

/// The bits are those of a session in which every value has memory of its own, which is little less: a value that lies inside another one
/// is not overwritten. The copies of each run.
std::vector<int> check(const std::string& text, const std::vector<Shape>& sizes, bool holds_peak = true) {
  auto placed = make_session(text, options_with(OptimizationLevel::all)), plain = make_session(text, options_with(OptimizationLevel::none));
  std::vector<const char*> outputs;
  for (const ValueInfo& output : placed->outputs()) outputs.push_back(output.name.c_str());
  std::vector<int> copies;
  for (const Shape& shape : sizes) {
    const Value x = numbered(shape);
    const auto observer = std::make_shared<CopyObserver>();
    RunOptions watched;
    watched.observer = observer;
    const auto found = run(*placed, {{"x", x}}, outputs, watched), expected = run(*plain, {{"x", x}}, outputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      EXPECT_EQ(found[o].tensor().shape(), expected[o].tensor().shape()) << text;
      EXPECT_EQ(elements(found[o]), elements(expected[o])) << outputs[o] << " of " << text;
    }
    copies.push_back(observer->copies);
  }
  if (holds_peak) {
    EXPECT_LE(placed->statistics().planned_peak_bytes, plain->statistics().planned_peak_bytes * 5 / 4) << text;
  }
  return copies;
}

struct PartsCase {
  const char* purpose;
  const char* input;
  std::string body;
  std::vector<Shape> sizes;
  std::vector<int> copies;  ///< by run
  const char* outputs = "float[A, B, C, D] y";
  const char* constants = "";
};

TEST(ValueParts, LieWhereTheyAreJoinedOrTakenFrom) {
  const char *const one = "float[1, 8, 6, 6] x", *const any = "float[N, 8, 6, 6] x";
  const std::string pieces = "a = Relu (x)\nb = Neg (x)\n";
  const std::string dense = "a = Relu (x)\nc1 = Concat <axis = 1> (a, f0)\n";
  const std::vector<PartsCase> cases = {
      {"channels of one image", one, pieces + "c = Concat <axis = 1> (a, b)\ny = Neg (c)", {{1, 8, 6, 6}}, {0}},
      {"a negative axis", one, pieces + "c = Concat <axis = -3> (a, b)\ny = Neg (c)", {{1, 8, 6, 6}}, {0}},
      {"two images", "float[2, 8, 6, 6] x", pieces + "c = Concat <axis = 1> (a, b)\ny = Neg (c)", {{2, 8, 6, 6}}, {2}},
      {"rows", one, pieces + "c = Concat <axis = 2> (a, b)\ny = Neg (c)", {{1, 8, 6, 6}}, {2}},
      {"images", "float[2, 8, 6, 6] x", pieces + "c = Concat <axis = 0> (a, b)\ny = Neg (c)", {{2, 8, 6, 6}}, {0}},
      {"any number of images, one at a time",
       any,
       pieces + "c = Concat <axis = 1> (a, b)\ny = Neg (c)",
       {{1, 8, 6, 6}, {2, 8, 6, 6}, {1, 8, 6, 6}, {0, 8, 6, 6}, {5, 8, 6, 6}, {1, 8, 6, 6}},
       {0, 2, 0, 0, 2, 0}},
      {"any size of one image",
       "float[1, 8, H, W] x",
       pieces + "d = Neg (b)\nc = Concat <axis = 1> (a, b, d)\ny = Neg (c)",
       {{1, 8, 6, 6}, {1, 8, 17, 23}, {1, 8, 6, 5}, {1, 8, 0, 5}, {1, 8, 33, 1}},
       {0, 0, 0, 0, 0}},
      {"one joined to the next",
       one,
       "a = Relu (x)\nf1 = Neg (a)\nc1 = Concat <axis = 1> (a, f1)\nr1 = Abs (c1)\ns1 = ReduceMax <axes = [1]> (r1)\n"
       "c2 = Concat <axis = 1> (c1, s1)\nr2 = Abs (c2)\ns2 = ReduceMax <axes = [1]> (r2)\nc3 = Concat <axis = 1> (c2, s2)\ny = Neg (c3)",
       {{1, 8, 6, 6}},
       {0}},
      {"all before joined anew",
       one,
       "a = Relu (x)\nb = Neg (a)\nc1 = Concat <axis = 1> (a, b)\nd = Abs (c1)\nc2 = Concat <axis = 1> (a, b, d)\ne = Abs (c2)\n"
       "c3 = Concat <axis = 1> (a, b, d, e)\ny = Neg (c3)",
       {{1, 8, 6, 6}},
       {0}},
      {"a part of those before joined anew",
       one,
       "a = Relu (x)\nb = Neg (a)\nd = Abs (b)\nc1 = Concat <axis = 1> (b, d)\ne = Abs (c1)\nc2 = Concat <axis = 1> (a, b, d, e)\ny = Neg "
       "(c2)",
       {{1, 8, 6, 6}},
       {0}},
      {"the input of the model", one, pieces + "c = Concat <axis = 1> (a, x, b)\ny = Neg (c)", {{1, 8, 6, 6}}, {1}},
      {"one value twice", one, "a = Relu (x)\nc = Concat <axis = 1> (a, a)\ny = Neg (c)", {{1, 8, 6, 6}}, {1}},
      {"in another order", one, pieces + "c = Concat <axis = 1> (a, b)\nd = Concat <axis = 1> (b, a)\ny = Sub (c, d)", {{1, 8, 6, 6}}, {2}},
      {"an output of the model", one, pieces + "y = Concat <axis = 1> (a, b)", {{1, 8, 6, 6}}, {2}},
      {"a piece that is an output",
       one,
       pieces + "c = Concat <axis = 1> (a, b)\ny = Neg (c)",
       {{1, 8, 6, 6}},
       {1},
       "float[A, B, C, D] y, float[1, 8, 6, 6] a"},
      {"other shapes",
       one,
       "a = Relu (x)\nb = Neg (x)\nr = Reshape (b, shape)\ns = Reshape (a, shape)\nc = Concat <axis = 0> (r, s)\ny = Neg (c)",
       {{1, 8, 6, 6}},
       {0},
       "float[A, B] y",
       "< int64[2] shape = {4, -1} >"},
      {"made in place of what it is made of",
       one,
       "a = Neg (x)\nb = Relu (a)\nd = Abs (b)\nc = Concat <axis = 1> (b, d)\ny = Relu (c)",
       {{1, 8, 6, 6}},
       {0}},
      {"a piece that is used after",
       one,
       pieces + "c = Concat <axis = 1> (a, b)\nr = Relu (c)\nn = Neg (a)\ny = Concat <axis = 1> (r, n)",
       {{1, 8, 6, 6}},
       {2}},
      {"an empty piece",
       one,
       pieces + "e = Slice (b, none, none, first)\nc = Concat <axis = 1> (a, e, b)\ny = Neg (c)",
       {{1, 8, 6, 6}},
       {0},
       "float[A, B, C, D] y",
       "< int64[1] none = {0}, int64[1] first = {1} >"},
      {"halves",
       one,
       "a = Neg (x)\nl, r = Split <axis = 1> (a)\np = Relu (l)\nq = Abs (r)\nc = Concat <axis = 1> (q, p)\ny = Neg (c)",
       {{1, 8, 6, 6}},
       {0}},
      {"halves of images",
       "float[2, 8, 6, 6] x",
       "a = Neg (x)\nl, r = Split <axis = 1> (a)\np = Relu (l)\nq = Abs (r)\ny = Sub (q, p)",
       {{2, 8, 6, 6}},
       {2}},
      {"halves of any number of images",
       any,
       "a = Neg (x)\nl, r = Split <axis = 1> (a)\np = Relu (l)\nq = Abs (r)\ny = Sub (q, p)",
       {{1, 8, 6, 6}, {3, 8, 6, 6}, {1, 8, 6, 6}},
       {0, 2, 0}},
      {"halves that go straight on",
       one,
       "a = Neg (x)\nl, r = Split <axis = 1> (a)\nc = Concat <axis = 1> (r, l)\ny = Neg (c)",
       {{1, 8, 6, 6}},
       {2}},
      {"halves of the input", one, "l, r = Split <axis = 1> (x)\ny = Sub (r, l)", {{1, 8, 6, 6}}, {0}},
      {"halves that are outputs",
       one,
       "a = Neg (x)\ny, r = Split <axis = 1> (a)",
       {{1, 8, 6, 6}},
       {2},
       "float[A, B, C, D] y, float[A, B, C, D] r"},
      {"halves of halves",
       one,
       "a = Neg (x)\nl, r = Split <axis = 1> (a)\nu, v = Split <axis = 1> (r)\nw = Neg (l)\nz, t = Split <axis = 1> (w)\n"
       "p = Sub (u, v)\nq = Sub (z, t)\ny = Sub (p, q)",
       {{1, 8, 6, 6}},
       {0}},
      {"some channels",
       one,
       "a = Neg (x)\ns = Slice (a, from, to, first)\ny = Relu (s)",
       {{1, 8, 6, 6}},
       {0},
       "float[A, B, C, D] y",
       "< int64[1] from = {2}, int64[1] to = {7}, int64[1] first = {1} >"},
      {"every other channel",
       one,
       "a = Neg (x)\ns = Slice (a, from, to, first, two)\ny = Relu (s)",
       {{1, 8, 6, 6}},
       {1},
       "float[A, B, C, D] y",
       "< int64[1] from = {0}, int64[1] to = {8}, int64[1] first = {1}, int64[1] two = {2} >"},
      {"channels from the last on",
       one,
       "a = Neg (x)\ns = Slice (a, from, to, first, back)\ny = Relu (s)",
       {{1, 8, 6, 6}},
       {1},
       "float[A, B, C, D] y",
       "< int64[1] from = {-1}, int64[1] to = {-9}, int64[1] first = {1}, int64[1] back = {-1} >"},
      {"some columns",
       one,
       "a = Neg (x)\ns = Slice (a, from, to, last)\ny = Relu (s)",
       {{1, 8, 6, 6}},
       {1},
       "float[A, B, C, D] y",
       "< int64[1] from = {1}, int64[1] to = {5}, int64[1] last = {3} >"},
      {"what a subgraph takes",
       one,
       pieces + "c = Concat <axis = 1> (a, b)\ny = If <then_branch = t () => (float[1, 16, 6, 6] u) { w = Neg (a)\nu = Concat <axis = 1> "
                "(w, b) }, "
                "else_branch = e () => (float[1, 16, 6, 6] v) { v = Relu (c) }> (yes)",
       {{1, 8, 6, 6}},
       {2},
       "float[A, B, C, D] y",
       "< bool yes = {1} >"},
  };
  for (const PartsCase& c : cases) {
    SCOPED_TRACE(c.purpose);
    EXPECT_EQ(check("<opset_import: [\"\" : 17]>\ng (" + std::string(c.input) + ") => (" + c.outputs + ")\n" + c.constants + "\n{\n" +
                        c.body + "\n}",
                    c.sizes),
              c.copies);
  }
}

// A piece that was made long before would keep the memory of all for as long.
TEST(ValueParts, NeedNoMoreMemoryAtThePeak) {
  const std::string text =
      "<opset_import: [\"\" : 17]>\ng (float[1, 8, 6, 6] x) => (float[1, 1, 6, 6] y)\n< int64[4] wide = {1, 256, 6, 6} >\n{\n"
      "a = Neg (x)\nm1 = ReduceMax <axes = [1]> (x)\nbig = Expand (m1, wide)\nb1 = Sin (big)\nb2 = Cos (b1)\nb3 = Sub (b1, b2)\n"
      "m2 = ReduceMax <axes = [1]> (b3)\nlate = Expand (m2, wide)\nc = Concat <axis = 1> (a, late)\ny = ReduceMax <axes = [1]> (c)\n}";
  EXPECT_EQ(check(text, {{1, 8, 6, 6}}), std::vector<int>{1});
}

/// Steps that join, take apart and change values at random, in the text form.
class RandomSteps {
 public:
  explicit RandomSteps(uint32_t seed) : random_(seed), batch_(pick(2) ? 1 : 2), symbolic_(pick(2)) {
    values_.push_back({"x", {batch_, 8, 6, 4}});
    const int64_t count = 6 + pick(14);
    while (static_cast<int64_t>(values_.size()) < count) step();
    outputs_ = {values_.back().name};
    for (size_t i = 1; i + 1 < values_.size(); ++i) {
      if (pick(6) == 0) outputs_.push_back(values_[i].name);
    }
  }

  std::string text() const {
    std::string head, constants;
    for (const std::string& name : outputs_)
      head += (head.empty() ? "float[" : ", float[") + name + "0, " + name + "1, " + name + "2, " + name + "3] " + name;
    for (const std::string& constant : constants_) constants += (constants.empty() ? "" : ", ") + constant;
    return std::string("<opset_import: [\"\" : 17]>\ng (float[") + (symbolic_ ? "N" : std::to_string(batch_)) + ", 8, 6, 4] x) => (" +
           head + ")\n" + (constants.empty() ? "" : "< " + constants + " >\n") + "{\n" + body_ + "}";
  }
  std::vector<Shape> sizes() const {
    const Shape own{batch_, 8, 6, 4};
    return symbolic_ ? std::vector<Shape>{own, {1, 8, 6, 4}, {3, 8, 6, 4}, {0, 8, 6, 4}, {1, 8, 6, 4}, own} : std::vector<Shape>{own, own};
  }

 private:
  struct Named {
    std::string name;
    Shape shape;  ///< beyond the batch it is the same in all runs
  };

  int64_t pick(int64_t below) { return std::uniform_int_distribution<int64_t>(0, below - 1)(random_); }
  const Named& any() { return values_[static_cast<size_t>(pick(static_cast<int64_t>(values_.size())))]; }
  std::string fresh() const { return "v" + std::to_string(values_.size()); }
  void add(const std::string& expression, const Shape& shape) {
    body_ += fresh() + " = " + expression + "\n";
    values_.push_back({fresh(), shape});
  }
  std::string constant(const std::vector<int64_t>& numbers) {
    const std::string name = "c" + std::to_string(constants_.size());
    std::string text;
    for (const int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
    constants_.push_back("int64[" + std::to_string(numbers.size()) + "] " + name + " = {" + text + "}");
    return name;
  }

  void step() {
    const Named x = any();
    switch (pick(7)) {
      case 0: return add("Relu (" + x.name + ")", x.shape);
      case 1: return add("Neg (" + x.name + ")", x.shape);
      case 2: return split(x);
      case 3: return slice(x);
      case 4: return reshape(x);
      default: return concat(x);
    }
  }
  void concat(const Named& x) {
    const size_t axis = pick(4) == 0 ? 2 : 1;
    std::string list = x.name;
    Shape shape = x.shape;
    for (int64_t i = 1 + pick(3); i > 0; --i) {
      const Named& other = any();
      bool fits = true;
      for (size_t k = 1; k < 4; ++k) fits = fits && (k == axis || other.shape[k] == x.shape[k]);
      if (!fits || shape[axis] > 64) continue;
      list += ", " + other.name;
      shape[axis] += other.shape[axis];
    }
    add("Concat <axis = " + std::to_string(axis) + "> (" + list + ")", shape);
  }
  void split(const Named& x) {
    const size_t axis = 1 + static_cast<size_t>(pick(2));
    const int64_t first = pick(x.shape[axis] + 1);
    const std::string sizes = constant({first, x.shape[axis] - first}), left = fresh(), right = "v" + std::to_string(values_.size() + 1);
    body_ += left + ", " + right + " = Split <axis = " + std::to_string(axis) + "> (" + x.name + ", " + sizes + ")\n";
    Shape a = x.shape, b = x.shape;
    a[axis] = first;
    b[axis] -= first;
    values_.push_back({left, a});
    values_.push_back({right, b});
  }
  void slice(const Named& x) {
    const size_t axis = 1 + static_cast<size_t>(pick(3));
    const int64_t from = pick(x.shape[axis] + 1), to = from + pick(x.shape[axis] - from + 1), step = pick(4) == 0 ? 2 : 1;
    Shape shape = x.shape;
    shape[axis] = (to - from + step - 1) / step;
    std::string list = x.name;
    for (const int64_t number : {from, to, static_cast<int64_t>(axis), step}) list += ", " + constant({number});
    add("Slice (" + list + ")", shape);
  }
  void reshape(const Named& x) {
    Shape shape = x.shape;
    if (x.shape[2] == 0 || x.shape[3] == 0 || x.shape[1] == 0) return add("Identity (" + x.name + ")", shape);
    std::swap(shape[1], shape[2]);
    add("Reshape (" + x.name + ", " + constant({0, shape[1], shape[2], shape[3]}) + ")", shape);
  }

  std::mt19937 random_;
  int64_t batch_;
  bool symbolic_;
  std::vector<Named> values_;
  std::vector<std::string> outputs_, constants_;
  std::string body_;
};

TEST(ValueParts, RandomChainsGiveTheSameBits) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const RandomSteps steps(seed);
    check(steps.text(), steps.sizes(), false);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace rh::test
