// Runs a kernel as a device would, on one thread. Each thread of a block is a fiber, and a seeded scheduler interleaves
// them. Blocks start in random order, a few at a time, since a device gives no order either.
//
// The compiler reports each access to memory: `-fsanitize=thread` writes calls, whose targets are here. An access
// outside of all arrays, or a read of unwritten memory, ends the run with a report.
#include "prelude.cuh"
#undef memcpy
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

// Memory that a kernel may use. `written` has a flag for each byte. It is null if all bytes are written at the start.
struct lf_range {
  const char *name;
  u8 *at;
  u64 bytes;
  u8 *written;
};

namespace {

struct Fiber;

struct Warp {
  u64 given[32] = {}, taken[32] = {};
  u32 arrived = 0, threads = 0;
  std::vector<Fiber *> waiting;
};

// Shared memory of a block. Its widest elements have sixteen bytes.
struct alignas(16) Line {
  u64 words[2];
};

// An array shared by the threads of a block.
struct Shared {
  std::vector<Line> lines;
  std::vector<u8> written;
  u64 bytes;
};

// An unfinished asynchronous copy to such an array.
struct Copy {
  u8 *to;
  const u8 *from;
  u64 bytes;
};

struct Block {
  u32 number;
  u32 living;
  std::vector<Warp> warps;
  std::vector<Fiber *> waiting;
  std::map<const void *, Shared> shared;
  std::vector<std::unique_ptr<Fiber>> fibers;
};

struct Fiber {
  jmp_buf at;
  Block *block;
  u32 thread;
  bool begun = false, ready = true, done = false;
  std::vector<Copy> copies;
  std::unique_ptr<char[]> stack;
};

const size_t STACK = 64 << 10;
// Unwritten memory is not zero.
const u8 POISON = 0xa5;
// An access up to this many bytes after an array is reported with the array's name.
const u64 NEAR = 256;

jmp_buf scheduler;
ucontext_t outside;
Fiber *running;
void (*kernel)(const void *);
const void *arguments;
std::vector<Fiber *> ready;
std::vector<std::unique_ptr<char[]>> stacks;
std::vector<lf_range> ranges;
std::string fault;

// Switches to the scheduler, until this fiber runs again.
void leave() {
  if (_setjmp(running->at) == 0) _longjmp(scheduler, 1);
}

void entry() {
  kernel(arguments);
  running->done = true;
  _longjmp(scheduler, 1);
}

void resume(Fiber *fiber) {
  running = fiber;
  lf_thread = {fiber->thread};
  lf_block = {fiber->block->number};
  if (_setjmp(scheduler) != 0) return;
  if (fiber->begun) _longjmp(fiber->at, 1);
  fiber->begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber->stack.get();
  context.uc_stack.ss_size = STACK;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
  swapcontext(&outside, &context);
}

void wake(std::vector<Fiber *> &waiting) {
  for (Fiber *fiber : waiting) {
    fiber->ready = true;
    ready.push_back(fiber);
  }
  waiting.clear();
}

void wait(std::vector<Fiber *> &waiting) {
  running->ready = false;
  waiting.push_back(running);
  leave();
}

void fail(const std::string &what) {
  fault = what + ", by thread " + std::to_string(running->thread) + " of block " + std::to_string(running->block->number);
  leave();
}

// Describes an access in words.
std::string told(u64 size, bool writes) {
  return std::string(writes ? "a write of " : "a read of ") + std::to_string(size) + " bytes";
}

// Checks one access that begins within a piece of memory.
void within(const lf_range &r, const u8 *at, u64 size, bool writes) {
  const u64 begin = u64(at - r.at);
  const auto where = [&] {
    return told(size, writes) + " at byte " + std::to_string(begin) + " of the " + std::to_string(r.bytes) + " of " + r.name;
  };
  if (begin + size > r.bytes) return fail(where() + ", and behind them");
  if (r.written == nullptr) return;
  u8 *mark = r.written + begin;
  if (writes) {
    memset(mark, 1, size);
  } else if (std::all_of(mark, mark + size, [](u8 x) { return x == 0; })) {
    // A part smaller than its words leaves their rest unwritten, so one written byte is enough.
    fail(where() + ", which nobody wrote");
  }
}

void access(const void *memory, u64 size, bool writes) {
  if (running == nullptr || size == 0) return;
  const u8 *at = static_cast<const u8 *>(memory);
  const u8 *stack = reinterpret_cast<const u8 *>(running->stack.get());
  if (at >= stack && at < stack + STACK) return;
  for (auto &entry : running->block->shared) {
    Shared &s = entry.second;
    u8 *begin = reinterpret_cast<u8 *>(s.lines.data());
    if (at < begin || at >= begin + sizeof(Line) * s.lines.size()) continue;
    return within({"a shared array", begin, s.bytes, s.written.data()}, at, size, writes);
  }
  for (const lf_range &r : ranges) {
    if (at >= r.at && at < r.at + r.bytes) return within(r, at, size, writes);
  }
  std::string near = " in no array";
  for (const lf_range &r : ranges) {
    const u64 behind = u64(at - (r.at + r.bytes));
    if (at >= r.at + r.bytes && behind < NEAR) near += ", " + std::to_string(behind) + " bytes behind " + r.name;
  }
  fail(told(size, writes) + near);
}

// Marks bytes of a shared array as unwritten.
void forget(u8 *at, u64 size) {
  for (auto &entry : running->block->shared) {
    Shared &s = entry.second;
    u8 *begin = reinterpret_cast<u8 *>(s.lines.data());
    if (at >= begin && at + size <= begin + s.bytes) memset(s.written.data() + (at - begin), 0, size);
  }
  memset(at, POISON, size);
}

std::unique_ptr<Block> begun(u32 number, u32 threads) {
  auto block = std::make_unique<Block>();
  block->number = number;
  block->living = threads;
  block->warps.resize((threads + 31) / 32);
  for (u32 t = 0; t < threads; ++t) {
    block->warps[t / 32].threads += 1;
    auto fiber = std::make_unique<Fiber>();
    fiber->block = block.get();
    fiber->thread = t;
    if (stacks.empty()) stacks.emplace_back(new char[STACK]);
    fiber->stack = std::move(stacks.back());
    stacks.pop_back();
    ready.push_back(fiber.get());
    block->fibers.push_back(std::move(fiber));
  }
  return block;
}

// Ends a thread. Others may have waited only for it.
void ended(Fiber *fiber) {
  Block *block = fiber->block;
  block->living -= 1;
  if (block->living > 0 && block->waiting.size() >= block->living) wake(block->waiting);
}

}  // namespace

extern "C" {
lf_index lf_thread, lf_block, lf_threads, lf_blocks;

void lf_yield() { leave(); }

void lf_barrier() {
  Block *block = running->block;
  if (block->waiting.size() + 1 >= block->living) {
    wake(block->waiting);
    leave();
  } else {
    wait(block->waiting);
  }
}

void lf_exchange(u64 word, u64 *all) {
  Warp &warp = running->block->warps[running->thread / 32];
  warp.given[running->thread % 32] = word;
  warp.arrived += 1;
  if (warp.arrived == warp.threads) {
    memcpy(warp.taken, warp.given, sizeof warp.taken);
    warp.arrived = 0;
    wake(warp.waiting);
  } else {
    wait(warp.waiting);
  }
  memcpy(all, warp.taken, sizeof warp.taken);
}

void *lf_shared(const void *place, u64 bytes) {
  Shared &s = running->block->shared[place];
  if (s.lines.empty()) {
    // With a guard after it.
    s.lines.resize((bytes + 15) / 16 + 8);
    memset(static_cast<void *>(s.lines.data()), POISON, sizeof(Line) * s.lines.size());
    s.written.resize(bytes);
    s.bytes = bytes;
  }
  return s.lines.data();
}

void lf_seen(const void *at, u64 bytes, bool writes) { access(at, bytes, writes); }

void lf_aligned(const void *at, u64 bytes) {
  if (u64(at) % bytes != 0) fail("an access of " + std::to_string(bytes) + " bytes is at no multiple of them");
}

void lf_copy_later(void *to, const void *from, u32 bytes) {
  lf_aligned(to, bytes);
  lf_aligned(from, bytes);
  access(from, bytes, false);
  access(to, bytes, true);
  // The target is unreadable until the copy completes.
  forget(static_cast<u8 *>(to), bytes);
  running->copies.push_back({static_cast<u8 *>(to), static_cast<const u8 *>(from), bytes});
}

void lf_copies_done() {
  for (const Copy &copy : running->copies) {
    access(copy.to, copy.bytes, true);
    memcpy(copy.to, copy.from, copy.bytes);
  }
  running->copies.clear();
}

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
#define LF_ACCESSES(BYTES)                                                                                                 \
  void __tsan_read##BYTES(void *at) { access(at, BYTES, false); }                                                          \
  void __tsan_write##BYTES(void *at) { access(at, BYTES, true); }                                                          \
  void __tsan_unaligned_read##BYTES(void *at) { access(at, BYTES, false); }                                                \
  void __tsan_unaligned_write##BYTES(void *at) { access(at, BYTES, true); }
LF_ACCESSES(1)
LF_ACCESSES(2)
LF_ACCESSES(4)
LF_ACCESSES(8)
LF_ACCESSES(16)
void __tsan_read_range(void *at, unsigned long bytes) { access(at, bytes, false); }
void __tsan_write_range(void *at, unsigned long bytes) { access(at, bytes, true); }

// Sets the memory that the kernel may use.
void lf_memory(const lf_range *all, u64 n) {
  ranges.assign(all, all + n);
  for (lf_index *own : {&lf_thread, &lf_block, &lf_threads, &lf_blocks}) {
    ranges.push_back({"an index", reinterpret_cast<u8 *>(own), sizeof *own, nullptr});
  }
}

// Returns the message of the last run.
const char *lf_said() { return fault.c_str(); }

// Runs `blocks` blocks of `threads` threads, `resident` at a time. Returns 0 if all finished. Returns 1 at a deadlock,
// or after more than `turns` switches. Returns 2 at any other error.
i32 lf_run(void (*body)(const void *), const void *args, u64 bytes, u32 blocks, u32 threads, u32 resident, u32 seed, u64 turns) {
  kernel = body;
  arguments = args;
  lf_threads = {threads};
  lf_blocks = {blocks};
  fault.clear();
  ready.clear();
  // The kernel never writes there, but one list for all memory is simpler.
  ranges.push_back({"the parameters", static_cast<u8 *>(const_cast<void *>(args)), bytes, nullptr});
  std::mt19937 random(seed);
  std::vector<u32> order(blocks);
  for (u32 i = 0; i < blocks; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::unique_ptr<Block>> living;
  u32 next = 0;
  const auto admit = [&] { living.push_back(begun(order[next++], threads)); };
  while (next < blocks && living.size() < resident) admit();
  while (!living.empty() && !ready.empty() && turns-- > 0 && fault.empty()) {
    const size_t at = random() % ready.size();
    Fiber *fiber = ready[at];
    resume(fiber);
    if (fiber->ready && !fiber->done) continue;
    ready[at] = ready.back();
    ready.pop_back();
    if (!fiber->done) continue;
    ended(fiber);
    Block *block = fiber->block;
    if (block->living > 0) continue;
    for (auto &f : block->fibers) stacks.push_back(std::move(f->stack));
    const auto is_it = [&](const std::unique_ptr<Block> &b) { return b.get() == block; };
    living.erase(std::find_if(living.begin(), living.end(), is_it));
    if (next < blocks) admit();
  }
  running = nullptr;
  if (!fault.empty()) return 2;
  if (!living.empty()) fault = "threads wait for each other";
  return living.empty() ? 0 : 1;
}
}
