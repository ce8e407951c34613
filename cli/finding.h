#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rh::cli {

/// What an examination says in the end: {"ok", "verdict", "remedy"}, and what its own checks add.
class Finding {
 protected:
  /// Something is wrong, and the examination ends: gives false.
  bool conclude(const std::string& verdict, const std::string& remedy) {
    result_["verdict"] = verdict;
    result_["remedy"] = remedy;
    return false;
  }
  void be_ready() {
    result_["ok"] = true;
    result_["verdict"] = "ready";
  }

  nlohmann::json result_{{"ok", false}, {"verdict", ""}, {"remedy", ""}};
};

}  // namespace rh::cli
