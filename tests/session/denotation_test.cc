#include <protozero/pbf_writer.hpp>

#include "session/run_helpers.h"

namespace rh::test {
namespace {

using protozero::pbf_writer;

template <typename Fill>
std::string message(Fill fill) {
  std::string bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

// A ValueInfoProto of a float tensor [batch, 3], with denotations of the two dimensions where they are not null.
std::string value_info(const char* name, const char* first, const char* second) {
  const std::string batch = message([&](pbf_writer& dim) {
    dim.add_string(2, "batch");
    if (first) dim.add_string(3, first);
  });
  const std::string three = message([&](pbf_writer& dim) {
    dim.add_int64(1, 3);
    if (second) dim.add_string(3, second);
  });
  const std::string shape = message([&](pbf_writer& w) {
    w.add_message(1, batch);
    w.add_message(1, three);
  });
  const std::string tensor = message([&](pbf_writer& w) {
    w.add_int32(1, 1);
    w.add_message(2, shape);
  });
  const std::string type = message([&](pbf_writer& w) { w.add_message(1, tensor); });
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    w.add_message(2, type);
  });
}

std::string relu_model() {
  const std::string node = message([](pbf_writer& w) {
    w.add_string(1, "x");
    w.add_string(2, "y");
    w.add_string(4, "Relu");
  });
  const std::string graph = message([&](pbf_writer& w) {
    w.add_message(1, node);
    w.add_string(2, "main");
    w.add_message(11, value_info("x", "DATA_BATCH", "DATA_FEATURE"));
    w.add_message(12, value_info("y", nullptr, nullptr));
  });
  const std::string opset = message([](pbf_writer& w) { w.add_int64(2, 17); });
  return message([&](pbf_writer& w) {
    w.add_int64(1, 8);
    w.add_message(7, graph);
    w.add_message(8, opset);
  });
}

TEST(Denotations, FixFreeDimensions) {
  const std::string model = relu_model();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(model));
  SessionOptions options;
  EXPECT_EQ(Session::create(bytes, options)->inputs()[0].type.to_string(), "tensor(float)[batch, 3]");
  options.dims_by_denotation = {{"DATA_BATCH", 2}, {"DATA_FEATURE", 77}, {"OTHER", 5}};
  auto session = Session::create(bytes, options);
  EXPECT_EQ(session->inputs()[0].type.to_string(), "tensor(float)[2, 3]");
  EXPECT_EQ(session->outputs()[0].type.to_string(), "tensor(float)[2, 3]");
  EXPECT_TRUE(try_run(*session, {{"x", filled({2, 3}, 1)}}, {"y"}).ok());
  EXPECT_FALSE(try_run(*session, {{"x", filled({1, 3}, 1)}}, {"y"}).ok());
}

}  // namespace
}  // namespace rh::test
