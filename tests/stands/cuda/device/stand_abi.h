// What the stand-in driver and the kernel images of the stand-in compiler share: plain layouts, no standard headers.
#pragma once

struct StandDim {
  unsigned x, y, z;
};

// One in each copy of an image, thus one for each worker. The driver fills it in before it resumes a thread of a kernel.
struct StandState {
  StandDim thread, block, block_dim, grid_dim;
  unsigned linear;       // the thread's number in its block
  unsigned warp_size;    // 32, or 64 as on some GPUs of AMD
  char* dynamic_shared;  // extern __shared__
  void* worker;          // the driver's
};

enum StandAccess : int { kStandRead, kStandWrite, kStandAtomic };

struct StandExchange {
  const void* values;          // of all lanes, 16 bytes each; valid until the lane's second next exchange
  unsigned long long present;  // the lanes that brought a value
};

// What a kernel asks of the driver. `site` is the place of the call, for messages and for the check that all wait at the same place.
struct StandApi {
  unsigned (*barrier)(void* worker, int predicate, const void* site);  // returns for how many threads the predicate held
  StandExchange (*exchange)(void* worker, unsigned long long mask, const void* value, unsigned size, const void* site);
  unsigned long long (*active_lanes)(void* worker);
  void (*access)(void* worker, const void* address, unsigned size, int access, const void* site);  // checked images alone
  void (*fence)(void* worker);
  void (*fail)(void* worker, const char* what);
  void (*copy_async)(void* worker, void* to, const void* from, unsigned size, unsigned source_size, const void* site);
  void (*copy_async_commit)(void* worker);
  void (*copy_async_wait)(void* worker, unsigned groups_left);
};

struct StandRange {
  char *first, *last;
};

struct StandKernel {
  void (*call)(void** parameters);
  unsigned parameters;
  const unsigned *sizes, *alignments;
  unsigned long long pointers;  // a bit for each parameter that is a pointer: held against the device's memory at the launch
  unsigned max_threads;         // of __launch_bounds__; 0: not said
  StandRange shared;            // the __shared__ variables of the kernel's own body
};

// An image exports these: stand_image, and stand_kernel_NAME for each kernel.
struct StandImage {
  unsigned version;       // of this layout
  unsigned compiler;      // NVRTC's version, 13050 for 13.5
  unsigned architecture;  // 80 for sm_80 and compute_80
  unsigned is_ptx;        // code that the driver compiles: runs on later devices too
  unsigned checked;
  StandState* state;
  const StandApi** api;
  StandRange shared;  // the __shared__ variables of templates and of device functions
};
constexpr unsigned kStandImageVersion = 1;
