#include "graph/constant_addresses.h"

#include <filesystem>
#include <numeric>

#include "base/file.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

constexpr int64_t kRows = 64, kWidth = 32;

Tensor counted() {
  Tensor table(DType::float32, {kRows, kWidth});
  std::iota(table.data<float>(), table.data<float>() + table.elements(), 0.0f);
  return table;
}

/// The model with the table `w`, in a file; the graph's name moves the table through the addresses.
std::string write_model(const std::string& text, int padding) {
  Model model = parse_model(text);
  model.graph->set_initializer(model.graph->find_value("w"), counted());
  model.graph->name = std::string(static_cast<size_t>(padding) + 1, 'g');
  const std::string path = ::testing::TempDir() + "roundhouse_tables.onnx";
  onnx::write_model_file(model, path);
  return path;
}

bool lies_in(std::span<const std::byte> bytes, const Tensor& tensor) {
  const std::byte* at = static_cast<const std::byte*>(tensor.raw());
  return at >= bytes.data() && at < bytes.data() + bytes.size();
}

struct Case {
  const char* what;
  bool is_table;
  std::string text;
};

std::string around(const std::string& nodes, const std::string& outputs = "float[...] y") {
  return R"(<ir_version: 8, opset_import: ["" : 17]>
main (int64[n] i) => ()" +
         outputs + R"() <float[64, 32] w = {0, ...}, float[32, 1] v = {1, ...}> {)" + nodes + "}";
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"rows", true, around("y = Gather (w, i)")},
      {"rows by the axis that stands there, twice", true, around("a = Gather <axis = 0> (w, i) b = Gather (w, i) y = Add (a, b)")},
      {"columns", false, around("y = Gather <axis = 1> (w, i)")},
      {"by an axis from the end", false, around("y = Gather <axis = -1> (w, i)")},
      {"also a product", false, around("r = Gather (w, i) z = MatMul (w, v) s = ReduceSum <keepdims = 0> (z) y = Add (r, s)")},
      {"also an output", false, around("w2 = Identity (w) y = Gather (w, i)", "float[...] y, float[...] w2")},
      {"in a branch", false,
       around("n = Size (i) three = Constant <value_int = 3> () c = Less (n, three) "
              "y = If <then_branch = t () => (float[...] a) {a = Gather (w, i)}, else_branch = e () => (float[...] b) {b = Gather (w, i)}> "
              "(c)")},
  };
  return list;
}

TEST(RowTables, StayInTheFileWhereOnlyRowsAreTaken) {
  for (const Case& c : cases()) {
    int unaligned = 0;
    for (int padding = 0; padding < 4; ++padding) {
      const std::string path = write_model(c.text, padding);
      const auto mapping = MappedFile::shared(InputFile(path));
      const Model model = onnx::read_model(path, {.tables_in_place = true});
      const Tensor& w = *model.graph->value(model.graph->find_value("w")).constant_tensor();
      const bool aligned = is_aligned_for(DType::float32, reinterpret_cast<uintptr_t>(w.raw()));
      EXPECT_EQ(is_row_table(*model.graph, model.graph->find_value("w")), c.is_table) << c.what;
      EXPECT_TRUE(aligned || c.is_table) << c.what << ", " << padding;
      if (c.is_table) {
        EXPECT_TRUE(lies_in(mapping->bytes(), w)) << c.what << ", " << padding;
      }
      EXPECT_TRUE(identical(w.view(), counted().view())) << c.what << ", " << padding;
      unaligned += !aligned;
      const Model other = onnx::read_model(path);
      const Tensor& always = *other.graph->value(other.graph->find_value("w")).constant_tensor();
      EXPECT_TRUE(is_aligned_for(DType::float32, reinterpret_cast<uintptr_t>(always.raw()))) << c.what << ", " << padding;
    }
    EXPECT_EQ(unaligned, c.is_table ? 3 : 0) << c.what;
  }
}

TEST(RowTables, SessionsGiveTheSameFromAnyAddress) {
  const std::vector<int64_t> positions = {5, 0, 31, -1};
  const Tensor i = Tensor::ints(positions);
  for (const Case& c : cases()) {
    std::vector<float> first;
    for (int padding = 0; padding < 4; ++padding) {
      const auto session = Session::create(write_model(c.text, padding), SessionOptions());
      const std::vector<float> y = elements(run(*session, {{"i", i}}, {"y"})[0]);
      if (padding == 0) {
        first = y;
        if (std::string_view(c.what) == "rows") {
          EXPECT_EQ(y[1], 5 * kWidth + 1);
          EXPECT_EQ(y[static_cast<size_t>(4 * kWidth - 1)], kRows * kWidth - 1);
        }
      }
      EXPECT_EQ(y, first) << c.what << ", " << padding;
    }
  }
}

// What passes make of a table belongs to another node: a Transpose at load among them.
TEST(RowTables, ConstantsFoldFromAnyAddress) {
  const std::string text = around("j = Constant <value_ints = [3, 1]> () r = Gather (w, j) t = Transpose (r) y = Gather (t, i)");
  for (int padding = 0; padding < 4; ++padding) {
    const auto session = Session::create(write_model(text, padding), SessionOptions());
    const std::vector<int64_t> positions = {2, 7};
    EXPECT_EQ(elements(run(*session, {{"i", Tensor::ints(positions)}}, {"y"})[0]), (std::vector<float>{98, 34, 103, 39}));
  }
}

}  // namespace
}  // namespace rh::test
