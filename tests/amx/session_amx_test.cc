// Sessions on a processor with AMX: what their kernels choose, what they report, and what comes out.
#include "amx/support.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

class SessionAmx : public AmxTest {};

std::string model(const std::string& rows) {
  std::string weights;
  for (int i = 0; i < 512 * 512; ++i) weights += (i ? ", " : "") + std::to_string(static_cast<double>(i * 31 % 201) / 100 - 1);
  return R"(<opset_import: ["" : 17]>
main (float[)" +
         rows + R"(, 512] x) => (float[)" + rows + R"(, 512] y)
< float[512, 512] w = {)" +
         weights +
         R"(} >
{
  [product] y = MatMul (x, w)
})";
}

Tensor ramp(Shape shape) {
  Tensor tensor(DType::float32, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i % 97) / 31 - 1.5f;
  return tensor;
}

SessionOptions with(const std::string& key, const std::string& value) {
  SessionOptions options;
  options.config[key] = value;
  return options;
}

KernelVariant variant_of(const Session& session) {
  const auto list = session.variants();
  EXPECT_EQ(list.size(), 1u);
  return list.empty() ? KernelVariant{} : list[0].second;
}

TEST_F(SessionAmx, products_say_how_they_compute) {
  const KernelVariant known = variant_of(*make_session(model("128")));
  EXPECT_EQ(known.problem, "MatMul float 512>512, 128 rows");
  EXPECT_EQ(known.variant, "amx");
  EXPECT_EQ(known.variants, (std::vector<std::string_view>{"amx", "gemm"}));
  EXPECT_EQ(variant_of(*make_session(model("n"))).problem, "MatMul float 512>512, any rows");
  const KernelVariant few = variant_of(*make_session(model("2")));
  EXPECT_EQ(few.variant, "gemm");
  EXPECT_EQ(few.variants, (std::vector<std::string_view>{"gemv", "amx", "gemm"}));
  for (const char* name : {"gemv", "amx", "gemm"}) {
    EXPECT_EQ(variant_of(*make_session(model("2"), with("roundhouse.variant", name))).variant, name);
  }
}

TEST_F(SessionAmx, results_are_those_of_multiply_add) {
  const auto plain = make_session(model("n"), with("roundhouse.variant", "gemm"));
  for (const char* rows : {"128", "n"}) {
    const auto session = make_session(model(rows));
    const int64_t before = emulator_->instructions();
    const auto found = run(*session, {{"x", ramp({128, 512})}}, {"y"}), expected = run(*plain, {{"x", ramp({128, 512})}}, {"y"});
    EXPECT_TRUE(AmxEmulator::native() || emulator_->instructions() > before) << rows;
    for (int64_t i = 0; i < 128 * 512; ++i) {
      ASSERT_NEAR(found[0].tensor().data<float>()[i], expected[0].tensor().data<float>()[i], 1e-4) << rows << " at " << i;
    }
  }
}

TEST_F(SessionAmx, the_split_form_counts_as_memory_of_the_session) {
  const size_t weights = 512 * 512;
  const size_t floats = make_session(model("128"), with("roundhouse.variant", "gemm"))->forecast({}, {}).packed_bytes;
  const size_t split = make_session(model("128"))->forecast({}, {}).packed_bytes;
  EXPECT_EQ(floats, 4 * weights);
  EXPECT_GE(split, 6 * weights);
  EXPECT_LE(split, 6 * weights + 16 * 64);
}

TEST_F(SessionAmx, less_accuracy_takes_fewer_products) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const char* precision : {"fp32", "fast", "bf16"}) {
    const auto session = make_session(model("128"), with("roundhouse.precision", precision));
    const int64_t before = emulator_->instructions();
    run(*session, {{"x", ramp({128, 512})}}, {"y"});
    const int64_t taken = emulator_->instructions() - before;
    EXPECT_TRUE(AmxEmulator::native() || taken < least) << precision;
    least = taken;
  }
}

/// 3x3, 20 channels to 36.
std::string convolution() {
  std::string weights;
  for (int i = 0; i < 36 * 20 * 9; ++i) weights += (i ? ", " : "") + std::to_string(static_cast<double>(i * 31 % 201) / 100 - 1);
  return R"(<opset_import: ["" : 17]>
main (float[1, 20, 19, 23] x) => (float[1, 36, 19, 23] y)
< float[36, 20, 3, 3] w = {)" +
         weights +
         R"(} >
{
  [conv] y = Conv <pads = [1, 1, 1, 1]> (x, w)
})";
}

TEST_F(SessionAmx, convolutions_multiply_what_winograd_transforms_by_tiles_where_they_are_told_to) {
  const auto plain = make_session(convolution(), with("roundhouse.variant", "winograd"));
  const auto session = make_session(convolution(), with("roundhouse.variant", "winograd_amx"));
  EXPECT_EQ(variant_of(*plain).variant, "winograd");
  EXPECT_EQ(variant_of(*session).variant, "winograd_amx");
  EXPECT_NE(variant_of(*make_session(convolution())).variant, "winograd_amx") << "too small to pay";
  EXPECT_EQ(std::ranges::count(variant_of(*make_session(convolution(), with("roundhouse.memory", "lean"))).variants, "winograd_amx"), 0);
  const int64_t before = emulator_->instructions();
  const auto found = run(*session, {{"x", ramp({1, 20, 19, 23})}}, {"y"});
  EXPECT_TRUE(AmxEmulator::native() || emulator_->instructions() > before);
  const auto expected = run(*plain, {{"x", ramp({1, 20, 19, 23})}}, {"y"});
  for (int64_t i = 0; i < 36 * 19 * 23; ++i)
    ASSERT_NEAR(found[0].tensor().data<float>()[i], expected[0].tensor().data<float>()[i], 1e-4) << i;
  const compute::ScopedAmxStatus refused({false, "for a test"});
  EXPECT_NE(variant_of(*make_session(convolution(), with("roundhouse.variant", "winograd_amx"))).variant, "winograd_amx");
}

}  // namespace
}  // namespace rh::test
