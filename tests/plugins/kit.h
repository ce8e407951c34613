#pragma once

// What the providers for tests share: the kit's tables with members added, and attributes of nodes.
#include <roundhouse/provider.hpp>

#include <string>

namespace rh::test::kit {

using namespace roundhouse::ep;

/// An entry of the session options; empty where there is none.
inline std::string config(const OrtSessionOptions* options, const std::string& key) {
  const OrtApi& api = *detail::host.api;
  int found = 0;
  detail::check(api.HasSessionConfigEntry(options, key.c_str(), &found));
  if (!found) return {};
  size_t size = 0;
  detail::check(api.GetSessionConfigEntry(options, key.c_str(), nullptr, &size));
  std::string value(size, '\0');
  detail::check(api.GetSessionConfigEntry(options, key.c_str(), value.data(), &size));
  value.resize(size - 1);
  return value;
}

inline std::string string_attribute(const OrtNode* node, const char* name) {
  const OrtApi& api = *detail::host.api;
  const OrtOpAttr* attribute = nullptr;
  detail::check(api.Node_GetAttributeByName(node, name, &attribute));
  if (!attribute) return {};
  size_t size = 0;
  if (OrtStatus* status = api.ReadOpAttr(attribute, ORT_OP_ATTR_STRING, nullptr, 0, &size)) api.ReleaseStatus(status);
  std::string value(size, '\0');
  detail::check(api.ReadOpAttr(attribute, ORT_OP_ATTR_STRING, value.data(), value.size(), &size));
  value.resize(size);
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

inline int64_t int_attribute(const OrtNode* node, const char* name, int64_t otherwise = 0) {
  const OrtApi& api = *detail::host.api;
  const OrtOpAttr* attribute = nullptr;
  detail::check(api.Node_GetAttributeByName(node, name, &attribute));
  size_t size = 0;
  if (attribute) detail::check(api.ReadOpAttr(attribute, ORT_OP_ATTR_INT, &otherwise, sizeof(otherwise), &size));
  return otherwise;
}

/// The kit's factory that makes `Ep`, a table derived from the kit's.
template <typename Ep, typename Traits>
struct TestFactory : detail::Factory<decltype(Ep::provider), Traits> {
  explicit TestFactory(const char* name) : detail::Factory<decltype(Ep::provider), Traits>(name) {
    this->CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                        const OrtSessionOptions* options, const OrtLogger*, OrtEp** ep) {
      return detail::guard([&] { *ep = static_cast<TestFactory*>(self)->template make_ep<Ep>(options).release(); });
    };
    this->ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Ep*>(ep); };
  }
};

template <typename Factory>
OrtStatus* create_factory(const char* name, const OrtApiBase* base, OrtEpFactory** factories, size_t* count) {
  *count = 0;
  if (!detail::connect(base)) return nullptr;
  return detail::guard([&] {
    factories[0] = new Factory(name);
    *count = 1;
  });
}

}  // namespace rh::test::kit

#define RH_EXPORT_TEST_PLUGIN(Factory, name)                                                                                            \
  extern "C" {                                                                                                                          \
  ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories, \
                                                       size_t, size_t* count) {                                                         \
    return ::rh::test::kit::create_factory<Factory>(name, base, factories, count);                                                      \
  }                                                                                                                                     \
  ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {                                                          \
    delete static_cast<Factory*>(factory);                                                                                              \
    return nullptr;                                                                                                                     \
  }                                                                                                                                     \
  }
