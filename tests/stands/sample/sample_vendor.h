// A made-up vendor's library, of which src/providers/sample makes a provider: programs over float tensors, built step by step and run as a
// whole. Functions that give an int give 0 or more where they did their work, and -1 where not.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAMPLE_VENDOR_EXPORT __attribute__((visibility("default")))

typedef struct sv_program sv_program;

typedef struct sv_tensor {
  const void* data;  // floats; one byte of conditions
  const int64_t* dims;
  int rank;
} sv_tensor;

// Is told that a step, counted from 0, constants included, is done.
typedef void (*sv_step_done)(void* state, int step);

// Gives the memory of an output, whose shape is known now; null ends the run.
typedef float* (*sv_make_output)(void* state, int index, const int64_t* dims, int rank);

SAMPLE_VENDOR_EXPORT int sv_version(void);
// Values 0 to inputs - 1 are the inputs.
SAMPLE_VENDOR_EXPORT sv_program* sv_create(int inputs);
SAMPLE_VENDOR_EXPORT void sv_destroy(sv_program* program);
// Copies a constant; gives the value's number.
SAMPLE_VENDOR_EXPORT int sv_add_constant(sv_program* program, const float* data, const int64_t* dims, int rank);
// "add" and "mul" (broadcast), "matmul" (of two matrices); gives the result's number, or -1.
SAMPLE_VENDOR_EXPORT int sv_add_step(sv_program* program, const char* op, int a, int b);
// One of two programs, by a condition; their inputs are values of this one. Takes them over. Gives the number of the first result.
SAMPLE_VENDOR_EXPORT int sv_add_branch(sv_program* program, int condition, sv_program* then_program, const int* then_inputs,
                                       sv_program* else_program, const int* else_inputs);
SAMPLE_VENDOR_EXPORT int sv_set_outputs(sv_program* program, const int* values, int count);
// Runs may go side by side. After -1 `message` says why.
SAMPLE_VENDOR_EXPORT int sv_run(const sv_program* program, const sv_tensor* inputs, sv_make_output make, void* state, const char** message);
// The same, where each step is told of.
SAMPLE_VENDOR_EXPORT int sv_run_watched(const sv_program* program, const sv_tensor* inputs, sv_make_output make, sv_step_done done,
                                        void* state, const char** message);
// A program as bytes, written where there is room for them; gives their number.
SAMPLE_VENDOR_EXPORT size_t sv_save(const sv_program* program, void* bytes, size_t room);
// A program that was saved; null where the bytes are none.
SAMPLE_VENDOR_EXPORT sv_program* sv_load(const void* bytes, size_t size);
// How often the process has called sv_set_outputs ("compile"), sv_load ("load") or sv_run ("run").
SAMPLE_VENDOR_EXPORT int64_t sv_count(const char* what);
// For tests: from now on the library fails as `fault` says, or no more where it is empty. "version 5": it is of that version. "create",
// "add_constant", "add_step", "add_branch", "set_outputs", "load", "run": that function fails, "silent run" without a message, "odd
// bytes" with one that is not UTF-8. "wrong number": sv_add_step gives one that is no value's; "wrong size": sv_save says another than it
// writes. Of a run's outputs: "no output", "another output", "more axes", "negative size", "huge size". "throw at compile", "throw at
// run": an exception leaves the function.
SAMPLE_VENDOR_EXPORT void sv_inject(const char* fault);

#ifdef __cplusplus
}
#endif
