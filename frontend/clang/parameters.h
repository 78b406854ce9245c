// Algorithms of a source, their parameters, and the values that the command line gives them.
#pragma once

#include "frontend/eval/compiled_algorithm.h"
#include "frontend/frontend.h"

#include <vector>

namespace clang {
class ASTContext;
class EnumDecl;
class FunctionDecl;
} // namespace clang

namespace mscclc::frontend {

class SourceReporter;

/// A parameter's type, as far as values of it are read from text.
struct ParameterType {
  using enum ParameterKind;
  ParameterKind kind = Integer;
  unsigned bits = 0;
  bool isSigned = false;
  std::vector<std::pair<std::string, std::uint64_t>> enumerators;
};

struct Algorithm {
  const clang::FunctionDecl *function = nullptr;
  AlgorithmInfo info;
  std::vector<ParameterType> types;
  std::vector<Argument> arguments; ///< the defaults, until parameters are set
};

/// All functions of the user's code that are marked as algorithms, in order. What cannot be one is reported.
std::vector<Algorithm> findAlgorithms(clang::ASTContext &context, SourceReporter &reporter);

/// The one that `options` asks for, with its parameters set; or null, and errors.
const Algorithm *chooseAlgorithm(std::vector<Algorithm> &algorithms, const FrontendOptions &options,
                                 SourceReporter &reporter);

} // namespace mscclc::frontend
