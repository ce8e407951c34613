#include "partition/copies.h"

#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "ops/inference.h"
#include "providers/cpu/cpu_provider.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

struct CopyCase {
  const char* purpose;
  const char* graph;
  std::vector<std::string> copies;  ///< "value: from > to"
  std::vector<std::string> inputs;  ///< where they are expected; empty: all on the host
};

std::string line(const CopyPlacement& copy) { return copy.value + ": " + copy.from.to_string() + " > " + copy.to.to_string(); }

/// Nodes whose name begins with "d" go to device 0, with "e" to device 1, others to the CPU.
std::vector<std::shared_ptr<Provider>> two_devices() {
  std::vector<std::shared_ptr<Provider>> providers;
  for (const char* letter : {"d", "e"}) {
    DeviceSetup setup;
    setup.name = std::string(letter) + "ExecutionProvider";
    setup.id = static_cast<int16_t>(*letter - 'd');
    setup.takes = [letter](const Node& node) { return node.name.starts_with(letter); };
    providers.push_back(make_device_provider(std::move(setup)));
  }
  providers.push_back(cpu::make_provider({}));
  return providers;
}

const CopyCase kCases[] = {
    {"nothing is on a device", "main (float[2] x) => (float[2] y) { [a] t = Relu (x) [b] y = Neg (t) }", {}, {}},
    {"all is on the device: input and output stay there",
     "main (float[2] x) => (float[2] y) { [d1] t = Relu (x) [d2] y = Neg (t) }",
     {},
     {"other:0"}},
    {"into the device and back",
     "main (float[2] x) => (float[2] y) { [a] t = Exp (x) [d] u = Neg (t) [b] y = Exp (u) }",
     {"t: cpu > other:0", "u: other:0 > cpu"},
     {}},
    {"a value that two nodes of a device take is copied once",
     "main (float[2] x) => (float[2] y, float[2] z) { [a] t = Exp (x) [d1] y = Neg (t) [d2] z = Relu (t) }",
     {"t: cpu > other:0"},
     {}},
    {"an input that both take stays on the host",
     "main (float[2] x) => (float[2] y, float[2] z) { [a] y = Exp (x) [d] z = Relu (x) }",
     {"x: cpu > other:0"},
     {"cpu"}},
    {"constants are no copies of a run",
     "main (float[2] x) => (float[2] y, float[2] z) < float[2] w = {1, 2} > { [d] y = Add (x, w) [a] z = Add (x, w) }",
     {"x: cpu > other:0"},
     {}},
    {"from device to device at once",
     "main (float[2] x) => (float[2] y) { [d] t = Relu (x) [e] y = Neg (t) }",
     {"t: other:0 > other:1"},
     {"other:0"}},
    {"an output that the host takes too is copied for it alone",
     "main (float[2] x) => (float[2] y, float[2] z) { [d] y = Relu (x) [a] z = Exp (y) }",
     {"y: other:0 > cpu"},
     {"other:0"}},
    {"outer values come to subgraphs where they are, results of subgraphs to the host",
     R"(main (bool[] c, float[2] x) => (float[2] y) {
       [d1] t = Relu (x)
       [b] y = If (c) <
         then_branch = t1 () => (float[2] r) { [d2] r = Neg (t) },
         else_branch = e1 () => (float[2] s) { [f] s = Exp (t) }
       >
     })",
     {"r: other:0 > cpu", "t: other:0 > cpu"},
     {}},
    {"what a loop captures is copied once, before it",
     R"(main (int64[] n, bool[] c, float[2] x) => (float[2] y) {
       [a] t = Exp (x)
       [b] y = Loop (n, c, x) <
         body = body (int64[] i, bool[] go, float[2] s) => (bool[] again, float[2] next) {
           again = Identity (go)
           [f] next = If (go) <
             then_branch = t1 () => (float[2] r) { [d1] u = Neg (t) [g] r = Exp (u) },
             else_branch = e1 () => (float[2] q) { [d2] v = Relu (t) [h] q = Exp (v) }
           >
         }
       >
     })",
     {"t: cpu > other:0", "u: other:0 > cpu", "v: other:0 > cpu"},
     {}},
    {"a branch takes the copy that there is outside",
     R"(main (bool[] c, float[2] x) => (float[2] y, float[2] z) {
       [d1] t = Relu (x)
       [a] z = Exp (t)
       [b] y = If (c) <
         then_branch = t1 () => (float[2] r) { [e2] r = Neg (t) },
         else_branch = e1 () => (float[2] s) { [f] s = Exp (t) }
       >
     })",
     {"r: other:1 > cpu", "t: other:0 > cpu", "t: other:0 > other:1"},
     {}},
    {"what all branches take is copied before them, for what follows as well",
     R"(main (bool[] c, float[2] x) => (float[2] y, float[2] z) {
       [a] t = Exp (x)
       [b] y = If (c) <
         then_branch = t1 () => (float[2] r) { [d1] u = Neg (t) [g] r = Exp (u) },
         else_branch = e1 () => (float[2] s) { [d2] v = Relu (t) [h] s = Exp (v) }
       >
       [k] z = If (c) <
         then_branch = t2 () => (float[2] r2) { [d3] u2 = Neg (t) [l] r2 = Exp (u2) },
         else_branch = e2 () => (float[2] s2) { [m] s2 = Exp (t) }
       >
     })",
     {"t: cpu > other:0", "u2: other:0 > cpu", "u: other:0 > cpu", "v: other:0 > cpu"},
     {}},
    {"a branch takes the copy that a loop after it needs",
     R"(main (bool[] c, int64[] n, float[2] x) => (float[2] y, float[2] z) {
       [a] t = Exp (x)
       [b] y = If (c) <
         then_branch = t1 () => (float[2] r) { [d1] u = Neg (t) [g] r = Exp (u) },
         else_branch = e1 () => (float[2] s) { [h] s = Exp (t) }
       >
       [k] z = Loop (n, c, x) <
         body = body (int64[] i, bool[] go, float[2] s) => (bool[] again, float[2] next) {
           again = Identity (go)
           [d2] v = Relu (t)
           [l] next = Exp (v)
         }
       >
     })",
     {"t: cpu > other:0", "u: other:0 > cpu", "v: other:0 > cpu"},
     {}},
    {"shapes are no tensors on a device: a left-out input needs nothing",
     "main (float[2] x) => (float[2] y) { [a] y = Clip (x, _, _) }",
     {},
     {}},
};

TEST(Copies, AreWhereTheyMustBeAndNowhereElse) {
  for (const CopyCase& row : kCases) {
    SCOPED_TRACE(row.purpose);
    auto graph = parse_graph(std::string("<opset_import: [\"\" : 17]>\n") + row.graph);
    infer_types(*graph);
    const auto providers = two_devices();
    Assignment assignment = assign(*graph, providers);
    std::vector<std::string> copies;
    for (const CopyPlacement& copy : place_copies(*graph, assignment, providers)) {
      copies.push_back(line(copy));
      EXPECT_FALSE(copy.cause.empty());
    }
    std::ranges::sort(copies);
    EXPECT_EQ(copies, row.copies);
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      EXPECT_EQ(assignment.location(*graph, graph->inputs()[i]).to_string(), row.inputs[i]);
    }
    EXPECT_NO_THROW(graph->topological_order());
  }
}

TEST(Copies, ConstantsComeToADeviceOnce) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y) < float[2] w = {1, 2} >
{ [d1] t = Add (x, w) [d2] u = Mul (t, w) [e] y = Add (u, w) })");
  infer_types(*graph);
  const auto providers = two_devices();
  const int64_t before = device_copies();
  Assignment assignment = assign(*graph, providers);
  place_copies(*graph, assignment, providers);
  EXPECT_EQ(device_copies() - before, 2);
}

struct HostValuesCase {
  std::vector<std::string> wanted, copies;
};

const HostValuesCase kHostValues[] = {
    {{}, {"t: cpu > other:0", "u: other:1 > other:0", "x: cpu > other:0"}},
    {{"t", "no_such_value"}, {"u: other:1 > other:0", "x: cpu > other:0"}},
    {{"x"}, {"t: cpu > other:0", "u: other:1 > other:0"}},
    {{"u"}, {"t: cpu > other:0", "u: other:1 > cpu", "x: cpu > other:0"}},
};

TEST(Copies, LeaveAUnitsHostValuesOnTheHostAndBringThemThere) {
  for (const HostValuesCase& row : kHostValues) {
    auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (float[2] x, float[2] z) => (float[2] y)
{ [a] t = Exp (x) [e] u = Neg (z) [d1] v = Add (t, x) [d2] w = Mul (v, u) [d3] y = Neg (w) })");
    infer_types(*graph);
    auto providers = two_devices();
    DeviceSetup setup;
    setup.name = "UnitExecutionProvider";
    setup.answers = [&](const Graph& of) {
      Claim claim;
      claim.compiled = true;
      claim.host_values = row.wanted;
      for (NodeId id : of.nodes()) {
        if (of.node(id).name.starts_with("d")) claim.nodes.push_back(id);
      }
      return Capability{{claim}, {}};
    };
    providers[0] = make_device_provider(std::move(setup));
    Assignment assignment = assign(*graph, providers);
    std::vector<std::string> copies;
    for (const CopyPlacement& copy : place_copies(*graph, assignment, providers)) copies.push_back(line(copy));
    std::ranges::sort(copies);
    EXPECT_EQ(copies, row.copies);
  }
}

TEST(Copies, SayWhy) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y) { [a] t = Exp (x) [d] y = Neg (t) })");
  infer_types(*graph);
  const auto providers = two_devices();
  Assignment assignment = assign(*graph, providers);
  const auto copies = place_copies(*graph, assignment, providers);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].cause, "node 'd' (Neg(17)) of dExecutionProvider takes it there");
}

}  // namespace
}  // namespace rh::test
