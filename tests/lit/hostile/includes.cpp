// Files that are no source: devices, pipes, this very file, folders, and what is not C++.
// RUN: rm -f %t
// RUN: not mscclc %s --allow-include=/dev -DWHAT='"/dev/zero"' -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-ZERO
// RUN: not mscclc %s -DWHAT='"/dev/stdin"' -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-STDIN
// RUN: not mscclc %s -DWHAT=__FILE__ -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-SELF
// RUN: not mscclc %s -DWHAT='"/"' -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-FOLDER
// RUN: not mscclc %s --allow-include /etc -DWHAT='"/etc/passwd"' -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-PASSWD
// RUN: not mscclc %s --allow-include=/dev -DWHAT='<mscclc/dsl.hpp>' -DEMBED -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-EMBED
// RUN: test ! -e %t

// CHECK-ZERO: includes.cpp:[[#@LINE+5]]:10: error: '/dev/zero' is not a regular file
// CHECK-STDIN: includes.cpp:[[#@LINE+4]]:10: error: '/dev/stdin' is not among the files that a source may read
// CHECK-SELF: includes.cpp:[[#@LINE+3]]:10: error: #include nested too deeply
// CHECK-FOLDER: includes.cpp:[[#@LINE+2]]:10: error: '/' is not among the files that a source may read
// CHECK-PASSWD: /etc/passwd:1:1: error:
#include WHAT
#ifdef EMBED
const unsigned char bytes[] = {
// CHECK-EMBED: includes.cpp:[[#@LINE+1]]:8: error:
#embed "/dev/zero"
};
#endif
