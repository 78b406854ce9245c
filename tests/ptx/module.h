// A decoded module of PTX, which the machine runs. The names are those of the PTX ISA (version 9.0).
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ptx {

/// An instruction, directive or form that the machine does not know. The text names it and its line.
class Unknown : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

enum class Opcode : std::uint8_t {
#define PTX_OPCODE(name) name,
#include "words.def"
};

enum class Modifier : std::uint8_t {
#define PTX_MODIFIER(id, text) id,
#include "words.def"
};

struct Type {
  enum Kind : std::uint8_t {
    None,
    Bits,
    Unsigned,
    Signed,
    Float,
    Brain,
    Float8E4m3,
    Float8E5m2,
    Predicate
  } kind = None;
  std::uint8_t bits = 0;  ///< of one element
  std::uint8_t count = 1; ///< elements side by side in a register: 2 for f16x2
  unsigned bytes() const { return bits * count / 8; }
  friend bool operator==(const Type &, const Type &) = default;
};

enum class Space : std::uint8_t { Generic, Global, Param, Const, Local, Shared };
enum class Order : std::uint8_t { Weak, Volatile, Relaxed, Acquire, Release, AcqRel, Sc };
enum class Scope : std::uint8_t { Cta, Gpu, Sys };

/// The place of an instruction in the sources that the module was made from.
struct SourcePlace {
  std::string file; ///< empty: not known
  std::uint32_t line = 0;
};

enum class Special : std::uint8_t { Tid, Ntid, Ctaid, Nctaid, GlobalTimer, LaneId };

struct Operand {
  enum Kind : std::uint8_t {
    Register,
    Immediate,
    Sink,     ///< `_`
    Special,  ///< a special register
    Frame,    ///< the address of a variable of the function
    Argument, ///< the address of a parameter of an entry
    Global,   ///< the address of a variable of the module
    Shared,   ///< the place of a variable in the window of a block's shared memory
    Memory    ///< [base + value]; `base` says which kind of address it begins with
  } kind = Register;
  Kind base = Register;
  std::uint32_t index = 0; ///< register, special register or variable of the module
  std::int64_t value = 0;  ///< bits of an immediate; otherwise the offset from the base in bytes
};

struct Variable {
  std::uint64_t offset = 0,
                bytes = 0; ///< in the frame, in the parameters of the entry, in the module's data, or in shared memory
};

struct Instruction {
  Opcode opcode{};
  Space space = Space::Generic;
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  bool hasScope = false;
  std::uint8_t vector = 1;
  Type type, source; ///< `source`: the second type, of cvt, setp and selp
  std::uint64_t modifiers = 0;
  std::int32_t guard = -1; ///< a predicate register
  bool guardNegated = false;
  std::vector<std::vector<Operand>> operands; ///< vectors in braces have several
  std::uint32_t target = 0;                   ///< of a branch: an instruction; of a call: a function
  std::vector<Variable> arguments, results;   ///< of a call: variables of the frame
  SourcePlace place;                          ///< the innermost source location
  SourcePlace caller;                         ///< the outermost source location, if the instruction was inlined
  std::string text;                           ///< the opcode with its words
  bool has(Modifier m) const { return (modifiers >> static_cast<unsigned>(m) & 1) != 0; }
};

struct Function {
  std::string name;
  bool isEntry = false;
  std::vector<Variable> parameters, results;
  std::uint64_t frameBytes = 0, parameterBytes = 0;
  std::uint32_t registers = 0;
  std::vector<Instruction> code;
};

struct Module {
  std::string target; ///< sm_90
  std::vector<Function> functions;
  std::map<std::string, std::uint32_t, std::less<>> functionOf;
  std::vector<std::byte> data;   ///< of constant and global variables, 16-byte aligned
  std::uint64_t sharedBytes = 0; ///< of shared variables of a block
};

/// Reads what `nvcc -ptx` prints. Throws Unknown.
Module readModule(std::string_view text);

} // namespace mscclc::ptx
