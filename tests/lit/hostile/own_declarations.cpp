// Library functions that a source declares itself are as far away as those of a header, and the error says what instead.
// RUN: %verify %s --max-errors=0
#include <mscclc/dsl.hpp>
extern "C" {
int system(const char *); // expected-note@:5 {{declared here}}
void *fopen(const char *, const char *); // expected-note@:7 {{declared here}}
int rand(); // expected-note@:5 {{declared here}}
int execl(const char *, const char *, ...); // expected-note@:5 {{declared here}}
int vfork(); // expected-note@:5 {{declared here}}
int socket(int, int, int); // expected-note@:5 {{declared here}}
long syscall(long, ...); // expected-note@:6 {{declared here}}
void *dlopen(const char *, int); // expected-note@:7 {{declared here}}
long time(long *); // expected-note@:6 {{declared here}}
char *getenv(const char *); // expected-note@:7 {{declared here}}
void *malloc(unsigned long); // expected-note@:7 {{declared here}}
void exit(int); // expected-note@:6 {{declared here}}
int pthread_create(void *, const void *, void *(*)(void *), void *); // expected-note@:5 {{declared here}}
int made_up(); // expected-note@:5 {{declared here}}
}

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:3 {{'system' has no definition here: an algorithm starts no programs}}
  system("true");
  // expected-error@+1:3 {{'fopen' has no definition here: an algorithm reads and writes no files; pass values with -P}}
  fopen("escaped", "w");
  // expected-error-re@+1:21 {{'rand' has no definition here: an algorithm sees no random numbers, {{.*}}pass a seed with -P}}
  mscclc::Rank rank(rand());
  // expected-error@+1:3 {{'execl' has no definition here: an algorithm starts no programs}}
  execl("/bin/true", "true");
  // expected-error@+1:3 {{'vfork' has no definition here: an algorithm starts no programs}}
  vfork();
  // expected-error@+1:3 {{'socket' has no definition here: an algorithm does not see the machine}}
  socket(2, 1, 0);
  // expected-error@+1:3 {{'syscall' has no definition here: an algorithm does not see the machine}}
  syscall(39);
  // expected-error@+1:3 {{'dlopen' has no definition here: an algorithm does not see the machine}}
  dlopen("libc.so.6", 1);
  // expected-error@+1:3 {{'time' has no definition here: an algorithm sees no time}}
  time(nullptr);
  // expected-error@+1:3 {{'getenv' has no definition here: an algorithm does not see the machine}}
  getenv("HOME");
  // expected-error@+1:3 {{'malloc' has no definition here: hold values in variables}}
  malloc(8);
  // expected-error@+1:3 {{'exit' has no definition here: return from the algorithm}}
  exit(0);
  // expected-error@+1:3 {{'pthread_create' has no definition here: an algorithm is one thread}}
  pthread_create(nullptr, nullptr, nullptr, nullptr);
  // expected-error@+1:3 {{'made_up' has no definition here: write it in this file or a header}}
  made_up();
}
