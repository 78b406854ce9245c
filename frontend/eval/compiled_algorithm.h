// An algorithm as LLVM IR, with the data that is needed to run it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mscclc::frontend {

/// The owner of a source file.
enum class FileKind : std::uint8_t { User, Dsl, System };

/// The value of a parameter.
struct Argument {
  enum Kind : std::uint8_t { Integer, Double, Text } kind = Integer;
  bool isSigned = false;  ///< Integer: true if `bits` has a sign
  std::uint64_t bits = 0; ///< Integer
  double number = 0;      ///< Double
  std::string text;       ///< Text
};

struct CompiledAlgorithm {
  CompiledAlgorithm();
  CompiledAlgorithm(CompiledAlgorithm &&) noexcept;
  CompiledAlgorithm &operator=(CompiledAlgorithm &&) noexcept;
  ~CompiledAlgorithm();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string function; ///< the algorithm's name in the module, or that of its entry
  std::vector<Argument> arguments;
};

} // namespace mscclc::frontend
