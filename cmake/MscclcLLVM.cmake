# LLVM and Clang for the front end.
