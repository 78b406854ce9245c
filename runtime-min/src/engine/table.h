// Makes an engine's C table from a class: its functions return Status, the table's report it.
#pragma once

#include "bytes.h"
#include "engine/engine.h"
#include "status.h"

#include <memory>
#include <string>
#include <vector>

struct MscclcMemory {};
struct MscclcPorts {};

namespace mscclc::rt {

/// `Self` has shape(), exchange(), allocate(), adopt(), health(), abort(), leave(), others(), detach(); `Memory` has
/// address(), multicast(), disconnect() and a destructor. They mean what the table's functions do.
template <class Self, class Memory> class EngineTable : public MscclcEngine {
protected:
  explicit EngineTable(const char *engineName) : MscclcEngine{} {
    name = engineName;
    MscclcEngine::destroy = [](MscclcEngine *engine) { delete self(engine); };
    MscclcEngine::shape = [](const MscclcEngine *engine, MscclcShape *shape) {
      *shape = static_cast<const Self *>(engine)->shape();
    };
    MscclcEngine::exchange = [](MscclcEngine *engine, const char *what, const void *bytes, uint64_t count,
                                MscclcReceive receive, void *context) {
      const auto *begin = static_cast<const uint8_t *>(bytes);
      std::vector<Bytes> all;
      const Status status = self(engine)->exchange(what, Bytes(begin, begin + count), all);
      for (size_t i = 0; i < all.size() && status.ok(); ++i)
        receive(context, all[i].data(), all[i].size());
      return report(status);
    };
    MscclcEngine::allocate = [](MscclcEngine *engine, const char *what, uint64_t bytes, uint32_t multicast,
                                MscclcMemory **memory) {
      std::unique_ptr<Memory> made;
      const Status status = self(engine)->allocate(what, bytes, multicast != 0, made);
      *memory = made.release();
      return report(status);
    };
    MscclcEngine::adopt = [](MscclcEngine *engine, const char *what, void *const *pointers, uint64_t bytes,
                             MscclcMemory **memory) {
      std::unique_ptr<Memory> made;
      const Status status = self(engine)->adopt(what, pointers, bytes, made);
      *memory = made.release();
      return report(status);
    };
    MscclcEngine::address = [](const MscclcMemory *memory, uint32_t localIndex, uint32_t rank) {
      return static_cast<const Memory *>(memory)->address(localIndex, rank);
    };
    MscclcEngine::multicast = [](const MscclcMemory *memory, uint32_t localIndex) {
      return static_cast<const Memory *>(memory)->multicast(localIndex);
    };
    MscclcEngine::disconnect = [](MscclcMemory *memory) { static_cast<Memory *>(memory)->disconnect(); };
    MscclcEngine::release = [](MscclcMemory *memory) { delete static_cast<Memory *>(memory); };
    MscclcEngine::health = [](MscclcEngine *engine) { return report(self(engine)->health()); };
    MscclcEngine::abort = [](MscclcEngine *engine, int32_t code, const char *reason) {
      self(engine)->abort({code, reason});
    };
    MscclcEngine::leave = [](MscclcEngine *engine) { self(engine)->leave(); };
    MscclcEngine::others = [](const MscclcEngine *engine) {
      return static_cast<uint32_t>(static_cast<const Self *>(engine)->others());
    };
    MscclcEngine::detach = [](MscclcEngine *engine) { self(engine)->detach(); };
  }

private:
  static Self *self(MscclcEngine *engine) { return static_cast<Self *>(engine); }
};

} // namespace mscclc::rt
