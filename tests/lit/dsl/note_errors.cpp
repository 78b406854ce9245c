// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void notes() {
  note("before the program"); // expected-note@:8 {{before the program}}
  CollectiveProgram program("notes", AllReduce(2, 2, true));
  note("{} and {}", 1);    // expected-error@:8 {{the text of the note has 2 places for arguments, but the call gives 1 argument: write one {} for each argument}}
  note("", 1, 2);          // expected-error@:8 {{the text of the note has 0 places for arguments, but the call gives 2 arguments}}
  note("{:x}", 1);         // expected-error@:8 {{a lone '{' in the text of a note: write {} for an argument, and '{{' for the brace itself}}
  note("50 }", 1);         // expected-error@:8 {{a lone '}' in the text of a note: write {} for an argument, and '}}' for the brace itself}}
}
