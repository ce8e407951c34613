#include "partition/assignment.h"

#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "partition/placement.h"
#include "providers/registry.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

/// Takes the operators it is told to take.
class PickyProvider final : public Provider {
 public:
  PickyProvider(std::string name, std::vector<std::string> ops) : name_(std::move(name)), ops_(std::move(ops)) {}
  std::string_view name() const override { return name_; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }
  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    Capability answer;
    for (NodeId id : candidates) {
      const Node& node = graph.node(id);
      if (std::find(ops_.begin(), ops_.end(), node.op_type) != ops_.end()) {
        answer.claims.push_back({.nodes = {id}, .kernel = name_ + "." + node.op_type});
      } else {
        answer.refusals.push_back({id, RefusalCode::op, "not " + node.op_type});
      }
    }
    return answer;
  }
  std::unique_ptr<Kernel> make_kernel(const Graph&, const Node& node, const CompileContext&) override {
    throw Error(ErrorCode::not_implemented, "this provider only answers", node.where());
  }

 private:
  std::string name_;
  std::vector<std::string> ops_;
};

std::vector<std::shared_ptr<Provider>> two_providers() {
  return {std::make_shared<PickyProvider>("First", std::vector<std::string>{"Relu", "If"}),
          std::make_shared<PickyProvider>("Second", std::vector<std::string>{"Relu", "Add"})};
}

constexpr char kGraph[] = R"(<opset_import: ["" : 17]>
main (bool[] c, float[2] x) => (float[2] y)
{
  [one] a = Relu (x)
  [two] b = Add (a, x)
  [three] y = If (c) <
    then_branch = t () => (float[2] r) { [inner] r = Add (a, b) },
    else_branch = e () => (float[2] s) { [other] s = Relu (b) }
  >
})";

TEST(Assignment, GoesByTheOrderOfTheProvidersAndKeepsRefusals) {
  auto graph = parse_graph(kGraph);
  const auto providers = two_providers();
  const OriginalNodes originals = collect_originals(*graph);
  const Assignment assignment = assign(*graph, providers);
  check_all_assigned(*graph, assignment);
  const auto report = PlacementRecord(originals, *graph, assignment, providers).nodes();
  const std::vector<std::array<std::string, 3>> expected = {{"one", "First", "First.Relu"},
                                                            {"two", "Second", "Second.Add"},
                                                            {"three", "First", "First.If"},
                                                            {"inner", "Second", "Second.Add"},
                                                            {"other", "First", "First.Relu"}};
  ASSERT_EQ(report.size(), expected.size());
  for (const auto& [node, provider, kernel] : expected) {
    const auto at = std::find_if(report.begin(), report.end(), [&](const NodePlacement& p) { return p.node == node; });
    ASSERT_NE(at, report.end()) << node;
    EXPECT_EQ(at->provider, provider) << node;
    EXPECT_EQ(at->kernel, kernel) << node;
    ASSERT_EQ(at->refusals.size(), 1u) << node;
    EXPECT_EQ(at->refusals[0].provider, provider == "Second" ? "First" : "Second");
    EXPECT_EQ(at->refusals[0].reason, provider == "Second" ? "not Add" : "First was asked before, and has the node");
    EXPECT_EQ(at->refusals[0].code, provider == "Second" ? RefusalCode::op : RefusalCode::claimed_earlier);
  }
  EXPECT_NE(to_text(report).find("[First: not Add (op)]"), std::string::npos);
}

TEST(Assignment, EachNodeOfAUnitKeepsItsOwnRefusals) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (bool[] c, float[2] x) => (float[2] y)
{
  [one] a = Relu (x)
  [two] b = Neg (a)
  [three] y = If (c) <
    then_branch = t () => (float[2] r) { [inner] r = Add (a, b) },
    else_branch = e () => (float[2] s) { [other] s = Relu (b) }
  >
})");
  DeviceSetup setup;
  setup.compiles = true;
  setup.takes = [](const Node&) { return true; };
  const std::vector<std::shared_ptr<Provider>> providers = {std::make_shared<PickyProvider>("First", std::vector<std::string>{}),
                                                            std::make_shared<PickyProvider>("Second", std::vector<std::string>{}),
                                                            make_device_provider(std::move(setup))};
  const OriginalNodes originals = collect_originals(*graph);
  const Assignment assignment = assign(*graph, providers);
  std::map<std::string, std::string> reasons;
  for (const NodePlacement& row : PlacementRecord(originals, *graph, assignment, providers).nodes()) {
    EXPECT_EQ(row.provider, "DeviceExecutionProvider");
    for (const Refusal& refusal : row.refusals) reasons[row.node] += refusal.provider + ": " + refusal.reason + ". ";
  }
  const std::string of_if = "First: not If. Second: not If. ";
  EXPECT_EQ(reasons, (std::map<std::string, std::string>{{"one", "First: not Relu. Second: not Relu. "},
                                                         {"two", "First: not Neg. Second: not Neg. "},
                                                         {"three", of_if},
                                                         {"inner", of_if},
                                                         {"other", of_if}}));
}

TEST(Assignment, NamesWhatNobodyTakes) {
  auto graph = parse_graph(kGraph);
  const std::vector<std::shared_ptr<Provider>> providers{std::make_shared<PickyProvider>("Only", std::vector<std::string>{"If", "Relu"})};
  try {
    check_all_assigned(*graph, assign(*graph, providers));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_implemented);
    for (const char* part : {"2 nodes", "two", "inner", "Add(17)", "Only: not Add"}) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
}

TEST(Assignment, NodesThatAreGoneSayWhy) {
  auto graph = parse_graph(kGraph);
  const auto providers = two_providers();
  OriginalNodes originals = collect_originals(*graph);
  const auto gone = std::make_shared<const OriginalNode>(OriginalNode{"was here", "Identity", 9, "", 17, nullptr});
  originals.push_back(gone);
  const Assignment assignment = assign(*graph, providers);
  const PlacementRecord record(originals, *graph, assignment, providers, {{gone, "eliminate_identities"}});
  const auto report = record.nodes();
  EXPECT_TRUE(report.back().provider.empty());
  EXPECT_EQ(report.back().fate, NodeFate::removed);
  EXPECT_EQ(report.back().pass, "eliminate_identities");
  EXPECT_EQ(report.back().reason, "gone after pass eliminate_identities");
  EXPECT_EQ(record.counts().removed, 1u);
  EXPECT_EQ(record.counts().nodes, 6u);
}

std::shared_ptr<Provider> make_picky(const std::map<std::string, std::string>&) {
  return std::make_shared<PickyProvider>("PickyExecutionProvider", std::vector<std::string>{});
}

TEST(ProviderRegistry, TakesShortNamesAndNamesWhatThereIs) {
  ProviderRegistry registry;
  registry.add("PickyExecutionProvider", make_picky);
  for (const char* name : {"PickyExecutionProvider", "Picky", "picky", "PICKYEXECUTIONPROVIDER"}) {
    EXPECT_EQ(registry.canonical_name(name), "PickyExecutionProvider") << name;
    EXPECT_EQ(registry.make(name, {})->name(), "PickyExecutionProvider");
  }
  EXPECT_EQ(registry.canonical_name("Pick"), "");
  try {
    registry.make("Pick", {});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("available: PickyExecutionProvider"), std::string_view::npos) << error.what();
  }
}

}  // namespace
}  // namespace rh::test
