// What regions of a device take in host memory, and where they end for it.
#include "providers/kit/regions/host_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text_parse.h"
#include "kit/device_without_neg.h"
#include "ops/inference.h"

namespace rh {

namespace {

class Device final : public DeviceWithoutNeg {
 public:
  uint64_t host_inputs(const NodeView& node) const override { return kit::steering_inputs(node); }
};

struct HostValueCase {
  const char* purpose;
  const char* nodes;
  std::vector<std::vector<std::string>> regions;
  std::vector<std::vector<std::string>> host_values;  // of each region
};

const HostValueCase kCases[] = {
    {"a shape from outside", "[a] p = Exp (x) [b] y = Reshape (p, s)", {{"a", "b"}}, {{"s"}}},
    {"what is computed of it is the host's", "[a] t = Mul (s, two) [b] y = Reshape (x, t)", {{"a", "b"}}, {{"s"}}},
    {"shapes are the host's",
     "[a] p = Exp (x) [b] d = Shape (p) [c] e = Mul (d, two) [d] y = Reshape (x, e)",
     {{"a", "b", "c", "d"}},
     {{}}},
    {"operands are the device's", "[a] p = Add (x, k) [b] y = Reshape (p, two)", {{"a", "b"}}, {{}}},
    {"what the device computes ends a region",
     "[a] p = Exp (x) [b] i = ArgMax <axis = 1, keepdims = 0> (p) [c] j = Add (i, two) [d] y = Reshape (p, j)",
     {{"a", "b"}, {"c", "d"}},
     {{}, {"i"}}},
    {"others' values come from outside", "[a] n = Neg (s) [b] m = Abs (n) [c] y = Reshape (x, m)", {{"b", "c"}}, {{"n"}}},
    {"a large table is the device's",
     "[a] r = Cast <to = 7> (x) [b] g = Gather (r, c) [c] y = Reshape (x, g)",
     {{"a", "b"}, {"c"}},
     {{}, {"g"}}},
    {"bodies take them from around their node",
     "[if] y = If (flag) <then_branch = t () => (float[?, ?] u) { [in] v = Mul (s, two) [in2] u = Reshape (x, v) }, "
     "else_branch = e () => (float[?, ?] w) { [out] w = Mul (x, k) }>",
     {{"if"}},
     {{"flag", "s"}}},
};

TEST(HostValues, AreThoseThatSteer) {
  for (const HostValueCase& c : kCases) {
    const Model model = parse_model(std::string(R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 4] x, float[4] k, int64[2] s, int64 c, bool flag) => (float[?, ?] y) <int64[2] two = {1, 1}> {)") +
                                    c.nodes + "}");
    Graph& graph = *model.graph;
    infer_types(graph);
    const Device device;
    const kit::Decision decision = kit::decide(graph, device, {});
    std::vector<std::vector<std::string>> regions, host_values;
    for (const auto& region : decision.regions) {
      regions.emplace_back();
      for (NodeId id : region) regions.back().push_back(graph.node(id).name);
      host_values.emplace_back();
      for (ValueId value : kit::HostValues(graph, device).inputs_of(region)) host_values.back().push_back(graph.value(value).name);
      std::ranges::sort(host_values.back());
    }
    EXPECT_EQ(regions, c.regions) << c.purpose;
    EXPECT_EQ(host_values, c.host_values) << c.purpose;
  }
}

}  // namespace

}  // namespace rh
