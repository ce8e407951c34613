// The child process of check-provider, in which the provider may crash or hang.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "child_process.h"
#include "provider_checks.h"
#include "system.h"

namespace rh::cli {

namespace {

using nlohmann::json;

/// Runs and tells one check; whether it passed.
bool run_check(int out, const std::string& name, const std::function<std::string()>& run) {
  tell(out, {{"start", name}});
  std::string status = "pass", detail;
  try {
    detail = run();
  } catch (const Skip& reason) {
    status = "skip";
    detail = reason.what();
  } catch (const std::exception& problem) {
    status = "fail";
    detail = problem.what();
  }
  std::replace(detail.begin(), detail.end(), '\n', ' ');
  tell(out, {{"name", name}, {"status", status}, {"detail", detail}});
  return status == "pass";
}

}  // namespace

int serve_as_checker(const char* request_file, const char* descriptor) {
  const int out = std::atoi(descriptor);
  std::ifstream stream(as_path(request_file));
  const json request = json::parse(stream);
  std::optional<CheckedProvider> provider;
  const bool loaded = run_check(out, kLoadCheck, [&] {
    provider.emplace(request.at("library"), request.at("ep"), request.at("options"));
    return provider->name();
  });
  if (loaded) {
    const auto& checks = provider_checks();
    for (const std::string name : request.at("names")) {
      const auto at = std::find_if(checks.begin(), checks.end(), [&](const ProviderCheck& check) { return check.name == name; });
      run_check(out, name, [&]() -> std::string {
        at->run(*provider);
        return {};
      });
    }
  }
  end_at_once(0);  // what the library does at exit is no concern of the checks
}

}  // namespace rh::cli
