// Spells operands and statements in the C++ of the device headers. No other file does so.
#pragma once

#include "backend-cuda/model.h"

#include <string>
#include <vector>

namespace mscclc::cuda {

/// Appends statements, each on one line or several, indented by `indent`.
void printStatements(std::string &out, const std::vector<Statement> &statements, const std::string &indent);

/// Returns roughly the number of characters of statements.
std::size_t textLength(const std::vector<Statement> &statements);

/// Returns text that is safe within a one-line comment.
std::string oneLine(std::string text);

} // namespace mscclc::cuda
