// Files of the user's that are none of the source's: not below its folder, whatever links and `..` say. Whether they are
// there cannot be told, either.
// RUN: rm -rf %t && mkdir -p %t/src/below %t/out %t/own && cp %s %t/src/x.cpp
// RUN: echo "typedef int SECRET;" > %t/out/file && echo "typedef int below;" > %t/src/below/file && echo "typedef int own;" > %t/own/file
// RUN: ln -s ../out/file %t/src/link && ln -s ../out %t/src/folder && ln -s ../out/nothing %t/src/dangling
// RUN: ln -s below/file %t/src/good && ln -s ../own %t/src/elsewhere && ln -s %s %t/src/y.cpp
//
// RUN: not mscclc %t/src/x.cpp -DWHAT='"%t/out/file"' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='"%t/out/nothing"' 2>&1 | FileCheck %s
// RUN: not mscclc %t/src/x.cpp -DWHAT='"/no/such/file"' 2>&1 | FileCheck %s
// RUN: not mscclc %t/src/x.cpp -DWHAT='"../out/file"' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='"below/../../out/file"' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='<%t/out/file>' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='<../../../../../../../../../../../../etc/passwd>' 2>&1 | FileCheck %s --implicit-check-not=root
// RUN: not mscclc %t/src/x.cpp -DWHAT='"link"' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='"folder/file"' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='"folder/../out/file"' 2>&1 | FileCheck %s --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DWHAT='"dangling"' 2>&1 | FileCheck %s
// RUN: cd %t/src && not mscclc - -DWHAT='"../out/file"' < x.cpp 2>&1 | FileCheck %s --implicit-check-not=SECRET
// CHECK: {{x.cpp|<stdin>}}:[[#INCLUDE:]]:10: error: '{{.*}}' is not among the files that a source may read: those below its own folder, the -I folders and the toolchain's; --allow-include=DIR adds a folder
// CHECK-NEXT: #include WHAT
//
// RUN: not mscclc %t/src/x.cpp -DWHAT='"below/nothing"' 2>&1 | FileCheck %s --check-prefix=NOT-FOUND
// NOT-FOUND: x.cpp:{{.*}}: error: 'below/nothing' file not found
//
// The other ways to have a file read.
// RUN: not mscclc %t/src/x.cpp -DEMBED='"%t/out/file"' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DEMBED='"link"' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DEMBED='<../out/file>' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DNEXT='"%t/out/file"' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DIMPORT='"%t/out/file"' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DMODULE='"%t/out/file"' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DLINE='"%t/out/file"' 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=SECRET
// OTHER: error: '{{.*}}' is not among the files that a source may read
// RUN: not mscclc %t/src/x.cpp -DASKED='"%t/out/file"' 2>&1 | FileCheck %s --check-prefix=ASKED --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DASKED='"link"' 2>&1 | FileCheck %s --check-prefix=ASKED --implicit-check-not=SECRET
// RUN: not mscclc %t/src/x.cpp -DASKED='"dangling"' 2>&1 | FileCheck %s --check-prefix=ASKED
// ASKED: error: it is not there
//
// What may be read.
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"below/file"'
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"good"'
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"../src/good"'
// RUN: mscclc %t/src/y.cpp --list -DWHAT='"good"'
// RUN: cd %t/src && mscclc - --list -DWHAT='"good"' < x.cpp
// RUN: not mscclc %t/src/x.cpp --list -DWHAT='"elsewhere/file"' 2>&1 | FileCheck %s
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"elsewhere/file"' --allow-include=%t/own --allow-include=%t/out
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"elsewhere/file"' --allow-include=/
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"%t/own/file"' -I%t/own
// RUN: mscclc %t/src/x.cpp --list -DWHAT='<file>' -- -isystem %t/own
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"file"' -- -iquote %t/own
// RUN: mscclc %t/src/x.cpp --list -DWHAT='"%t/own/file"' -- -include %t/own/file
// RUN: mscclc %t/src/x.cpp --list -DEMBED='<file>' -- --embed-dir=%t/own
// RUN: not mscclc %t/src/x.cpp --allow-include=%t/nothing 2>&1 | FileCheck %s --check-prefix=NO-FOLDER
// NO-FOLDER: error: --allow-include: '{{.*}}/nothing' is no folder
#include <mscclc/dsl.hpp>
#ifdef WHAT
#include WHAT
#elif defined(EMBED)
const unsigned char bytes[] = {
#embed EMBED
};
#elif defined(NEXT)
#include_next NEXT
#elif defined(IMPORT)
#import IMPORT
#elif defined(MODULE)
import MODULE;
#elif defined(LINE)
#line 1 LINE
#include __FILE__
#elif __has_include(ASKED) || __has_embed(ASKED)
#error it is there
#else
#error it is not there
#endif

MSCCLC_ALGORITHM void f() {}
