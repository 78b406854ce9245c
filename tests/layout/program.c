/* A program to lay out: writes the sum of its first argument's digits to the file named by its second, in a child. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int never_called(int x); /* in namesake.c */

static __attribute__((noinline)) int add_digit(int sum, char digit) { return sum + (digit - '0'); }

__attribute__((noinline)) int called_in_child(const char *text) {
  int sum = 0;
  for (; *text; ++text)
    if (*text >= '0' && *text <= '9')
      sum = add_digit(sum, *text);
  return sum;
}

__attribute__((noinline)) int write_result(const char *path, int value) {
  FILE *file = fopen(path, "w");
  if (!file)
    return 1;
  fprintf(file, "%d\n", value);
  return fclose(file);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0)
    return puts("1") < 0;
  if (argc != 3)
    return argc > 100 ? never_called(argc) : 2;
  const pid_t child = fork();
  if (child == 0)
    _exit(write_result(argv[2], called_in_child(argv[1])));
  int status = 1;
  waitpid(child, &status, 0);
  return status != 0;
}
