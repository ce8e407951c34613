// Regions whose provider has them compute in another type.
#include "providers/kit/regions/precision.h"

#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "ops/inference.h"

namespace rh {

namespace {

kit::Region region_of(const Model& model) {
  Graph& graph = *model.graph;
  infer_types(graph);
  return {model.graph->clone(), graph.inputs(), graph.outputs()};
}

Model products() {
  return parse_model(R"(<ir_version: 8, opset_import: ["" : 17]>
      main (float[N, 2] x, float[2] k) => (float[N, 2] y, float[N, 2] a) <float[2, 2] w = {1, 2, 3, 4}>
      { [p] a = MatMul (x, w) [q] b = Add (a, k) [r] y = MatMul (b, w) })");
}

TEST(RegionPrecision, KeepsWhatARegionTakesAndGives) {
  const kit::Region region = region_of(products());
  precision::Report report;
  const kit::Region half = kit::in_precision(region, {.floats = DType::float16}, &report);
  EXPECT_EQ(report.converted, (std::vector<std::string>{"p", "q", "r"}));
  ASSERT_EQ(half.inputs.size(), region.inputs.size());
  ASSERT_EQ(half.outputs.size(), region.outputs.size());
  for (const auto& [values, before] : {std::pair(&half.inputs, &region.inputs), {&half.outputs, &region.outputs}}) {
    for (size_t i = 0; i < values->size(); ++i) {
      const GraphValue& value = half.graph->value((*values)[i]);
      EXPECT_EQ(value.name, region.graph->value((*before)[i]).name);
      EXPECT_EQ(value.type.tensor().dtype, DType::float32);
    }
  }
  EXPECT_EQ(region.graph->node_count(), 3u);  // the given one is as it was
}

TEST(RegionPrecision, LeavesOutNamesOfOtherRegions) {
  precision::Report report;
  const std::vector<std::string> kept = {"MatMul", "Conv", "a node of another region"};
  const kit::Region region = region_of(products());
  kit::in_precision(region, {.floats = DType::bfloat16, .keep_float32 = kept}, &report);
  EXPECT_TRUE(report.converted.empty());
  EXPECT_EQ(kit::in_precision(region, {}).graph, region.graph);
}

}  // namespace

}  // namespace rh
