#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "providers/migraphx/api.h"
#include "tensor/tensor.h"

namespace rh::migraphx {

template <typename T>
using Owned = std::unique_ptr<T, VendorStatus (*)(T*)>;

/// What MIGraphX says of a value.
struct ValueLayout {
  int type = 0;  ///< MIGraphX's number
  std::vector<size_t> lengths, strides;
  bool is_dynamic = false;  ///< its sizes are known once it is computed
};

/// MIGraphX as one session has it: its library, which stays loaded once it was, and a target.
class Runtime {
 public:
  /// Throws Error{not_found} with one sentence where there is no MIGraphX. `given`: a file or a folder by option
  /// "library_path"; empty: it is looked for.
  Runtime(std::string_view given, std::string_view target, int device_id);

  const Api& api() const { return api_; }
  /// Made when it is first asked for: hosts make providers that compile nothing. Throws Error where MIGraphX lacks it.
  Target* target() const;
  const std::string& target_name() const { return target_name_; }
  const std::string& version() const { return version_; }  ///< "2.14.0", that of ROCm 7.1
  /// The kinds of GPUs that the machine has, "90402 110001"; empty where it has none.
  static std::string gpus();
  /// MIGraphX's number of a type, which differs between its versions; -1 where it has none.
  int number_of(DType type) const;
  ValueLayout layout_of(const VendorShape& shape) const;

  /// Calls a function of the interface with MIGraphX's messages kept, on the session's device. Throws Error{ep_fail} with the message.
  template <typename... Given, typename... Passed>
  void call(std::string_view what, VendorStatus (*function)(Given...), Passed... passed) const {
    checked(what, [&] { return function(passed...); });
  }
  /// The same for a function that makes something.
  template <typename T, typename... Given, typename... Passed>
  Owned<T> make(std::string_view what, VendorStatus (*destroy)(T*), VendorStatus (*function)(T**, Given...), Passed... passed) const {
    T* made = nullptr;
    checked(what, [&] { return function(&made, passed...); });
    return {made, destroy};
  }

 private:
  void checked(std::string_view what, FunctionRef<VendorStatus()> function) const;
  void read_type_numbers();
  void find_device(int device_id);

  kit::VendorLibrary library_;
  Api api_;
  std::string target_name_, version_;
  int device_id_ = 0;
  int (*set_device_)(int) = nullptr;  ///< of HIP; null: the first device
  std::map<DType, int> numbers_;
  mutable std::once_flag made_target_;
  mutable Owned<Target> target_;
};

}  // namespace rh::migraphx
