
/* The driver of compiled passes. It calls each pass like its host does, whole and in spans, with inputs in this file.
   It compares the results with the interpreter's bits. */

/* Returns the functions that passes call. */
void *const *lf_functions(void);

void *calloc(u64, u64);
void *aligned_alloc(u64, u64);
void free(void *);
void exit(int);
int printf(const char *, ...);
int memcmp(const void *, const void *, u64);
void *memcpy(void *, const void *, u64);
void *memset(void *, int, u64);

typedef struct {
  u32 bytes;       /* size of an element */
  bool is_float;
  bool is_filled;  /* written completely before any read */
} lf_type;

typedef struct {
  lf_type type;
  enum { LF_SCALAR, LF_INPUT, LF_MADE } kind;
  u32 at;          /* index of a result, parameter or slot */
  u64 length;
  const void *elements;
} lf_result;

typedef struct {
  const char *name;
  i32 (*pass)(lf_run *);
  const u64 *scalars;
  const lf_array *inputs;
  const lf_type *made;
  const lf_result *results;
  u32 words, slots, returned, scratch;
  i32 outcome;
  u64 steps;
} lf_case;

typedef struct {
  lf_run run;      /* visible to the pass */
  const lf_case *of;
  u64 left;        /* remaining bytes to allocate */
} lf_host;

/* A marked guard zone after each array, which detects writes out of bounds. */
enum { LF_ROOM = 64, LF_MARK = 0x5c };

static u64 lf_bytes(const lf_host *host, u32 slot, u64 length) {
  u64 bytes;
  return __builtin_mul_overflow(length, (u64)host->of->made[slot].bytes, &bytes) ? LF_END : bytes;
}

/* The original length of an array, stored before its elements. Loops may shorten their arrays. */
static u64 *lf_length(const lf_array *array) { return (u64 *)((u8 *)array->data - LF_ROOM); }

/* Frees an array. Returns whether the guard zone after it is intact. */
static bool lf_free(lf_host *host, u32 slot, lf_array *array) {
  if (!array->data) return 1;
  const u64 bytes = lf_bytes(host, slot, *lf_length(array));
  bool whole = 1;
  for (u64 k = 0; k < LF_ROOM; k++) whole &= ((u8 *)array->data)[bytes + k] == LF_MARK;
  host->left += bytes;
  free((u8 *)array->data - LF_ROOM);
  array->data = 0;
  array->length = 0;
  if (!whole) printf("%s: something was written behind array %u\n", host->of->name, slot);
  return whole;
}

/* Memory for an array, or null. */
static void *lf_memory(lf_host *host, u32 slot, u64 length) {
  const u64 bytes = lf_bytes(host, slot, length);
  if (bytes > host->left) return 0;
  host->left -= bytes;
  u8 *const all = aligned_alloc(LF_ROOM, (bytes + 3 * LF_ROOM - 1) / LF_ROOM * LF_ROOM);
  u8 *const data = all + LF_ROOM;
  memset(data, LF_MARK, bytes + LF_ROOM);
  *(u64 *)all = length;
  return data;
}

/* Allocates the array of a slot: a copy, filled with one word, or unspecified. */
static u32 lf_make(lf_host *host, u32 slot, u64 length, const void *copied, const u64 *word) {
  lf_array *const array = host->run.made + slot;
  lf_array before = *array;
  const u64 bytes = host->of->made[slot].bytes;
  /* The source of a copy may be the old array. */
  bool whole = copied || lf_free(host, slot, &before);
  u8 *const data = lf_memory(host, slot, length);
  if (!data) return 0;
  if (copied) memcpy(data, copied, length * bytes);
  else if (word)
    for (u64 k = 0; k < length; k++) memcpy(data + k * bytes, word, bytes);
  whole &= lf_free(host, slot, &before);
  array->data = data;
  array->length = length;
  return whole;
}

static u32 lf_new_array(lf_run *run, u32 slot, u64 length, u32 comb) {
  (void)comb;
  lf_host *const host = (lf_host *)run;
  return lf_make(host, slot, length, 0, host->of->made[slot].is_filled ? 0 : lf_zero);
}

static u32 lf_fill_array(lf_run *run, u32 slot, u64 length, u64 word, u32 comb) {
  (void)comb;
  return lf_make((lf_host *)run, slot, length, 0, &word);
}

static u32 lf_copy_array(lf_run *run, u32 slot, const void *data, u64 length, u32 comb) {
  (void)comb;
  return lf_make((lf_host *)run, slot, length, data ? data : lf_zero, 0);
}

/* Equal bit for bit, except for NaN payloads. */
static bool lf_same(lf_type type, const void *x, const void *y) {
  if (!memcmp(x, y, type.bytes)) return 1;
  if (!type.is_float) return 0;
  f64 a, b;
  f32 c, d;
  if (type.bytes == 8) {
    memcpy(&a, x, 8);
    memcpy(&b, y, 8);
  } else {
    memcpy(&c, x, 4);
    memcpy(&d, y, 4);
    a = c;
    b = d;
  }
  return a != a && b != b;
}

static u32 lf_differ(const lf_host *host, u64 span) {
  const lf_case *const of = host->of;
  for (u32 k = 0; k < of->returned; k++) {
    const lf_result want = of->results[k];
    const lf_array scalar = { host->run.results + want.at, 1 };
    const lf_array got = want.kind == LF_SCALAR ? scalar
      : want.kind == LF_INPUT ? host->run.inputs[want.at] : host->run.made[want.at];
    if (got.length != want.length) {
      printf("%s by %lu: result %u has length %lu, not %lu\n", of->name, span, k, got.length, want.length);
      return 1;
    }
    for (u64 i = 0; i < got.length; i++) {
      const u64 at = i * want.type.bytes;
      if (!lf_same(want.type, (const u8 *)got.data + at, (const u8 *)want.elements + at)) {
        printf("%s by %lu: result %u differs at %lu\n", of->name, span, k, i);
        return 1;
      }
    }
  }
  return 0;
}

/* Runs a case span by span. Returns whether it fails. */
static u32 lf_run_by(const lf_case *of, u64 span) {
  static const u8 never;
  lf_host host = { .of = of, .left = LF_MEMORY };
  lf_run *const run = &host.run;
  run->words = calloc(of->words, 8);
  run->scalars = of->scalars;
  run->inputs = of->inputs;
  run->made = calloc(of->slots + 1, sizeof *run->made);
  run->results = calloc(of->returned + 1, 8);
  run->scratch = calloc(of->scratch + 1, 8);
  run->new_array = lf_new_array;
  run->fill_array = lf_fill_array;
  run->copy_array = lf_copy_array;
  run->stop = &never;
  i32 outcome;
  do {
    run->budget = lf_least(span, LF_STEPS - run->words[1]);
    outcome = of->pass(run);
  } while (outcome == LF_PAUSED && run->words[1] < LF_STEPS);
  if (outcome == LF_EXITED) outcome = LF_DONE;
  u32 failed = outcome != of->outcome || (outcome != LF_TRAPPED && run->words[1] != of->steps);
  if (failed) {
    const u64 steps = run->words[1];
    printf("%s by %lu: ended with %d after %lu, not %d after %lu\n", of->name, span, outcome, steps, of->outcome, of->steps);
  } else if (outcome == LF_DONE) failed = lf_differ(&host, span);
  for (u32 slot = 0; slot < of->slots; slot++) failed |= !lf_free(&host, slot, run->made + slot);
  free(run->words);
  free(run->made);
  free(run->results);
  free(run->scratch);
  return failed;
}

/* Runs all cases. Returns whether one fails. */
static u32 lf_run_all(const lf_case *cases, u64 count) {
  static const u64 spans[] = { LF_STEPS, 50, 7, 1 };
  u32 failed = 0;
  for (u64 k = 0; k < count; k++)
    for (u32 s = 0; s < sizeof spans / sizeof *spans; s++) failed |= lf_run_by(cases + k, spans[s]);
  if (!failed) printf("%lu cases\n", count);
  return failed;
}
