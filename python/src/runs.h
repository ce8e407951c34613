#pragma once

#include <roundhouse/roundhouse_c_api.h>

#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "values.h"

namespace rh::python {

/// Values in the order of their names, with what they borrow.
struct Feed {
  std::vector<std::string> names;
  std::vector<Ort::Value> own;
  std::vector<const OrtValue*> values;
  std::vector<nb::object> holders;

  /// None feeds nothing.
  Feed(const nb::dict& feed, const std::map<std::string, DeclaredType>& declared);
};

/// Copies what nodes give while a run goes on, without the interpreter.
struct ValueCollector {
  std::vector<std::pair<std::string, Ort::Value>> values;
  std::exception_ptr error;

  static void ORT_API_CALL call(void* state, const RhNodeRun* node);

 private:
  void take(const char* name, const OrtValue* raw);
};

/// The distinct names of what is asked for, and where each stands.
struct Wanted {
  explicit Wanted(const std::vector<std::string>& names) : names(names) {
    for (const std::string& name : this->names) {
      if (positions.emplace(name, distinct.size()).second) distinct.push_back(name.c_str());
    }
    raw.resize(distinct.size(), nullptr);
  }

  /// The results that stand in `raw`, which are taken over; a name asked for again gets the same object.
  template <typename Convert>
  nb::list results(Convert&& convert) {
    std::vector<Ort::Value> values;
    for (OrtValue*& value : raw) values.emplace_back(std::exchange(value, nullptr));
    std::vector<nb::object> objects;
    for (Ort::Value& value : values) objects.push_back(convert(std::move(value)));
    nb::list list;
    for (const std::string& name : names) list.append(objects[positions[name]]);
    return list;
  }

  const std::vector<std::string> names;
  std::map<std::string, size_t> positions;
  std::vector<const char*> distinct;
  std::vector<OrtValue*> raw;
};

/// What an asynchronous run and its callback need; used and destroyed under the interpreter's lock.
struct AsyncRun {
  Feed feed;
  Wanted wanted;
  nb::object session, callback, user_data, options;  // kept alive

  /// Calls back with the results, or the error, and destroys `data`, which is one of these.
  static void finished(void* data, OrtValue**, size_t, OrtStatusPtr failure);
};

/// Counts a run whose callback has yet to return, or one that was not begun after all.
void count_async_run(int change);
/// Returns when every callback has returned.
void finish_async_runs();

}  // namespace rh::python
