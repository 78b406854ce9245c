// Library functions that a source declares itself are as far away as those of a header, and the error says what instead.
// RUN: rm -f %t
// RUN: not mscclc %s --max-errors=0 -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
extern "C" {
int system(const char *);
void *fopen(const char *, const char *);
int rand();
int execl(const char *, const char *, ...);
int vfork();
int socket(int, int, int);
long syscall(long, ...);
void *dlopen(const char *, int);
long time(long *);
char *getenv(const char *);
void *malloc(unsigned long);
void exit(int);
int pthread_create(void *, const void *, void *(*)(void *), void *);
int made_up();
}

MSCCLC_ALGORITHM void f() {
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'system' has no definition here: an algorithm starts no programs
  system("true");
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'fopen' has no definition here: an algorithm reads and writes no files; pass values with -P
  fopen("escaped", "w");
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:21: error: 'rand' has no definition here: an algorithm sees no random numbers, {{.*}}pass a seed with -P
  mscclc::Rank rank(rand());
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'execl' has no definition here: an algorithm starts no programs
  execl("/bin/true", "true");
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'vfork' has no definition here: an algorithm starts no programs
  vfork();
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'socket' has no definition here: an algorithm does not see the machine
  socket(2, 1, 0);
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'syscall' has no definition here: an algorithm does not see the machine
  syscall(39);
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'dlopen' has no definition here: an algorithm does not see the machine
  dlopen("libc.so.6", 1);
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'time' has no definition here: an algorithm sees no time
  time(nullptr);
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'getenv' has no definition here: an algorithm does not see the machine
  getenv("HOME");
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'malloc' has no definition here: hold values in variables
  malloc(8);
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'exit' has no definition here: return from the algorithm
  exit(0);
  // CHECK: own_declarations.cpp:[[#@LINE+1]]:3: error: 'pthread_create' has no definition here: an algorithm is one thread
  pthread_create(nullptr, nullptr, nullptr, nullptr);
  // CHECK: own_declarations.cpp:[[#@LINE+2]]:3: error: 'made_up' has no definition here: write it in this file or a header
  // CHECK: own_declarations.cpp:{{[0-9]+}}:5: note: declared here
  made_up();
}
