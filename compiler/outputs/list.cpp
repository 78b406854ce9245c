// --list
#include "compiler/diagnostics.h"
#include "compiler/outputs/outputs.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <nlohmann/json.hpp>

namespace mscclc::driver {

#ifdef MSCCLC_WITH_FRONTEND
/// Returns the algorithms as a JSON document.
static nlohmann::ordered_json documentOf(const std::vector<frontend::AlgorithmInfo> &algorithms) {
  auto document = nlohmann::ordered_json::array();
  for (const frontend::AlgorithmInfo &algorithm : algorithms) {
    auto parameters = nlohmann::ordered_json::array();
    for (const frontend::ParameterInfo &parameter : algorithm.parameters) {
      parameters.push_back({{"name", parameter.name}, {"type", parameter.type}, {"default", parameter.defaultValue}});
      if (!parameter.enumerators.empty())
        parameters.back()["values"] = parameter.enumerators;
    }
    document.push_back({{"name", algorithm.name}, {"doc", algorithm.doc}, {"parameters", std::move(parameters)}});
  }
  return document;
}
#endif

bool writeList(Job &job) {
  if (job.input.kind != InputKind::Algorithm)
    return job.diags.report(diag::list_needs_algorithm, job.input.shownName);
#ifdef MSCCLC_WITH_FRONTEND
  const auto algorithms = listAlgorithms(job.options, job.input.text, job.diags);
  return algorithms && (job.options.json ? job.say(documentOf(*algorithms)) : job.say(describe(*algorithms)));
#else
  return job.diags.report(diag::no_front_end, job.input.shownName);
#endif
}

} // namespace mscclc::driver
