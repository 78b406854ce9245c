// --verify
#include "compiler/outputs/outputs.h"
#include "passes/verify/verify.h"

#include <nlohmann/json.hpp>

namespace mscclc::driver {

/// Returns the result of the proof as a JSON document.
static nlohmann::ordered_json documentOf(const ir::Program &program, const passes::VerifyResult &proof) {
  nlohmann::ordered_json document = {
      {"program", program.name},    {"proven", proof.proven},         {"ranks", proof.ranks},
      {"launches", proof.launches}, {"operations", proof.operations}, {"results", proof.results},
      {"unstated", proof.unstated}, {"warnings", proof.warnings},     {"summary", proof.summary()}};
  const passes::SumOrder &sums = proof.sums;
  if (sums.any)
    document["sums"] = {{"order", sums.isInvariant() ? nlohmann::ordered_json(sums.exact) : nullptr},
                        {"family", sums.family()},
                        {"invariant", sums.isInvariant()},
                        {"consistent", !sums.ranksDiffer},
                        {"narrowings", sums.narrowings}};
  return document;
}

bool writeProof(Job &job) {
  return job.options.json ? job.say(documentOf(job.program, *job.proof))
                          : job.say(ir::printable(job.program.name) + ": " + job.result + "\n");
}

} // namespace mscclc::driver
