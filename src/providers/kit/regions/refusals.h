#pragma once

#include <deque>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "roundhouse/roundhouse_ep_c_api.h"

namespace rh::kit {

/// Why a node is left to others.
struct Refusal {
  RhRefusalCode code = RhRefusalCode_UNSTATED;
  std::string reason;  ///< a sentence
};

/// The answer to "do you run this node?": nothing where it does.
using Support = std::optional<Refusal>;

template <typename... Args>
Support refuse(RhRefusalCode code, fmt::format_string<Args...> text, Args&&... args) {
  return Refusal{code, fmt::format(text, std::forward<Args>(args)...)};
}

/// What a provider threw of a node, as a reason; call only inside a catch block. Memory that ran out is no reason: it is thrown on.
inline std::string reason_of_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return error.message();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

/// What was refused of one graph, as a host reads it.
class RefusalList {
 public:
  void clear() {
    entries_.clear();
    reasons_.clear();
  }
  void add(size_t node_id, Refusal refusal) {
    reasons_.push_back(std::move(refusal.reason));
    entries_.push_back({node_id, refusal.code, reasons_.back().c_str()});
  }
  const std::vector<RhEpRefusal>& entries() const { return entries_; }

 private:
  std::deque<std::string> reasons_;
  std::vector<RhEpRefusal> entries_;
};

}  // namespace rh::kit
