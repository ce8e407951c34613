#include "base/process.h"
#include "base/system_windows.h"

namespace rh {

int process_number() { return static_cast<int>(GetCurrentProcessId()); }

uint64_t thread_number() { return GetCurrentThreadId(); }

int this_processor() {
  PROCESSOR_NUMBER number;
  GetCurrentProcessorNumberEx(&number);
  int before = 0;
  for (WORD group = 0; group < number.Group; ++group) before += static_cast<int>(GetActiveProcessorCount(group));
  return before + number.Number;
}

}  // namespace rh
