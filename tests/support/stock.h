#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/value.h"

struct OrtApi;
struct OrtEnv;

namespace rh::test {

/// Runs a serialised model in another library with the same C ABI, named by the environment variable RH_STOCK_ORT: the oracle of operator
/// tests.
class Stock {
 public:
  /// Null where the variable is not set. Fails hard where it names a library that does not load.
  static const Stock* get();

  struct Result {
    Status status;               ///< code and message of the library
    std::vector<Value> outputs;  ///< tensors only; others are empty
  };
  Result run(const std::string& model, std::span<const std::string> input_names, std::span<const Value> inputs,
             std::span<const std::string> output_names) const;

 private:
  Stock() = default;
  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
};

}  // namespace rh::test
