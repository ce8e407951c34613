#include "abi/key_values.h"

#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

void ORT_API_CALL CreateKeyValuePairs(OrtKeyValuePairs** out) {
  if (out) *out = guard_or<OrtKeyValuePairs*>(nullptr, [] { return new OrtKeyValuePairs; });
}

void ORT_API_CALL AddKeyValuePair(OrtKeyValuePairs* pairs, const char* key, const char* value) {
  if (!pairs || !key || !value || !*key) return;
  guard_or(false, [&] { return pairs->set(key, value), true; });
}

const char* ORT_API_CALL GetKeyValue(const OrtKeyValuePairs* pairs, const char* key) {
  return pairs && key ? guard_or<const char*>(nullptr, [&] { return pairs->find(key); }) : nullptr;
}

void ORT_API_CALL GetKeyValuePairs(const OrtKeyValuePairs* pairs, const char* const** keys, const char* const** values, size_t* count) {
  if (!keys || !values || !count) return;
  *keys = pairs ? pairs->keys().data() : nullptr;
  *values = pairs ? pairs->values().data() : nullptr;
  *count = pairs ? pairs->keys().size() : 0;
}

void ORT_API_CALL RemoveKeyValuePair(OrtKeyValuePairs* pairs, const char* key) {
  if (pairs && key) guard_or(false, [&] { return pairs->remove(key), true; });
}

void ORT_API_CALL ReleaseKeyValuePairs(OrtKeyValuePairs* pairs) { delete pairs; }

}  // namespace rh::capi
