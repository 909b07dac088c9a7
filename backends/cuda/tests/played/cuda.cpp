// A library that simulates a device's driver, for tests without one. It has the functions that `driver::cuda` calls, on
// host memory. Queued work is delayed until a wait for it. So the tests detect memory that is read, freed or
// overwritten too early.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

enum Code : unsigned {
  FINE = 0,
  INVALID = 1,
  NO_MEMORY = 2,
  NO_DEVICE = 100,
  NO_BINARY = 209,
  NOT_FOUND = 500,
  ILLEGAL = 700,
};

const size_t MEMORY = size_t(2) << 30;
const size_t POISON = 0xcd;

struct Module {};
struct Function {
  Module *module;
  std::string name;
};

struct Range {
  char *at;
  size_t bytes;
};

struct Op {
  std::vector<Range> touches;
  Module *module;
  std::function<void()> run;
};

struct Stream {
  std::deque<Op> queue;
  uint64_t begun = 0;
};

// The work that its stream had queued at the record, and the time of completion in microseconds.
struct State {
  Stream *stream = nullptr;
  uint64_t behind = 0;
  double came = 0;
};
struct Event {
  std::shared_ptr<State> state = std::make_shared<State>();
};

std::recursive_mutex mutex;
std::map<char *, size_t> device, host;
std::vector<Stream *> streams;
size_t used = 0;
double now = 0;
Code lost = FINE;
thread_local bool current = false;

typedef std::lock_guard<std::recursive_mutex> Lock;

void wrong(const char *what) {
  fprintf(stderr, "the driver was used wrongly: %s\n", what);
  abort();
}

bool holds(const std::map<char *, size_t> &blocks, Range range) {
  auto block = blocks.upper_bound(range.at);
  if (block == blocks.begin()) return false;
  --block;
  return range.at + range.bytes <= block->first + block->second;
}

void run_until(Stream *stream, uint64_t behind) {
  while (stream->begun < behind) {
    Op op = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->begun += 1;
    for (const Range &range : op.touches)
      if (!holds(device, range) && !holds(host, range)) lost = ILLEGAL;
    if (lost) continue;
    now += 1;
    op.run();
  }
}

Code queue(Stream *stream, Op op) {
  if (!current) wrong("no context is current");
  if (lost) return lost;
  stream->queue.push_back(std::move(op));
  return FINE;
}

void nobody_uses(Range freed) {
  for (Stream *stream : streams)
    for (const Op &op : stream->queue)
      for (const Range &range : op.touches)
        if (range.at < freed.at + freed.bytes && freed.at < range.at + range.bytes)
          wrong("memory is freed that is in use");
}

Code give(std::map<char *, size_t> &blocks, void **at, size_t bytes) {
  if (!current) wrong("no context is current");
  if (lost) return lost;
  *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*at) return NO_MEMORY;
  memset(*at, POISON, bytes);
  blocks[static_cast<char *>(*at)] = bytes;
  return FINE;
}

Code take(std::map<char *, size_t> &blocks, void *at) {
  if (!current) wrong("no context is current");
  if (lost) return lost;
  auto block = blocks.find(static_cast<char *>(at));
  if (block == blocks.end()) wrong("memory is freed that was not allocated");
  nobody_uses({block->first, block->second});
  memset(at, POISON, block->second);
  blocks.erase(block);
  free(at);
  return FINE;
}

template <class T> T param(void **params, int i) {
  T value;
  memcpy(&value, params[i], sizeof value);
  return value;
}

// The kernels of the tests.
Op kernel(const Function &f, unsigned blocks, void **params) {
  char *at = param<char *>(params, 0);
  uint32_t *words = reinterpret_cast<uint32_t *>(at);
  uint64_t *longs = reinterpret_cast<uint64_t *>(at);
  if (f.name == "twice") {
    uint64_t n = param<uint64_t>(params, 1);
    return {{{at, 4 * n}}, f.module, [=] { for (uint64_t i = 0; i < n; i++) words[i] *= 2; }};
  }
  if (f.name == "slowly") {
    uint32_t x = param<uint32_t>(params, 1);
    return {{{at, 4}}, f.module, [=] { now += 20000; *words = x; }};
  }
  uint64_t x = param<uint64_t>(params, 1);
  return {{{at, 8 * blocks}}, f.module, [=] { for (unsigned i = 0; i < blocks; i++) longs[i] += x + i; }};
}

} // namespace

extern "C" {

Code cuInit(unsigned) { return getenv("LF_FAKE_EMPTY") ? NO_DEVICE : FINE; }
Code cuGetErrorName(Code code, const char **text) {
  switch (code) {
  case INVALID: *text = "CUDA_ERROR_INVALID_VALUE"; break;
  case NO_MEMORY: *text = "CUDA_ERROR_OUT_OF_MEMORY"; break;
  case NO_DEVICE: *text = "CUDA_ERROR_NO_DEVICE"; break;
  case NO_BINARY: *text = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
  case NOT_FOUND: *text = "CUDA_ERROR_NOT_FOUND"; break;
  case ILLEGAL: *text = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
  default: return INVALID;
  }
  return FINE;
}
Code cuGetErrorString(Code, const char **text) { return *text = "the library plays it", FINE; }

Code cuDeviceGetCount(int *count) { return *count = 1, FINE; }
Code cuDeviceGet(int *device, int ordinal) { return *device = ordinal, FINE; }
Code cuDeviceGetName(char *name, int bytes, int) { return snprintf(name, bytes, "a library"), FINE; }
Code cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = MEMORY, FINE; }
Code cuDeviceGetAttribute(int *value, int attribute, int) {
  std::map<int, int> values = {{75, 9}, {76, 0}, {16, 4}, {36, 2619000}, {37, 5120}};
  return *value = values.at(attribute), FINE;
}
Code cuDevicePrimaryCtxRetain(void **context, int) { return *context = &mutex, FINE; }
Code cuDevicePrimaryCtxRelease_v2(int) { return FINE; }
Code cuCtxSetCurrent(void *context) { return current = context == &mutex, FINE; }

Code cuStreamCreate(Stream **stream, unsigned) {
  Lock lock(mutex);
  streams.push_back(*stream = new Stream);
  return FINE;
}
Code cuStreamDestroy_v2(Stream *stream) {
  Lock lock(mutex);
  run_until(stream, stream->begun + stream->queue.size());
  return FINE;
}
Code cuStreamSynchronize(Stream *stream) {
  Lock lock(mutex);
  run_until(stream, stream->begun + stream->queue.size());
  return lost;
}

Code cuEventCreate(Event **event, unsigned) {
  Lock lock(mutex);
  return *event = new Event, lost;
}
Code cuEventDestroy_v2(Event *event) { return delete event, FINE; }
Code cuEventRecord(Event *event, Stream *stream) {
  Lock lock(mutex);
  // Later waits refer to this record, not to earlier ones.
  std::shared_ptr<State> state = event->state = std::make_shared<State>();
  Code code = queue(stream, {{}, nullptr, [=] { state->came = now; }});
  state->stream = stream;
  state->behind = stream->begun + stream->queue.size();
  return code;
}
Code cuEventSynchronize(Event *event) {
  Lock lock(mutex);
  if (event->state->stream) run_until(event->state->stream, event->state->behind);
  return lost;
}
Code cuEventElapsedTime_v2(float *milliseconds, Event *from, Event *to) {
  Lock lock(mutex);
  return *milliseconds = float((to->state->came - from->state->came) / 1e3), lost;
}

Code cuMemAlloc_v2(void **at, size_t bytes) {
  Lock lock(mutex);
  if (bytes == 0) return INVALID;
  if (bytes > MEMORY - used) return lost ? lost : NO_MEMORY;
  Code code = give(device, at, bytes);
  if (!code) used += bytes;
  return code;
}
Code cuMemFree_v2(void *at) {
  Lock lock(mutex);
  if (!lost) used -= device.at(static_cast<char *>(at));
  return take(device, at);
}
Code cuMemHostAlloc(void **at, size_t bytes, unsigned) {
  Lock lock(mutex);
  return bytes == 0 ? INVALID : bytes > MEMORY ? NO_MEMORY : give(host, at, bytes);
}
Code cuMemFreeHost(void *at) {
  Lock lock(mutex);
  return take(host, at);
}
Code cuMemHostGetDevicePointer_v2(void **address, void *at, unsigned) { return *address = at, FINE; }

static Code copied(char *to, const char *from, size_t bytes, Stream *stream) {
  Lock lock(mutex);
  if (bytes == 0) return INVALID;
  char *source = const_cast<char *>(from);
  return queue(stream, {{{to, bytes}, {source, bytes}}, nullptr, [=] { memcpy(to, from, bytes); }});
}
Code cuMemcpyHtoDAsync_v2(char *to, const char *from, size_t bytes, Stream *stream) {
  return copied(to, from, bytes, stream);
}
Code cuMemcpyDtoHAsync_v2(char *to, const char *from, size_t bytes, Stream *stream) {
  return copied(to, from, bytes, stream);
}
Code cuMemcpyDtoDAsync_v2(char *to, const char *from, size_t bytes, Stream *stream) {
  return copied(to, from, bytes, stream);
}
Code cuMemsetD8Async(char *at, unsigned char value, size_t bytes, Stream *stream) {
  Lock lock(mutex);
  if (bytes == 0) return INVALID;
  return queue(stream, {{{at, bytes}}, nullptr, [=] { memset(at, value, bytes); }});
}

Code cuModuleLoadData(Module **module, const char *image) {
  Lock lock(mutex);
  // The architecture is in the file's flags. The byte depends on the compiler.
  if (memcmp(image, "\x7f" "ELF", 4) != 0 || (image[48] != 90 && image[49] != 90)) return NO_BINARY;
  return *module = new Module, lost;
}
Code cuModuleUnload(Module *module) {
  Lock lock(mutex);
  for (Stream *stream : streams)
    for (const Op &op : stream->queue)
      if (op.module == module) wrong("a kernel is unloaded that is queued");
  return delete module, FINE;
}
Code cuModuleGetFunction(Function **function, Module *module, const char *name) {
  Lock lock(mutex);
  for (const char *known : {"twice", "slowly", "tell"})
    if (!strcmp(known, name)) return *function = new Function{module, name}, FINE;
  return NOT_FOUND;
}
Code cuFuncGetAttribute(int *value, int attribute, Function *) {
  std::map<int, int> values = {{0, 1024}, {1, 0}, {3, 0}, {4, 16}};
  return *value = values.at(attribute), FINE;
}
Code cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *, int threads, size_t) {
  return *blocks = 2048 / threads, FINE;
}
Code cuLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                    unsigned threads_z, unsigned, Stream *stream, void **params, void **) {
  Lock lock(mutex);
  if (x == 0 || threads == 0 || threads > 1024 || y * z * threads_y * threads_z != 1) return INVALID;
  return queue(stream, kernel(*function, x, params));
}

} // extern "C"
