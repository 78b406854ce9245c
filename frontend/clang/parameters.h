// The algorithms of a source, their parameters, and the parameters' values from the command line.
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

/// The properties of a parameter's type that are needed to read values from text.
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
  std::vector<Argument> arguments; ///< the default values, until parameters are set
};

/// Returns all functions of the user's code that are marked as algorithms, in order. Reports marked functions that
/// cannot be algorithms.
std::vector<Algorithm> findAlgorithms(clang::ASTContext &context, SourceReporter &reporter);

/// Returns the algorithm that `options` ask for, with its parameters set. After errors, reports them and returns null.
const Algorithm *chooseAlgorithm(std::vector<Algorithm> &algorithms, const FrontendOptions &options,
                                 SourceReporter &reporter);

} // namespace mscclc::frontend
