// SPDX-License-Identifier: MIT
// phases with Argobots, one stream: the optimisations of "Argobots: A Lightweight Low-Level Threading and
// Tasking Framework" (TPDS 2018), section IV, as far as a program can switch them. Each form is the one
// before it with one thing more; README.md says which of the paper's steps it stands for.
#include "bench/peer/argobots.hpp"

#include <cstdlib>
#include <iterator>

#include "bench/phases/workload.hpp"

namespace bench = weft::bench;

namespace {

enum class join_by { scheduler, thread, thread_lifo, many };

struct step {
  const char* form;
  join_by join = join_by::many;
  bool malloc_stacks = false; // the program allocates each stack; else the library, from its pools
  bool huge_pages = true;
  bool private_pool = false;
  bool migratable = true;
  bool tasklets = false;
};

constexpr step steps[] = {
    {.form = "malloc_stacks", .join = join_by::scheduler, .malloc_stacks = true, .huge_pages = false},
    {.form = "mempool", .join = join_by::scheduler, .huge_pages = false},
    {.form = "huge_pages", .join = join_by::scheduler},
    {.form = "join_each", .join = join_by::thread},
    {.form = "join_each_lifo", .join = join_by::thread_lifo}, // beside the row, not part of it
    {.form = "join_many"},
    {.form = "private_pool", .private_pool = true},
    {.form = "no_migration", .private_pool = true, .migratable = false},
    {.form = "tasklet", .join = join_by::thread, .private_pool = true, .tasklets = true},
};

constexpr std::size_t stack_size = 16 * 1024;

const step& chosen(const bench::recorder& rec) {
  const step* s = std::begin(steps);
  while (!rec.form_is(s->form))
    ++s;
  return *s;
}

// Before ABT_init. A library ignores the other one's variable.
void choose_pages(bool huge) {
  if (huge) {
    setenv("ABT_MEM_LP_ALLOC", "mmap_hp_thp", 0);
    setenv("WEFT_STACK_PAGES", "transparent", 0);
  }
}

class units {
 public:
  units(ABT_pool pool, const step& s, std::size_t n) : pool_(pool), step_(s), threads_(n), stacks_(n) {
    ABT_thread_attr_create(&attr_); // with the library's own size of stack, unless it is given the stack
    // Fails in a build without migration, where no unit has it.
    ABT_thread_attr_set_migratable(attr_, s.migratable ? ABT_TRUE : ABT_FALSE);
  }
  ~units() { ABT_thread_attr_free(&attr_); }
  units(const units&) = delete;
  units& operator=(const units&) = delete;

  template <class Body>
  void create(Body) {
    const auto start = [](void*) { Body::run(); };
    if (step_.tasklets) {
      for (ABT_thread& thread : threads_)
        ABT_task_create(pool_, start, nullptr, &thread);
      return;
    }
    // Units with default attributes ask for none: a library may have a shorter way for them.
    const bool plain = step_.migratable && !step_.malloc_stacks;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (step_.malloc_stacks) {
        stacks_[i] = std::malloc(stack_size);
        ABT_thread_attr_set_stack(attr_, stacks_[i], stack_size);
      }
      ABT_thread_create(pool_, start, nullptr, plain ? ABT_THREAD_ATTR_NULL : attr_, &threads_[i]);
    }
  }

  void join() {
    switch (step_.join) {
    case join_by::scheduler:
      ABT_self_yield(); // the caller goes behind all of them
      [[fallthrough]];
    case join_by::thread:
      for (ABT_thread thread : threads_)
        ABT_thread_join(thread);
      break;
    case join_by::thread_lifo:
      for (std::size_t i = threads_.size(); i-- > 0;)
        ABT_thread_join(threads_[i]);
      break;
    case join_by::many:
      ABT_thread_join_many(static_cast<int>(threads_.size()), threads_.data());
      break;
    }
  }

  void free() {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      ABT_thread_free(&threads_[i]);
      if (step_.malloc_stacks)
        std::free(stacks_[i]);
    }
  }

 private:
  const ABT_pool pool_;
  const step& step_;
  ABT_thread_attr attr_ = ABT_THREAD_ATTR_NULL;
  std::vector<ABT_thread> threads_;
  std::vector<void*> stacks_;
};

std::vector<std::string> forms() {
  std::vector<std::string> names;
  for (const step& s : steps)
    names.emplace_back(s.form);
  return names;
}

} // namespace

int main(int argc, char** argv) {
  using sharing = bench::argobots::sharing;
  bench::recorder rec(argc, argv, bench::phases::defaults(), forms());
  const step& s = chosen(rec);
  choose_pages(s.huge_pages);
  bench::argobots runtime(1, s.private_pool ? sharing::none : sharing::directed);
  ABT_bool migration = ABT_FALSE;
  ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION, &migration);
  rec.extra("migration", migration == ABT_TRUE && s.migratable && !s.tasklets ? 1 : 0);
  units all(runtime.pool(0), s, rec.opt().n);
  return bench::phases::run(
      rec, [&](auto body) { all.create(body); }, [&] { all.join(); }, [&] { all.free(); });
}
