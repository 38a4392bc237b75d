// SPDX-License-Identifier: MIT
// Groups of tasks, and reductions by tasks as LLVM's compiler describes them. A group has a copy of each
// variable for each thread number, made when a task on that thread first asks for it, and put together when
// the group ends. reduction(task, ...) on a region or a loop is a group for each thread, whose result is that
// thread's own copy of the variable.
#include "front/openmp/kmp/abi.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// kmp_taskred_input_t.
struct input {
  void* shared;
  void* original;
  std::size_t bytes;
  void* init; // void (*)(void* copy, void* original); null: zeros
  void (*end)(void* copy);
  void (*combine)(void* to, void* from);
  unsigned flags;
};
// kmp_task_red_input_t, of older compilers.
struct old_input {
  void* shared;
  std::size_t bytes;
  void (*init)(void* copy);
  void (*end)(void* copy);
  void (*combine)(void* to, void* from);
  unsigned flags;
};

struct variable {
  input of;
  bool init_has_original;
  std::vector<char*> copies; // null until it is asked for; by thread number, which runs one task at a time
};

struct reduction_set {
  std::vector<variable> variables;
};

reduction_set* set_of(const task_group& g) noexcept {
  return static_cast<reduction_set*>(g.reduction_set);
}

void describe(thread& t, task_group& g, variable v) {
  if (g.reduction_set == nullptr)
    g.reduction_set = new reduction_set;
  v.copies.resize(t.at.team->size);
  set_of(g)->variables.push_back(std::move(v));
}

void* copy_for(variable& v, unsigned number) {
  char*& copy = v.copies[number];
  if (copy != nullptr)
    return copy;
  copy = static_cast<char*>(std::calloc(1, v.of.bytes));
  if (v.of.init != nullptr && v.init_has_original)
    reinterpret_cast<void (*)(void*, void*)>(v.of.init)(copy, v.of.original);
  else if (v.of.init != nullptr)
    reinterpret_cast<void (*)(void*)>(v.of.init)(copy);
  return copy;
}

bool is_named(const variable& v, const void* data) noexcept {
  if (data == v.of.shared || data == v.of.original)
    return true;
  for (const char* copy : v.copies) {
    if (data == copy)
      return true;
  }
  return false;
}

void put_together(reduction_set& set) {
  for (variable& v : set.variables) {
    for (char* copy : v.copies) {
      if (copy == nullptr)
        continue;
      v.of.combine(v.of.shared, copy);
      if (v.of.end != nullptr)
        v.of.end(copy);
      std::free(copy);
    }
  }
}

void end_with_reductions(thread& t) {
  reduction_set* const set = set_of(*t.current->group);
  end_group(t); // SWITCH: may resume on another worker
  if (set == nullptr)
    return;
  put_together(*set);
  delete set;
}

} // namespace

KMP_EXPORT void __kmpc_taskgroup(ident* at, int) {
  begin_group(called_by(at));
}
KMP_EXPORT void __kmpc_end_taskgroup(ident* at, int) {
  end_with_reductions(called_by(at));
}

KMP_EXPORT void* __kmpc_taskred_init(int, int count, void* data) {
  thread& t = caller();
  task_group& g = *t.current->group;
  for (int i = 0; i < count; ++i)
    describe(t, g, {static_cast<const input*>(data)[i], true, {}});
  return &g;
}
KMP_EXPORT void* __kmpc_task_reduction_init(int, int count, void* data) {
  thread& t = caller();
  task_group& g = *t.current->group;
  for (int i = 0; i < count; ++i) {
    const old_input& o = static_cast<const old_input*>(data)[i];
    describe(t, g,
             {{o.shared, o.shared, o.bytes, reinterpret_cast<void*>(o.init), o.end, o.combine, o.flags},
              false,
              {}});
  }
  return &g;
}
KMP_EXPORT void* __kmpc_task_reduction_get_th_data(int, void* group, void* data) {
  thread& t = caller();
  auto* g = static_cast<task_group*>(group);
  for (g = g != nullptr ? g : t.current->group; g != nullptr; g = g->outer) {
    if (g->reduction_set == nullptr)
      continue;
    for (variable& v : set_of(*g)->variables) {
      if (is_named(v, data))
        return copy_for(v, t.at.number);
    }
  }
  return data;
}

KMP_EXPORT void* __kmpc_taskred_modifier_init(ident* at, int id, int, int count, void* data) {
  thread& t = called_by(at);
  begin_group(t);
  t.current->group->of_work_share = true;
  return __kmpc_taskred_init(id, count, data);
}
KMP_EXPORT void* __kmpc_task_reduction_modifier_init(ident* at, int id, int, int count, void* data) {
  thread& t = called_by(at);
  begin_group(t);
  t.current->group->of_work_share = true;
  return __kmpc_task_reduction_init(id, count, data);
}
KMP_EXPORT void __kmpc_task_reduction_modifier_fini(ident* at, int, int) {
  end_with_reductions(called_by(at));
}
