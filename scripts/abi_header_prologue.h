// The C ABI of ONNX Runtime, as Roundhouse speaks it. Start at OrtGetApiBase()->GetApi(ORT_API_VERSION).
// Written by scripts/generate_abi_headers.py from tests/data/abi.json.
// clang-format off
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ORT_API_VERSION @API_VERSION@

#ifdef __cplusplus
extern "C" {
#endif

// Annotations of parameters: direction and whether null is allowed. They compile to nothing except with Microsoft's compiler.
#ifdef _WIN32
#include <specstrings.h>
#ifndef _Frees_ptr_opt_  // MinGW's has most of them
#define _Frees_ptr_opt_
#endif
#else
#define _In_
#define _In_z_
#define _In_opt_
#define _In_opt_z_
#define _In_reads_(X)
#define _In_reads_opt_(X)
#define _Out_
#define _Out_opt_
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_result_buffer_maybenull_(X)
#define _Out_writes_(X)
#define _Out_writes_opt_(X)
#define _Out_writes_all_(X)
#define _Out_writes_bytes_all_(X)
#define _Inout_
#define _Inout_opt_
#define _Inout_updates_(X)
#define _Inout_updates_all_(X)
#define _Success_(X)
#define _Frees_ptr_opt_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Check_return_
#define _Must_inspect_result_
#endif

// Calling convention, export and path characters.
#ifdef _WIN32
#define ORT_API_CALL __stdcall
#ifdef ORT_DLL_IMPORT
#define ORT_EXPORT __declspec(dllimport)
#elif defined(__MINGW32__)
#define ORT_EXPORT __attribute__((visibility("default")))
#else
#define ORT_EXPORT
#endif
#define ORTCHAR_T wchar_t
#define ORT_FILE L"" __FILE__
#define ORT_TSTR(X) L##X
#define ORT_TSTR_ON_MACRO(X) L"" X
#else
#define ORT_API_CALL
#define ORT_EXPORT __attribute__((visibility("default")))
#define ORTCHAR_T char
#define ORT_FILE __FILE__
#define ORT_TSTR(X) X
#define ORT_TSTR_ON_MACRO(X) X
#endif

#ifdef __cplusplus
#define NO_EXCEPTION noexcept
#else
#define NO_EXCEPTION
#endif
#if defined(__GNUC__)
#define ORT_MUST_USE_RESULT __attribute__((warn_unused_result))
#else
#define ORT_MUST_USE_RESULT
#endif

// For declaring functions with this interface's conventions.
#define ORT_API(RETURN_TYPE, NAME, ...) RETURN_TYPE ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION
#define ORT_API_STATUS(NAME, ...) OrtStatusPtr ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION ORT_MUST_USE_RESULT
#define ORT_API_STATUS_IMPL(NAME, ...) OrtStatusPtr ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION
#define ORT_API2_STATUS(NAME, ...) OrtStatusPtr(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION ORT_MUST_USE_RESULT
#define ORT_CLASS_RELEASE(X) void(ORT_API_CALL* Release##X)(_Frees_ptr_opt_ Ort##X* input)
#define ORT_RUNTIME_CLASS(X) \
  struct Ort##X;             \
  typedef struct Ort##X Ort##X

