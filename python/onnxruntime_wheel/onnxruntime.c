/* The exported functions of ONNX Runtime's library, each of them Roundhouse's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void* (*AnyFunction)(void*, void*, void*);

/* Found by the path of this library to its neighbours (INSTALL_RPATH). */
static AnyFunction of_roundhouse(const char* name) {
  void* library = dlopen("libroundhouse.so.1", RTLD_NOW | RTLD_GLOBAL);
  AnyFunction found = library ? (AnyFunction)dlsym(library, name) : NULL;
  if (found) return found;
  fprintf(stderr, "onnxruntime: Roundhouse's library was not found (%s): install the package roundhouse\n", dlerror());
  abort();
}

/* Arguments beyond those that a function has are not read. */
#define HANDS_ON(name) \
  EXPORTED void* name(void* a, void* b, void* c) { return of_roundhouse(#name)(a, b, c); }

HANDS_ON(OrtGetApiBase)
HANDS_ON(OrtSessionOptionsAppendExecutionProvider_CPU)
HANDS_ON(OrtSessionOptionsAppendExecutionProvider_CUDA)
HANDS_ON(OrtSessionOptionsAppendExecutionProvider_CoreML)
HANDS_ON(OrtSessionOptionsAppendExecutionProvider_Tensorrt)
