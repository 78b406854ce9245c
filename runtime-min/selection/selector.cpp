// Picks a kernel for a call: finds the kernels that fit, and takes the best of them.
#include "kernels/kernel_facts.h"
#include "kernels/registry.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

using namespace mscclc::rt;

namespace {

using Tags = std::set<std::string>;

Tags splitTags(const char *text) {
  Tags tags;
  std::string tag;
  for (const char *c = text == nullptr ? "" : text;; ++c) {
    if (*c != ',' && *c != '\0') {
      if (*c != ' ')
        tag += *c;
      continue;
    }
    if (!tag.empty())
      tags.insert(tag);
    tag.clear();
    if (*c == '\0')
      return tags;
  }
}

/// Returns the tags of a kernel: the tags of its program, and tags that follow from its properties.
Tags tagsOf(const MscclcKernel &kernel) {
  const std::pair<uint32_t, const char *> known[] = {{MSCCLC_USES_PACKETS, "packets"},
                                                     {MSCCLC_NEEDS_PORT, "port"},
                                                     {MSCCLC_USES_MULTICAST, "multicast"},
                                                     {MSCCLC_DOUBLE_SCRATCH, "double-scratch"},
                                                     {MSCCLC_SPECIALISED_SIZE, "baked"}};
  Tags tags = splitTags(kernel.tags);
  for (const auto &[flag, name] : known)
    if ((kernel.flags & flag) != 0)
      tags.insert(name);
  return tags;
}

struct Entry {
  const MscclcKernel *kernel;
  Tags tags;
  uint64_t minBytes;
  uint64_t maxBytes;
  int32_t priority;
};

Entry entryOf(const MscclcKernel &kernel, const char *tags, uint64_t minBytes, uint64_t maxBytes, int32_t priority) {
  Entry entry{&kernel, tagsOf(kernel), std::max(minBytes, kernel.min_message_bytes),
              std::min(maxBytes, kernel.max_message_bytes), priority};
  entry.tags.merge(splitTags(tags));
  return entry;
}

Status checkFit(const MscclcKernel &kernel, const MscclcQuery &query) {
  const auto no = [&](const std::string &why) {
    return failure(MSCCLC_ERROR_NO_KERNEL, "kernel '%s': %s", kernel.name, why.c_str());
  };
  if (query.collective == nullptr || std::strcmp(kernel.collective, query.collective) != 0)
    return no(format("collective %s", kernel.collective));
  if (kernel.ranks != query.ranks)
    return no(format("%u ranks", kernel.ranks));
  if (((kernel.flags & MSCCLC_IN_PLACE) != 0) != (query.in_place != 0))
    return no((kernel.flags & MSCCLC_IN_PLACE) != 0 ? "works in place" : "does not work in place");
  if ((kernel.flags & MSCCLC_ROOTED) != 0 && kernel.root != query.root)
    return no(format("root %u", kernel.root));
  if (Status status = checkMessage(kernel, query.message_bytes, query.dtype); !status.ok())
    return {MSCCLC_ERROR_NO_KERNEL, status.text};
  const MscclcVariant *variant = findVariant(kernel, query.dtype, query.reduce_op, MSCCLC_NO_PACKET);
  if (variant != nullptr && variant->reduce_op == MSCCLC_MIXED_REDUCE && query.reduce_op != MSCCLC_MIXED_REDUCE)
    return no("reduces with operations of its own choice");
  if (variant == nullptr)
    return no(format("not compiled for %s, operation %s", nameOfType(query.dtype), nameOfReduceOp(query.reduce_op)));
  return {};
}

Status checkEntry(const Entry &entry, const MscclcQuery &query, const Tags &wanted) {
  MSCCLC_TRY(checkFit(*entry.kernel, query));
  if (query.message_bytes < entry.minBytes || query.message_bytes > entry.maxBytes)
    return failure(MSCCLC_ERROR_NO_KERNEL, "kernel '%s': chosen for %llu to %llu bytes", entry.kernel->name,
                   wide(entry.minBytes), wide(entry.maxBytes));
  for (const std::string &tag : wanted)
    if (entry.tags.count(tag) == 0)
      return failure(MSCCLC_ERROR_NO_KERNEL, "kernel '%s': no tag %s", entry.kernel->name, tag.c_str());
  return {};
}

bool isBetter(const Entry *a, const Entry *b) {
  if (a->priority != b->priority)
    return a->priority > b->priority;
  return a->maxBytes - a->minBytes < b->maxBytes - b->minBytes;
}

} // namespace

struct MscclcSelector {
  std::vector<Entry> entries;
  MscclcSelectFunction function = nullptr;
  void *user = nullptr;
};

namespace {

Status select(const MscclcSelector *selector, const MscclcQuery &query, const MscclcKernel *&chosen) {
  std::vector<Entry> registered;
  if (selector == nullptr)
    for (const MscclcKernel *kernel : registeredKernels())
      registered.push_back(entryOf(*kernel, "", 0, UINT64_MAX, 0));
  const std::vector<Entry> &entries = selector == nullptr ? registered : selector->entries;
  const Tags wanted = splitTags(query.tags);
  std::vector<const Entry *> fitting;
  std::string reasons;
  for (const Entry &entry : entries) {
    if (const Status status = checkEntry(entry, query, wanted); status.ok())
      fitting.push_back(&entry);
    else
      reasons += "\n  " + status.text;
  }
  std::stable_sort(fitting.begin(), fitting.end(), isBetter);
  size_t pick = 0;
  if (selector != nullptr && selector->function != nullptr) {
    std::vector<const MscclcKernel *> candidates;
    for (const Entry *entry : fitting)
      candidates.push_back(entry->kernel);
    const int32_t answer =
        selector->function(&query, candidates.data(), static_cast<uint32_t>(candidates.size()), selector->user);
    if (answer >= 0 && static_cast<size_t>(answer) >= candidates.size())
      return failure(MSCCLC_ERROR_ARGUMENT, "the selecting function answers %d, there are %zu candidates", answer,
                     candidates.size());
    pick = answer < 0 ? fitting.size() : static_cast<size_t>(answer);
    if (answer < 0 && !fitting.empty())
      reasons += "\n  the selecting function takes none of the others";
  }
  if (pick >= fitting.size())
    return failure(MSCCLC_ERROR_NO_KERNEL, "no kernel for %s, %u ranks, %llu bytes of %s, operation %s, %s; of %zu:%s",
                   query.collective == nullptr ? "no collective" : query.collective, query.ranks,
                   wide(query.message_bytes), nameOfType(query.dtype), nameOfReduceOp(query.reduce_op),
                   query.in_place != 0 ? "in place" : "out of place", entries.size(), reasons.c_str());
  chosen = fitting[pick]->kernel;
  return {};
}

} // namespace

extern "C" {

int32_t mscclc_kernel_fits(const MscclcKernel *kernel, const MscclcQuery *query) {
  if (Status status = checkDescription(kernel); !status.ok())
    return report(status);
  return query == nullptr ? report(failure(MSCCLC_ERROR_ARGUMENT, "no query")) : report(checkFit(*kernel, *query));
}

int32_t mscclc_selector_create(MscclcSelector **selector) {
  if (selector == nullptr)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "nowhere to put the selector"));
  *selector = new MscclcSelector();
  return MSCCLC_OK;
}

void mscclc_selector_destroy(MscclcSelector *selector) {
  delete selector;
}

int32_t mscclc_selector_add(MscclcSelector *selector, const MscclcKernel *kernel, const char *tags, uint64_t min_bytes,
                            uint64_t max_bytes, int32_t priority) {
  if (selector == nullptr)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "no selector"));
  if (Status status = checkDescription(kernel); !status.ok())
    return report(status);
  Entry entry = entryOf(*kernel, tags, min_bytes, max_bytes, priority);
  if (entry.minBytes > entry.maxBytes)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' takes no message of %llu to %llu bytes", kernel->name,
                          wide(min_bytes), wide(max_bytes)));
  selector->entries.push_back(std::move(entry));
  return MSCCLC_OK;
}

int32_t mscclc_selector_set_function(MscclcSelector *selector, MscclcSelectFunction function, void *user) {
  if (selector == nullptr)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "no selector"));
  selector->function = function;
  selector->user = user;
  return MSCCLC_OK;
}

int32_t mscclc_select(const MscclcSelector *selector, const MscclcQuery *query, const MscclcKernel **kernel) {
  if (query == nullptr || kernel == nullptr)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "no query, or nowhere to put the kernel"));
  *kernel = nullptr;
  return report(select(selector, *query, *kernel));
}
}
