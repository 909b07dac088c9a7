// Runs a kernel as a device would, on one thread: each thread of a block is a fiber, and a seeded scheduler lets them run by
// turns. Blocks are admitted in any order, a few at a time, as nothing is said of their order on a device.
#include "../../src/prelude.cuh"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

namespace {

struct Fiber;

struct Warp {
  u64 given[32] = {}, taken[32] = {};
  u32 arrived = 0, round = 0, threads = 0;
};

// Memory of a block: what is widest there has sixteen bytes.
struct alignas(16) Line {
  u64 words[2];
};

struct Copy {
  void *to;
  const void *from;
  u32 bytes;
};

struct Block {
  u32 number;
  u32 living, arrived = 0, round = 0;
  std::vector<Warp> warps;
  std::map<const void *, std::vector<Line>> shared;
  std::vector<std::unique_ptr<Fiber>> fibers;
};

struct Fiber {
  ucontext_t context;
  Block *block;
  u32 thread;
  bool done = false;
  std::vector<Copy> copies;
  std::vector<char> stack;
};

const size_t STACK = 64 << 10;

ucontext_t scheduler;
Fiber *running;
void (*kernel)(const void *);
const void *arguments;
bool is_certain;

void entry() {
  kernel(arguments);
  running->done = true;
  running->block->living -= 1;
  swapcontext(&running->context, &scheduler);
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
    fiber->stack.resize(STACK);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack.data();
    fiber->context.uc_stack.ss_size = STACK;
    fiber->context.uc_link = &scheduler;
    makecontext(&fiber->context, entry, 0);
    block->fibers.push_back(std::move(fiber));
  }
  return block;
}

}  // namespace

extern "C" {
lf_index lf_thread, lf_block, lf_threads, lf_blocks;

void lf_yield() { swapcontext(&running->context, &scheduler); }

void lf_barrier() {
  Block *block = running->block;
  const u32 round = block->round;
  block->arrived += 1;
  while (block->round == round) {
    if (block->arrived >= block->living) {
      block->arrived = 0;
      block->round += 1;
    } else {
      lf_yield();
    }
  }
}

void lf_exchange(u64 word, u64 *all) {
  Warp &warp = running->block->warps[running->thread / 32];
  const u32 round = warp.round;
  warp.given[running->thread % 32] = word;
  warp.arrived += 1;
  if (warp.arrived == warp.threads) {
    memcpy(warp.taken, warp.given, sizeof warp.taken);
    warp.arrived = 0;
    warp.round += 1;
  }
  while (warp.round == round) lf_yield();
  memcpy(all, warp.taken, sizeof warp.taken);
}

void *lf_shared(const void *place, u64 bytes) {
  auto &memory = running->block->shared[place];
  // What nobody has written is no zero.
  if (memory.empty()) memory.resize((bytes + 15) / 16, Line{{0xa5a5a5a5a5a5a5a5ull, 0xa5a5a5a5a5a5a5a5ull}});
  return memory.data();
}

bool lf_certain(bool x) {
  is_certain = is_certain && x;
  return x;
}

void lf_copy_later(void *to, const void *from, u32 bytes) {
  if (u64(to) % bytes != 0 || u64(from) % bytes != 0) abort();
  running->copies.push_back({to, from, bytes});
}

void lf_copies_done() {
  for (const Copy &copy : running->copies) memcpy(copy.to, copy.from, copy.bytes);
  running->copies.clear();
}

// Runs `blocks` blocks of `threads`, of which `resident` at once. 0 if all came to their end; 1 if `turns` turns were not
// enough, as where threads wait for each other; 2 if
// something that the prelude is certain of was not so.
i32 lf_run(void (*body)(const void *), const void *args, u32 blocks, u32 threads, u32 resident, u32 seed, u64 turns) {
  is_certain = true;
  kernel = body;
  arguments = args;
  lf_threads = {threads};
  lf_blocks = {blocks};
  std::mt19937 random(seed);
  std::vector<u32> order(blocks);
  for (u32 i = 0; i < blocks; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::unique_ptr<Block>> living;
  std::vector<Fiber *> ready;
  u32 next = 0;
  const auto admit = [&] {
    living.push_back(begun(order[next++], threads));
    for (auto &fiber : living.back()->fibers) ready.push_back(fiber.get());
  };
  while (next < blocks && living.size() < resident) admit();
  while (!ready.empty()) {
    if (turns-- == 0) return 1;
    const size_t at = random() % ready.size();
    running = ready[at];
    lf_thread = {running->thread};
    lf_block = {running->block->number};
    swapcontext(&scheduler, &running->context);
    if (!running->done) continue;
    ready[at] = ready.back();
    ready.pop_back();
    Block *block = running->block;
    if (block->living > 0) continue;
    const auto is_it = [&](const std::unique_ptr<Block> &b) { return b.get() == block; };
    living.erase(std::find_if(living.begin(), living.end(), is_it));
    if (next < blocks) admit();
  }
  return is_certain ? 0 : 2;
}
}
