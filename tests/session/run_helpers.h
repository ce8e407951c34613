#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/text_parse.h"
#include "session/session.h"

namespace rh::test {

inline std::unique_ptr<Session> make_session(const std::string& text, const SessionOptions& options = {}) {
  return Session::create(parse_model(text), options);
}

/// Runs with inputs by name; outputs in the order asked for. Fails the test where the run fails.
inline std::vector<Value> run(Session& session, const std::vector<std::pair<const char*, Value>>& inputs, std::vector<const char*> outputs,
                              const RunOptions& options = {}) {
  std::vector<const char*> names;
  std::vector<const Value*> values;
  for (const auto& [name, value] : inputs) {
    names.push_back(name);
    values.push_back(&value);
  }
  std::vector<Value> results(outputs.size());
  const Status status = session.run(options, names, values, outputs, results);
  EXPECT_TRUE(status.ok()) << status.message();
  return results;
}

inline Status try_run(Session& session, const std::vector<std::pair<const char*, Value>>& inputs, std::vector<const char*> outputs,
                      std::vector<Value>* results = nullptr, const RunOptions& options = {}) {
  std::vector<const char*> names;
  std::vector<const Value*> values;
  for (const auto& [name, value] : inputs) {
    names.push_back(name);
    values.push_back(&value);
  }
  std::vector<Value> own(outputs.size());
  return session.run(options, names, values, outputs, results ? std::span<Value>(*results) : std::span<Value>(own));
}

inline Tensor floats(Shape shape, std::vector<float> values) { return Tensor::from<float>(std::move(shape), values); }
inline Tensor filled(Shape shape, float value) {
  Tensor tensor(DType::float32, std::move(shape));
  std::fill_n(tensor.data<float>(), tensor.elements(), value);
  return tensor;
}
inline std::vector<float> elements(const Value& value) {
  const auto span = value.tensor().span<float>();
  return {span.begin(), span.end()};
}
inline std::vector<int64_t> ints(const Value& value) {
  const auto span = value.tensor().span<int64_t>();
  return {span.begin(), span.end()};
}

}  // namespace rh::test
