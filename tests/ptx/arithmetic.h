// Computes the results of instructions, as the PTX ISA defines them. Values are bits, in the low end of 64.
#pragma once

#include "module.h"

#include <span>

namespace mscclc::ptx {

/// The result of an instruction that only computes, from its source operands. Results are cut to the width of their
/// type, but a sign-extended one fills 64 bits. Approximate instructions return a value that is `ulps` steps from the
/// nearest; callers choose it within the error that the ISA allows. Throws Unknown.
std::uint64_t compute(const Instruction &instruction, std::span<const std::uint64_t> sources, int ulps = 0);

/// Returns the value that an atom or red instruction writes to memory that held `old`.
std::uint64_t atomicResult(const Instruction &instruction, std::uint64_t old, std::span<const std::uint64_t> sources);

/// Returns one register of the result of multimem.ld_reduce from the values that the members hold.
std::uint64_t switchResult(const Instruction &instruction, std::span<const std::uint64_t> members);

/// The largest error of an approximate instruction, in steps of the result's last place.
constexpr int approximateUlps = 1; // rcp.approx.ftz.f32

} // namespace mscclc::ptx
