// What happens at a fault: a kernel's becomes an error of its device; any other goes to the handler that was there before.

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include <unistd.h>

#include "stands/cuda/driver/device.h"

namespace rh::stand {
namespace {

struct sigaction before_segv, before_bus;

void say(const char* text) {
  if (write(2, text, std::strlen(text)) < 0) return;  // nobody reads
}

void hand_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& before = number == SIGSEGV ? before_segv : before_bus;
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
  signal(number, SIG_DFL);  // the instruction comes again, and ends the program
}

void on_fault(int number, siginfo_t* info, void* context) {
  Device* owner = device_with_memory(info->si_addr);
  BlockRunner* runner = BlockRunner::running;
  if (!runner) {
    if (owner) say("stand: the host touches device memory, which no copy has brought to it\n");
    return hand_on(number, info, context);
  }
  bool own_stack = runner->on_own_stack(info->si_addr);
  char text[120];
  std::snprintf(text, sizeof text, "%s %p",
                own_stack ? "no room left on the stack of a thread at"
                : owner   ? "no allocation at device address"
                          : "illegal address",
                info->si_addr);
  runner->fail(CUDA_ERROR_ILLEGAL_ADDRESS, text);
}

}  // namespace

void prepare_device_thread() {
  constexpr size_t kStack = 64 << 10;
  static thread_local std::unique_ptr<char[]> stack;
  if (stack) return;
  stack.reset(new char[kStack]);
  stack_t alternative{};
  alternative.ss_sp = stack.get();
  alternative.ss_size = kStack;
  sigaltstack(&alternative, nullptr);
}

void install_fault_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
  });
}

}  // namespace rh::stand
