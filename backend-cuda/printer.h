// Spells operands and statements in the C++ of the device headers. No other file knows how.
#pragma once

#include "backend-cuda/model.h"

#include <string>
#include <vector>

namespace mscclc::cuda {

/// Appends statements, a line each or several, indented by `indent`.
void printStatements(std::string &out, const std::vector<Statement> &statements, const std::string &indent);

/// About how many characters statements take.
std::size_t textLength(const std::vector<Statement> &statements);

/// Text that stays within one comment line.
std::string oneLine(std::string text);

} // namespace mscclc::cuda
