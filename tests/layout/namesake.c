/* A function of the same name as one of program.c's, and never called. */
static __attribute__((noinline)) int add_digit(int x) { return x * 3 + 1; }

__attribute__((noinline)) int never_called(int x) { return add_digit(x) + add_digit(x + 1); }
