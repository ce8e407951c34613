// A provider on the kit that takes nothing and appends each graph that a host shows to the file that option `file` names, in the text form,
// with attributes and operator sets that differ between hosts without meaning made alike; and what runs have in their entry `note`.
#include <algorithm>
#include <fstream>
#include <set>

#include "graph/text_print.h"
#include "providers/kit/ep.h"

namespace rh::test {

namespace {

void collect_domains(const Graph& graph, std::set<std::string>& used) {
  for (NodeId id : graph.nodes()) {
    used.insert(graph.node(id).domain);
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { collect_domains(body, used); });
  }
}

// Hosts list the domains that they know, and attributes in an order of their own.
void make_alike(Graph& graph, const std::set<std::string>& used) {
  std::erase_if(graph.opset_imports, [&](const auto& import) { return !used.contains(import.first); });
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    std::ranges::sort(node.attributes, {}, &Attribute::name);
    Graph::for_each_subgraph(node, [&](Graph& body) { make_alike(body, used); });
  }
}

class ImportDump final : public kit::RegionProvider {
 public:
  explicit ImportDump(const kit::Options& options) : file_(options.text("file")) {}

  kit::Support supports(const NodeView& view) const override {
    const Graph& graph = view.graph();
    if (!graph.name.empty() && view.node().id == graph.nodes().front()) {  // that of one node, for its bodies, has no name
      const std::shared_ptr<Graph> copy = graph.clone();
      std::set<std::string> used;
      collect_domains(*copy, used);
      make_alike(*copy, used);
      std::ofstream(file_, std::ios::app) << "== graph\n" << print(*copy);
    }
    return kit::refuse(RhRefusalCode_OP, "it takes nothing");
  }

  void begin_run(const kit::RunEntries& entries) override {
    const char* note = entries.text("note");
    std::ofstream(file_, std::ios::app) << "== run " << (note ? note : "without a note") << "\n";
    if (note && std::string_view(note) == "stop") fail(ErrorCode::invalid_argument, "the note says stop");
  }

  std::unique_ptr<kit::Executable> compile(const kit::Region&) override { return nullptr; }

 private:
  std::string file_;
};

constexpr kit::OptionRow kOptions[] = {{"file", kit::OptionRow::Type::text, "/dev/null", "where graphs are appended"}};
constexpr kit::ProviderKind kDump = {"ImportDumpExecutionProvider", "Roundhouse tests", 0xFFFE, "1.0.0", kOptions, kit::make<ImportDump>};

}  // namespace

}  // namespace rh::test

RH_EXPORT_KIT_PROVIDER(rh::test::kDump)
