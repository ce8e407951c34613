#include "stands/cuda/driver/fiber.h"

#include <sys/mman.h>

#if defined(__x86_64__)
asm(R"(
.text
.globl rh_stand_switch
.hidden rh_stand_switch
.type rh_stand_switch,@function
rh_stand_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size rh_stand_switch,.-rh_stand_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl rh_stand_switch
.hidden rh_stand_switch
.type rh_stand_switch,%function
rh_stand_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
#endif

namespace rh::stand {
namespace {

// A stack as rh_stand_switch would have left it just before `entry`.
void* first_frame(char* top, void (*entry)()) {
  auto words = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  words[-2] = reinterpret_cast<void*>(entry);
  words[-1] = nullptr;
  return words - 8;
#else
  words[-9] = reinterpret_cast<void*>(entry);  // x30
  return words - 20;
#endif
}

}  // namespace

bool make_fiber(Fiber& fiber, void (*entry)(), size_t number) {
  void* stack = mmap(nullptr, kFiberStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return false;
  fiber.stack = static_cast<char*>(stack);
  mprotect(fiber.stack, 4096, PROT_NONE);
  fiber.stack_pointer = first_frame(fiber.stack + kFiberStack - number * 320 % 4096, entry);
  return true;
}

void free_fiber(Fiber& fiber) {
  if (fiber.stack) munmap(fiber.stack, kFiberStack);
  fiber.stack = nullptr;
}

}  // namespace rh::stand
