#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "operator_cases.h"
#include "runner.h"

namespace rh::cli {

/// Why a check says nothing about this provider.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is wrong with the provider.
struct CheckFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Feeds = std::vector<std::pair<std::string, Contents>>;

/// Tensors of the host.
Ort::Value tensor_of(const Contents& contents);
std::vector<NamedValue> tensors_of(const Feeds& feeds);

/// Throws CheckFailure that says where and by how much results differ; `what` begins it.
void expect_equal(const std::vector<Contents>& actual, const std::vector<Contents>& expected, const std::string& what = "");
/// Throws CheckFailure unless the call fails with an error of the interface.
void expect_error(const std::function<void()>& call, const std::string& what);

/// A session that a check runs.
class CheckedSession {
 public:
  explicit CheckedSession(Ort::Session session) : session_(std::move(session)) {}

  std::vector<Contents> run(const Feeds& feeds, const OrtRunOptions* options = nullptr);
  void run(const Ort::IoBinding& binding);
  nlohmann::json report() const { return report_of(session_); }
  Ort::Session& session() { return session_; }

  struct Copies {
    int64_t inputs, steps, outputs;
    bool operator==(const Copies&) const = default;
    std::string text() const;
  };
  Copies copies() const;

 private:
  Ort::Session session_;
};

/// The provider under check, and what is known of it so far.
class CheckedProvider {
 public:
  /// Registers the library; `ep_name` chooses among its providers. Throws where it lists no device.
  CheckedProvider(std::string library, std::string ep_name, std::map<std::string, std::string> options);

  const std::string& name() const { return name_; }
  const std::vector<Ort::ConstEpDevice>& devices() const { return devices_; }
  /// Gives the library back and registers it anew.
  void load_again();

  /// On this provider, with the CPU behind it; optimizations off. `more` are options of the provider.
  CheckedSession session(const SmallModel& model, const std::map<std::string, std::string>& more = {}) const;
  static CheckedSession plain(const SmallModel& model);
  /// How many nodes the provider runs.
  int64_t taken(const CheckedSession& session) const;

  /// A model of two nodes that the provider takes, from x to y. Throws Skip where it takes no node of one input.
  SmallModel chain(const std::vector<int64_t>& shape = {2, 3, 4});
  /// A node that it takes, some that the CPU runs where the provider does not take them, and one that it takes again.
  SmallModel divided();

  /// Of the device. Throws Skip where it works in memory of the host.
  Ort::ConstMemoryInfo memory() const;
  Ort::Value value(const Contents& contents) const;
  Contents contents(const Ort::Value& value) const;
  void copy(const Ort::Value& from, Ort::Value& to, OrtSyncStream* stream = nullptr) const;

 private:
  void find_devices();
  const OperatorCase& carrier();

  std::string library_, wanted_, name_;
  std::map<std::string, std::string> options_;
  std::vector<Ort::ConstEpDevice> devices_;
  std::optional<const OperatorCase*> carrier_;
};

}  // namespace rh::cli
