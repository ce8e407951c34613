// Models in which nodes of a provider stand for what it compiled.
#include "session/context_model.h"

#include <gtest/gtest.h>
#include <filesystem>

#include "base/process.h"
#include "graph/text_parse.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "session/compile/compile.h"
#include "session/session.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = R"(<ir_version: 8, opset_import: ["" : 17]>
main (bool[] c, float[3] x) => (float[3] y)
< float[3] w = {1, 2, 3} >
{
  [add] a = Add (x, w)
  [mul] b = Mul (a, x)
  [abs] d = Abs (b)
  [if] e = If (c) <
    then_branch = t () => (float[3] r) { [inner] r = Neg (d) },
    else_branch = f () => (float[3] s) { [other] s = Abs (a) }
  >
  [relu] y = Abs (e)
})";

class ContextModel : public testing::Test {
 protected:
  ContextModel() : folder_(fs::temp_directory_path() / ("rh_context_" + std::to_string(process_number()))) {
    fs::create_directories(folder_);
    options.optimization_level = OptimizationLevel::none;
    options.intra_op_threads = 1;
  }
  ~ContextModel() override { fs::remove_all(folder_); }

  void add_provider(bool contexts) {
    const auto answers = [](const Graph& graph) {
      Capability answer;
      Claim claim{.compiled = true};
      for (NodeId id : graph.nodes()) {
        const std::string& op = graph.node(id).op_type;
        if (op == "Add" || op == "Mul" || op == "Neg") claim.nodes.push_back(id);
      }
      if (!claim.nodes.empty()) answer.claims.push_back(std::move(claim));
      return answer;
    };
    DeviceSetup setup{.contexts = contexts};
    setup.answers = answers;
    options.providers.push_back({setup.name, {}, [setup](auto) { return make_device_provider(setup); }});
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  SessionOptions options;

 private:
  fs::path folder_;
};

TEST_F(ContextModel, HasANodeForEachUnit) {
  add_provider(true);
  const FileModel model = compile_for_file(parse_model(kModel), options);
  EXPECT_EQ(count_context_nodes(*model.graph), 2);
  const std::string bytes = onnx::write_model(model.info, *model.graph);
  const Model read = onnx::read_model({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  EXPECT_EQ(read.graph->opset_imports.at("com.microsoft"), 1);
  const Node* context = read.graph->producer(read.graph->find_value("b"));
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(context->op_type, "EPContext");
  EXPECT_EQ(*context->attribute("ep_cache_context")->get<std::string>(), "Add Mul ");
  EXPECT_EQ(context, read.graph->producer(read.graph->find_value("a")));  // taken by the other branch
  ASSERT_GE(context->inputs.size(), 1u);
  EXPECT_EQ(read.graph->value(context->inputs[0]).name, "x");
  EXPECT_EQ(read.graph->node_count(), 4u);
}

TEST_F(ContextModel, IsTheModelItselfWhereNobodyWritesNodes) {
  add_provider(false);
  const FileModel model = compile_for_file(parse_model(kModel), options);
  EXPECT_EQ(count_context_nodes(*model.graph), 0);
  EXPECT_EQ(model.graph->node_count(), 5u);
}

TEST_F(ContextModel, IsWrittenBesideTheSessionThatAsksForIt) {
  add_provider(true);
  options.config["ep.context_enable"] = "1";
  options.config["ep.context_file_path"] = path("out_ctx.onnx");
  Session::create(parse_model(kModel), options);
  EXPECT_EQ(count_context_nodes(*onnx::read_model(path("out_ctx.onnx")).graph), 2);
  EXPECT_THROW(Session::create(parse_model(kModel), options), Error);  // it is there already
  options.config["ep.context_file_path"] = path("apart_ctx.onnx");
  options.config["ep.context_model_external_initializers_file_name"] = "apart.bin";
  Session::create(parse_model(kModel), options);
  EXPECT_TRUE(fs::exists(path("apart.bin")));
  EXPECT_EQ(count_context_nodes(*onnx::read_model(path("apart_ctx.onnx")).graph), 2);
  options.config["ep.context_file_path"] = "";
  EXPECT_THROW(Session::create(parse_model(kModel), options), Error);  // and has no name
}

TEST_F(ContextModel, NeedsItsProvider) {
  add_provider(true);
  const FileModel model = compile_for_file(parse_model(kModel), options);
  const std::string bytes = onnx::write_model(model.info, *model.graph);
  try {
    Session::create({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, SessionOptions());
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("EPContext"), std::string_view::npos) << error.what();
  }
}

}  // namespace
}  // namespace rh::test
