// Parameters of every type, and values that are none. The last ones lie behind what registers hold.
// RUN: mscclc %s | FileCheck %s --check-prefix=DEFAULTS
// RUN: mscclc %s -P i=010 -P u=0x10 -P c=255 -P b=0 -P d=2.5 -P mode=Mode::Slow -P plain=Two -P name="ü b" | FileCheck %s --check-prefix=SET
// RUN: mscclc %s -P i=4 -P name=a=b | FileCheck %s --check-prefix=LAST
// RUN: mscclc --list %s | FileCheck %s --check-prefix=LIST
// RUN: not mscclc %s -P i=2147483648 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not mscclc %s -P u=-1 2>&1 | FileCheck %s --check-prefix=SIGN
// RUN: not mscclc %s -P i=1e3 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not mscclc %s -P b=yes 2>&1 | FileCheck %s --check-prefix=BOOL
// RUN: not mscclc %s -P d=nan 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not mscclc %s -P mode=slow 2>&1 | FileCheck %s --check-prefix=ENUM
// RUN: not mscclc %s -P I=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sh -c 'mscclc %s --name ""; echo code=$?' 2>&1 | FileCheck %s --check-prefix=NAME
#include <mscclc/dsl.hpp>
#include <string_view>
using namespace mscclc;

enum class Mode { Fast, Slow = 7 };
enum Plain : unsigned char { One = 1, Two };

// RANGE: parameters.cpp:[[#@LINE+9]]:29: error: '2147483648' is not a value of parameter 'i' of type 'int': its values are -2147483648 to 2147483647
// SIGN: parameters.cpp:[[#@LINE+8]]:45: error: '-1' is not a value of parameter 'u' of type 'unsigned int': its values are 0 to 4294967295
// INTEGER: parameters.cpp:[[#@LINE+7]]:29: error: '1e3' is not a value of parameter 'i' of type 'int': it takes an integer
// BOOL: parameters.cpp:[[#@LINE+6]]:78: error: 'yes' is not a value of parameter 'b' of type 'bool': it takes true or false
// NUMBER: parameters.cpp:[[#@LINE+5]]:95: error: 'nan' is not a value of parameter 'd' of type 'double': it takes a number
// ENUM: parameters.cpp:[[#@LINE+5]]:30: error: 'slow' is not a value of parameter 'mode' of type 'Mode': it takes one of Fast, Slow
// UNKNOWN: parameters.cpp:[[#@LINE+3]]:23: error: 'f' has no parameter 'I': it has i, u, c, b, d, mode, plain, more, last, name
// NAME: error: --name: a name is UTF-8, and not empty
// NAME: code=2
MSCCLC_ALGORITHM void f(int i = 2, unsigned u = 3, unsigned char c = 5, bool b = true, double d = 1.5,
                        Mode mode = Mode::Fast, Plain plain = One, long more = 0, long last = 0,
                        std::string_view name = "defaults") {
  CollectiveProgram program(name, TestCollective(2, 400, 400));
  const int index = i + (mode == Mode::Slow ? 100 : 0) + plain + static_cast<int>(more + last);
  Rank(0).copy(Rank(0).output()[index], Rank(0).input()[b + u + c + static_cast<int>(d)], tb(0));
}
// DEFAULTS: "name": "defaults"
// DEFAULTS: "src_buff": [{"type": "i", "index": 10, "size": 1}], "dst_buff": [{"type": "o", "index": 3, "size": 1}]
// SET: "name": "ü b"
// SET: "src_buff": [{"type": "i", "index": 273, "size": 1}], "dst_buff": [{"type": "o", "index": 112, "size": 1}]
// LAST: "name": "a=b"
// LAST: "dst_buff": [{"type": "o", "index": 5, "size": 1}]
// LIST: -P i=2{{ +}}int
// LIST: -P mode=Fast{{ +}}Mode: Fast, Slow
// LIST: -P name=defaults{{ +}}std::string_view
