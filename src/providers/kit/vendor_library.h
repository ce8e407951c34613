#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace rh::kit {

/// Where a vendor's library is looked for.
struct VendorLibrarySpec {
  std::string_view title;   ///< "the sample vendor's library"
  std::string_view file;    ///< "libsample_vendor.so.1"
  std::string_view given;   ///< a path from the provider's options; empty: none
  std::string_view option;  ///< the name of that option
  const char* variable;     ///< of the environment: a path
  /// The file that was found otherwise (base/vendor_files.h), which is then the only place; empty: it is looked for as above.
  std::string_view found = {};
  bool stays_loaded = false;  ///< of libraries whose threads or destructors outlive an unload
};

/// A vendor's library, opened when a provider is made: by the option, the environment's variable, beside this library, or by the system's
/// search. Whoever has it keeps it loaded.
class VendorLibrary {
 public:
  /// Throws Error{not_found} with one sentence: what is missing, where it was looked for, and what to do.
  explicit VendorLibrary(const VendorLibrarySpec& spec);
  ~VendorLibrary();
  VendorLibrary(const VendorLibrary&) = delete;
  VendorLibrary& operator=(const VendorLibrary&) = delete;

  const std::string& path() const { return path_; }
  /// A function of the library, which becomes a pointer of any type. Throws Error{not_found} naming it and the library that lacks it.
  struct Function {
    void* address;
    template <typename F>
    operator F*() const {
      return reinterpret_cast<F*>(address);
    }
  };
  Function function(const char* name) const;
  /// The same, null where the library lacks it.
  Function optional_function(const char* name) const;

 private:
  std::string title_, path_;
  void* handle_ = nullptr;
  bool stays_loaded_ = false;
};

}  // namespace rh::kit
