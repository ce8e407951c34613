// Which regions of a device are left to the CPU since their copies cost more than they save.
#include "providers/kit/regions/islands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text_parse.h"
#include "kit/device_without_neg.h"
#include "ops/inference.h"

namespace rh {

namespace {

class Device final : public DeviceWithoutNeg {
 public:
  std::optional<kit::CostModel> costs() const override { return kit::CostModel{.copied_bytes = 5e9}; }
};

struct IslandCase {
  const char* purpose;
  const char* input;
  const char* nodes;
  std::vector<std::string> taken;
};

const IslandCase kCases[] = {
    {"a small island", "float[1024]", "[n] a = Neg (x) [p] b = Exp (a) [m] y = Neg (b)", {}},
    {"a large product", "float[1024, 1024]", "[n] a = Neg (x) [p] b = MatMul (a, w) [m] y = Neg (b)", {"p"}},
    {"the whole of a small model is none", "float[4]", "[p] a = Exp (x) [q] y = Tanh (a)", {"p", "q"}},
    {"a beginning that others take from is one", "float[4]", "[p] a = Exp (x) [n] y = Neg (a)", {}},
    {"the CPU runs a chain as one",
     "float[1024, 1024]",
     "[n] a = Neg (x) [p] b = Exp (a) [q] c = Tanh (b) [r] d = Exp (c) [s] e = Tanh (d) [t] f = Exp (e) [u] g = Tanh (f) [m] y = Neg (g)",
     {}},
    {"and others one by one",
     "float[1024, 1024]",
     "[n] a = Neg (x) [p] b = Softmax (a) [q] c = Softmax (b) [r] d = Softmax (c) [s] e = Softmax (d) [t] f = Softmax (e) "
     "[u] g = Softmax (f) [m] y = Neg (g)",
     {"p", "q", "r", "s", "t", "u"}},
    {"what another region has on the device needs no copy",
     "float[1024, 1024]",
     "[p] a = MatMul (x, w) [n] b = Neg (a) [q] c = Add (a, b) [r] y = MatMul (c, w)",
     {"p", "q", "r"}},
};

TEST(Islands, SaveMoreThanTheirCopiesCost) {
  for (const IslandCase& c : kCases) {
    const Model model = parse_model(std::string("<ir_version: 8, opset_import: [\"\" : 17]> main (") + c.input +
                                    " x, float[1024, 1024] w) => (float y) {" + c.nodes + "}");
    Graph& graph = *model.graph;
    for (NodeId id : graph.nodes()) graph.set_type(graph.node(id).outputs[0], {});
    infer_types(graph);
    const Device device;
    const kit::Decision decision = kit::decide(graph, device, {});
    std::vector<std::string> taken;
    for (const auto& region : decision.regions) {
      for (NodeId id : region) taken.push_back(graph.node(id).name);
    }
    std::ranges::sort(taken);
    EXPECT_EQ(taken, c.taken) << c.purpose;
    for (const auto& [id, refusal] : decision.refusals) {
      const bool is_other = graph.node(id).op_type == "Neg";
      EXPECT_EQ(refusal.code, is_other ? RhRefusalCode_OP : RhRefusalCode_COST) << refusal.reason;
    }
  }
}

TEST(Islands, SayWhatTheyWouldCost) {
  const Model model = parse_model(R"(<ir_version: 8, opset_import: ["" : 17]>
      main (float[1024] x) => (float[1024] y) { [n] a = Neg (x) [p] b = Exp (a) [m] y = Neg (b) })");
  infer_types(*model.graph);
  const std::vector<kit::Owner> owners = {kit::Owner::others, kit::Owner::device, kit::Owner::others};
  EXPECT_EQ(kit::island_reason(*model.graph, {1}, owners, {}),
            "its region takes about 0.845 us on the CPU, on the device 5.02 us and 20.8 us for 2 copies of 8.19 kB");
}

}  // namespace

}  // namespace rh
