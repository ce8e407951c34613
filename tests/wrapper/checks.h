// What the programs of the C++ interface share.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

inline const std::vector<int64_t> kShape = {2, 3};

inline Ort::MemoryInfo host() { return Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault); }

/// A tensor [2, 3] over the caller's six numbers.
inline Ort::Value over(const Ort::MemoryInfo& memory, float* data) {
  return Ort::Value::CreateTensor<float>(memory, data, 6, kShape.data(), 2);
}

#ifndef ORT_NO_EXCEPTIONS
template <typename F>
bool throws(F&& body) {
  try {
    body();
  } catch (const Ort::Exception&) {
    return true;
  }
  return false;
}
#endif

/// more_names.cc: what needs the models, and the provider, of this folder.
void more_names(Ort::Env& env, const std::string& folder);
