// Programs of a vendor that compiles for known sizes: which are made, what they are given, and when a run is the CPU's.
#include "providers/kit/shapes/sized_executable.h"

#include <gtest/gtest.h>

#include <map>

#include "capi/table.h"
#include "graph/text_parse.h"
#include "ops/inference.h"
#include "providers/kit/shapes/computed_sizes.h"

namespace rh {

namespace {

using kit::OwnedBytes, kit::Region;

/// y = -x, of programs that count what they are given.
class Negative final : public kit::SizedProgram {
 public:
  Negative(std::vector<int64_t> sizes, std::vector<Shape>& given) : sizes(std::move(sizes)), given_(given) {}
  size_t bytes() const override { return 1; }
  void run(std::span<const TensorView> inputs, Take take) const override {
    given_.push_back(inputs[0].shape());
    Tensor result(DType::float32, inputs[0].shape());
    for (int64_t i = 0; i < result.elements(); ++i) result.data<float>()[i] = -inputs[0].data<float>()[i];
    take(0, result.view());
  }
  const std::vector<int64_t> sizes;

 private:
  std::vector<Shape>& given_;
};

class Kept final : public kit::KeptPrograms {
 public:
  std::optional<OwnedBytes> find(const std::string& name) override {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(OwnedBytes(found->second));
  }
  void keep(const std::string& name, std::string bytes) override { files[name] = std::move(bytes); }
  void warn(const std::string& name, std::string_view why) override { warnings.push_back(fmt::format("{}: {}", name, why)); }
  std::map<std::string, std::string> files;
  std::vector<std::string> warnings;
};

class Executable final : public kit::SizedExecutable {
 public:
  Executable(const Region& region, size_t most, std::shared_ptr<kit::KeptPrograms> kept = nullptr)
      : SizedExecutable({&capi::kApi, nullptr, 32}, region, {most, 1 << 20}, std::move(kept)), region_(region) {}

  mutable std::vector<std::vector<int64_t>> compiled, loaded;
  mutable std::vector<Shape> given;
  int64_t refused = -1;  ///< a size of which the vendor takes none

 private:
  std::shared_ptr<const kit::SizedProgram> compile(const std::vector<int64_t>& sizes) const override {
    compiled.push_back(sizes);
    if (sizes[0] == refused) fail(ErrorCode::ep_fail, "none of {}", refused);
    return std::make_shared<const Negative>(sizes, given);
  }
  std::string model() const override { return kit::model_of(region_); }
  std::string save(const kit::SizedProgram& program) const override {
    return std::to_string(static_cast<const Negative&>(program).sizes[0]);
  }
  std::shared_ptr<const kit::SizedProgram> load(const OwnedBytes& bytes, const std::vector<int64_t>& sizes) const override {
    if (bytes.view != std::to_string(sizes[0])) fail(ErrorCode::ep_fail, "it is damaged");
    loaded.push_back(sizes);
    return std::make_shared<const Negative>(sizes, given);
  }
  Region region_;
};

class Outputs final : public kit::RunOutputs {
 public:
  MutableView make(size_t, const Shape& shape) override {
    made = Tensor(DType::float32, shape);
    return made.mutable_view();
  }
  Tensor made;
};

Region region_of(std::string_view nodes, std::string_view dims) {
  std::shared_ptr<Graph> graph =
      parse_graph(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> main (float[{0}] x) => (float[{0}] y) {{ {1} }}", dims, nodes));
  infer_types(*graph);
  return {.graph = graph, .inputs = graph->inputs(), .outputs = graph->outputs()};
}

/// Runs, and holds the result to -x.
void run(const Executable& executable, const Shape& shape) {
  Tensor x(DType::float32, shape);
  for (int64_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = static_cast<float>(i + 1);
  const std::vector<TensorView> inputs = {x.view()};
  Outputs outputs;
  executable.run(inputs, outputs);
  ASSERT_EQ(outputs.made.shape(), shape);
  for (int64_t i = 0; i < x.elements(); ++i) ASSERT_EQ(outputs.made.data<float>()[i], -static_cast<float>(i + 1)) << i;
}

using Sizes = std::vector<std::vector<int64_t>>;

TEST(KitSizedExecutable, PadsToAClassOfSizes) {
  const Executable executable(region_of("y = Neg (x)", "N, 3"), 16);
  for (int64_t n : {1, 2, 9, 16, 17, 3}) run(executable, {n, 3});
  EXPECT_EQ(executable.compiled, (Sizes{{1}, {16}, {32}}));
  EXPECT_EQ(executable.given, (std::vector<Shape>{{1, 3}, {16, 3}, {16, 3}, {16, 3}, {32, 3}, {16, 3}}));
}

TEST(KitSizedExecutable, CompilesNothingForNoElements) {
  const Executable executable(region_of("y = Neg (x)", "N, 3"), 16);
  run(executable, {0, 3});
  EXPECT_EQ(executable.compiled, Sizes());
}

TEST(KitSizedExecutable, LeavesFurtherSizesToTheCpu) {
  const Region region = region_of("a = Softmax <axis = 0> (x) b = Sub (a, a) c = Sub (b, x) y = Identity (c)", "N");
  const Executable executable(region, 2);
  for (int64_t n : {3, 4, 5, 6, 4}) run(executable, {n});
  EXPECT_EQ(executable.compiled, (Sizes{{3}, {4}}));
  EXPECT_EQ(executable.given, (std::vector<Shape>{{3}, {4}, {4}}));
}

TEST(KitSizedExecutable, CompilesFurtherSizesWhenTheyComeAgain) {
  const Region region = region_of("a = Softmax <axis = 0> (x) b = Sub (a, a) c = Sub (b, x) y = Identity (c)", "N");
  const Executable executable(region, 6);
  for (int64_t n = 1; n <= 200; ++n) run(executable, {n});
  EXPECT_EQ(executable.compiled, (Sizes{{1}, {2}, {3}, {4}}));
  for (int64_t n : {7, 7, 8, 9}) run(executable, {n});
  EXPECT_EQ(executable.compiled, (Sizes{{1}, {2}, {3}, {4}, {7}, {8}}));
}

TEST(KitSizedExecutable, LeavesSizesThatDoNotCompileToTheCpu) {
  Executable executable(region_of("y = Neg (x)", "N, 3"), 16);
  executable.refused = 16;
  for (int64_t n : {9, 10, 1}) run(executable, {n, 3});
  EXPECT_EQ(executable.compiled, (Sizes{{16}, {1}}));  // tried once
  EXPECT_EQ(executable.given, (std::vector<Shape>{{1, 3}}));
}

TEST(KitSizedExecutable, KeepsItsPrograms) {
  const auto kept = std::make_shared<Kept>();
  const Region region = region_of("y = Neg (x)", "N, 3");
  run(Executable(region, 16, kept), {9, 3});
  EXPECT_EQ(kept->files, (std::map<std::string, std::string>{{"sizes 16", "16"}}));
  const Executable warm(region, 16, kept);
  run(warm, {10, 3});
  run(warm, {20, 3});
  EXPECT_EQ(warm.loaded, (Sizes{{16}}));
  EXPECT_EQ(warm.compiled, (Sizes{{32}}));
  kept->files["sizes 16"] = "1x";
  const Executable damaged(region, 16, kept);
  run(damaged, {10, 3});
  EXPECT_EQ(damaged.compiled, (Sizes{{16}}));
  EXPECT_EQ(kept->warnings, std::vector<std::string>{"sizes 16: it is damaged"});
  EXPECT_EQ(kept->files.at("sizes 16"), "16");
}

TEST(KitSizedExecutable, RefusesSizesThatContradictTheModel) {
  const Executable executable(region_of("y = Neg (x)", "N, N"), 16);
  const Tensor x(DType::float32, {2, 3});
  const std::vector<TensorView> inputs = {x.view()};
  Outputs outputs;
  EXPECT_THROW(executable.run(inputs, outputs), Error);
}

TEST(KitComputedSizes, AreRefusedWithTheValue) {
  const Region region = region_of("n = NonZero (x) s = Shape (x) r = Expand (x, s) e = Transpose (r) y = Neg (x)", "N, 3");
  const auto of = [&](std::string_view name) {
    return kit::refuse_computed_sizes(region.graph->value(region.graph->find_value(name)).type, "input", 1);
  };
  EXPECT_FALSE(of("x"));
  ASSERT_TRUE(of("n"));
  EXPECT_NE(of("n")->reason.find("input 1 is tensor(int64)[2, "), std::string::npos) << of("n")->reason;
  EXPECT_NE(of("n")->reason.find("a size that the run computes"), std::string::npos) << of("n")->reason;
  EXPECT_EQ(kit::refuse_computed_sizes(ValueType::tensor(DType::float32), "output", 0)->reason,
            "output 0 is of a rank that is known in a run alone");
}

TEST(KitComputedSizes, NoElementsAreRefusedApart) {
  const ValueType none = ValueType::tensor(DType::float32, SymbolicShape{Dim(3), Dim(0)});
  EXPECT_FALSE(kit::refuse_computed_sizes(none, "input", 0));
  EXPECT_EQ(kit::refuse_no_elements(none, "input", 0)->reason, "input 0 has no elements");
  EXPECT_FALSE(kit::refuse_no_elements(ValueType::tensor(DType::float32, SymbolicShape{Dim(3)}), "input", 0));
}

}  // namespace

}  // namespace rh
