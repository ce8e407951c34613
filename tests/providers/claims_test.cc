// Claims that cannot be units: sessions go on without them, as those of the stock library do, and warn.
#include <cstring>

#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kFaulty[] = "FaultyExecutionProvider";

/// a → y → d → u and a → c → d; beside it e → f.
std::string diamond_model() {
  return ModelBytes()
      .node("Add", {"x", "z"}, {"a"})
      .node("Relu", {"a"}, {"y"})
      .node("Neg", {"a"}, {"c"})
      .node("Add", {"y", "c"}, {"d"})
      .node("Neg", {"x"}, {"e"})
      .node("Relu", {"e"}, {"f"})
      .node("Add", {"d", "f"}, {"u"})
      .input("x", 1, {4})
      .input("z", 1, {4})
      .output("y", 1, {4})
      .output("u", 1, {4})
      .model();
}

struct ClaimCase {
  const char* purpose;
  const char* units;
  std::vector<std::string> taken;  ///< nodes that the provider runs
  const char* says = "";           ///< of the warning, and of the error where that is asked for; empty: none
  enum { same, takes_none, fails } stock = same;
};

const ClaimCase kCases[] = {
    {"a unit", "a_node,y_node", {"a_node", "y_node"}},
    {"two units in a row", "a_node,y_node;c_node,d_node", {"a_node", "c_node", "d_node", "y_node"}},
    {"a hole in the middle", "a_node,y_node,d_node", {}, "3 nodes cannot be one unit"},
    {"a hole, and a unit before", "e_node,f_node;a_node,d_node", {"e_node", "f_node"}, "2 nodes cannot be one unit", ClaimCase::takes_none},
    {"a hole, and a unit behind", "a_node,d_node;e_node,f_node", {"e_node", "f_node"}, "2 nodes cannot be one unit", ClaimCase::takes_none},
    {"two that need each other", "a_node,f_node;e_node,y_node", {"a_node", "f_node"}, "2 nodes cannot be one unit", ClaimCase::fails},
    {"a node twice in one claim", "a_node,a_node,y_node", {"a_node", "y_node"}, "names node 'a_node' twice"},
    {"a node in two claims",
     "a_node,y_node;a_node,c_node",
     {"a_node", "y_node"},
     "node 'a_node', which an earlier claim has",
     ClaimCase::fails},
    {"the same claim twice", "a_node,y_node;a_node,y_node", {"a_node", "y_node"}, "which an earlier claim has", ClaimCase::fails},
};

class ClaimsTest : public PluginTest {
 protected:
  void SetUp() override { register_library("faulty", test_plugin("faulty")); }

  std::vector<std::string> taken_by_plugin(const Ort::Session& session) {
    const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
    size_t count = 0;
    Ort::ThrowOnError(api.Session_GetEpGraphAssignmentInfo(session, &subgraphs, &count));
    std::vector<std::string> taken;
    for (size_t i = 0; i < count; ++i) {
      const char* provider = nullptr;
      const OrtEpAssignedNode* const* nodes = nullptr;
      size_t node_count = 0;
      Ort::ThrowOnError(api.EpAssignedSubgraph_GetEpName(subgraphs[i], &provider));
      Ort::ThrowOnError(api.EpAssignedSubgraph_GetNodes(subgraphs[i], &nodes, &node_count));
      for (size_t k = 0; k < node_count && std::string(provider) == kFaulty; ++k) {
        const char* name = nullptr;
        Ort::ThrowOnError(api.EpAssignedNode_GetName(nodes[k], &name));
        taken.emplace_back(name);
      }
    }
    std::ranges::sort(taken);
    return taken;
  }

  Ort::SessionOptions options_of(const ClaimCase& row, const char* fallback = "") {
    Ort::SessionOptions options = options_for(kFaulty, {{"units", row.units}});
    options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
    if (*fallback) options.AddConfigEntry("roundhouse.fallback", fallback);
    return options;
  }

  /// What a session with these options writes to the log.
  std::string log_of(const ClaimCase& row) {
    Ort::ThrowOnError(api.UpdateEnvWithCustomLogLevel(env(), ORT_LOGGING_LEVEL_WARNING));
    testing::internal::CaptureStderr();
    {
      Ort::Session session = session_of(diamond_model(), options_of(row));
    }
    Ort::ThrowOnError(api.UpdateEnvWithCustomLogLevel(env(), ORT_LOGGING_LEVEL_FATAL));
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(ClaimsTest, SessionsGoOnWithoutThem) {
  const bool ours = Library::get().ours;
  for (const ClaimCase& row : kCases) {
    SCOPED_TRACE(row.purpose);
    if (row.stock == ClaimCase::fails && !ours) continue;
    std::vector<std::string> taken = row.taken;
    if (row.stock == ClaimCase::takes_none && !ours) taken.clear();
    if (row.stock == ClaimCase::fails && !ours) taken = {"a_node", "e_node", "f_node", "y_node"};
    const std::string message = message_of([&] {
      Ort::Session session = session_of(diamond_model(), options_of(row));
      EXPECT_EQ(run(session, {1, -2, 3, -4}, {1, 1, 1, 1}), (std::vector<Floats>{{2, 0, 4, 0}, {0, 3, 0, 7}}));
      EXPECT_EQ(taken_by_plugin(session), taken);
    });
    EXPECT_EQ(message, "");
  }
}

TEST_F(ClaimsTest, ThatAreLeftOutAreWarnings) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library has other words";
  for (const ClaimCase& row : kCases) {
    SCOPED_TRACE(row.purpose);
    const std::string log = log_of(row);
    if (*row.says) {
      EXPECT_NE(log.find(row.says), std::string::npos) << log;
    } else {
      EXPECT_EQ(log.find("claim"), std::string::npos) << log;
    }
  }
}

// Who shows errors alone sees nothing of them, and who shows warnings sees each once, as a warning.
TEST_F(ClaimsTest, ThatAreLeftOutAreToldAsWarningsAndAsNothingElse) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library has other words";
  for (const ClaimCase& row : kCases) {
    SCOPED_TRACE(row.purpose);
    std::vector<OrtLoggingLevel> levels;
    Ort::SessionOptions options = options_of(row);
    options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_WARNING);
    Ort::ThrowOnError(api.SetUserLoggingFunction(
        options,
        [](void* state, OrtLoggingLevel level, const char*, const char*, const char*, const char* message) {
          if (std::strstr(message, "the claim does not count")) static_cast<std::vector<OrtLoggingLevel>*>(state)->push_back(level);
        },
        &levels));
    {
      Ort::Session session = session_of(diamond_model(), options);
    }
    const size_t told = levels.size();
    EXPECT_EQ(told > 0, *row.says != '\0');
    EXPECT_EQ(levels, std::vector<OrtLoggingLevel>(told, ORT_LOGGING_LEVEL_WARNING));
    options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_ERROR);
    {
      Ort::Session session = session_of(diamond_model(), options);
    }
    EXPECT_EQ(levels.size(), told);
  }
}

TEST_F(ClaimsTest, AreErrorsWhereThatIsAskedFor) {
  if (!Library::get().ours) GTEST_SKIP() << "an option of ours";
  for (const ClaimCase& row : kCases) {
    SCOPED_TRACE(row.purpose);
    const std::string message = message_of([&] { session_of(diamond_model(), options_of(row, "error")); });
    EXPECT_EQ(message.empty(), !*row.says) << message;
    EXPECT_NE(message.find(row.says), std::string::npos) << message;
    EXPECT_EQ(message.find(kFaulty) != std::string::npos, *row.says != '\0') << message;
    EXPECT_EQ(message_of([&] { session_of(diamond_model(), options_of(row, "warn")); }), "");
  }
}

}  // namespace
}  // namespace rh::test
