#include "frontend/eval/child_report.h"

#include "frontend/diagnostics.h"

#include <algorithm>
#include <cstring>

namespace mscclc::frontend {
namespace {

enum class Message : std::uint32_t { Diagnostic = 1, Algorithms, Sites, Files };

class Writer {
public:
  explicit Writer(Message kind) { number(static_cast<std::uint64_t>(kind)); }
  void number(std::uint64_t value) { text_.append(reinterpret_cast<const char *>(&value), sizeof value); }
  void string(std::string_view s) {
    number(s.size());
    text_ += s;
  }
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

/// Reads what a Writer has written. Past the end, all numbers are zero and all texts are empty.
class Reader {
public:
  explicit Reader(std::string_view text) : rest_(text) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) {
      rest_ = {};
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view string() {
    const std::uint64_t claimed = number();
    const std::uint64_t size = std::min<std::uint64_t>(claimed, rest_.size());
    const std::string_view s = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return s;
  }
  bool atEnd() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

void write(Writer &out, const ir::Diagnostic &d) {
  out.number(static_cast<std::uint64_t>(d.severity));
  out.string(d.id);
  out.string(d.message);
  out.string(d.place.file);
  out.number(d.place.line);
  out.number(d.place.column);
  out.string(d.place.excerpt);
  out.number(d.notes.size());
  for (const ir::Diagnostic &note : d.notes)
    write(out, note);
}

ir::Diagnostic readDiagnostic(Reader &in, int depth = 0) {
  ir::Diagnostic d;
  d.severity = static_cast<ir::Severity>(std::min<std::uint64_t>(in.number(), 3));
  const std::string_view id = in.string();
  const ir::DiagInfo *info = findDiagnostic(id);
  d.id = info ? info->id : ir::clangId;
  d.exitCode = info ? info->exitCode : 1;
  d.message = in.string();
  d.place.file = in.string();
  d.place.line = static_cast<std::uint32_t>(in.number());
  d.place.column = static_cast<std::uint32_t>(in.number());
  d.place.excerpt = in.string();
  for (std::uint64_t notes = in.number(); notes != 0 && depth < 4 && !in.atEnd(); --notes)
    d.notes.push_back(readDiagnostic(in, depth + 1));
  return d;
}

} // namespace

const ir::DiagInfo *findDiagnostic(std::string_view id) {
  static constexpr const ir::DiagInfo *all[] = {
#define DIAG(name, level, text) &diag::name,
#include "frontend/diagnostics.def"
#undef DIAG
  };
  const auto it = std::find_if(std::begin(all), std::end(all), [&](const ir::DiagInfo *d) { return d->id == id; });
  return it == std::end(all) ? nullptr : *it;
}

void ChildReport::append(const std::string &message) {
  ReportHeader &head = header();
  const std::uint64_t used = head.used.load(std::memory_order_relaxed);
  const std::uint64_t room = memory_.size() - sizeof(ReportHeader);
  const std::uint64_t size = message.size();
  // Drops a message that does not fit. There is room for far more messages than a user reads.
  if (used + sizeof size + size > room)
    return;
  std::byte *to = memory_.data() + sizeof(ReportHeader) + used;
  std::memcpy(to, &size, sizeof size);
  std::memcpy(to + sizeof size, message.data(), message.size());
  head.used.store(used + sizeof size + size, std::memory_order_release);
}

void ChildReport::add(const ir::Diagnostic &diagnostic) {
  errors_ += diagnostic.severity == ir::Severity::Error;
  Writer out(Message::Diagnostic);
  write(out, diagnostic);
  append(out.text());
}

void ChildReport::add(std::span<const AlgorithmInfo> algorithms) {
  Writer out(Message::Algorithms);
  out.number(algorithms.size());
  for (const AlgorithmInfo &a : algorithms) {
    out.string(a.name);
    out.string(a.doc);
    out.number(a.parameters.size());
    for (const ParameterInfo &p : a.parameters) {
      out.string(p.name);
      out.number(static_cast<std::uint64_t>(p.kind));
      out.string(p.type);
      out.string(p.defaultValue);
      out.number(p.enumerators.size());
      for (const std::string &e : p.enumerators)
        out.string(e);
    }
  }
  append(out.text());
}

void ChildReport::add(std::span<const CallSite> sites) {
  Writer out(Message::Sites);
  out.number(sites.size());
  for (const CallSite &s : sites) {
    out.string(s.file);
    out.number(s.line);
    out.number(s.column);
  }
  append(out.text());
}

void ChildReport::addFiles(std::span<const std::string> files) {
  Writer out(Message::Files);
  out.number(files.size());
  for (const std::string &file : files)
    out.string(file);
  append(out.text());
}

ReceivedReport receive(std::span<const std::byte> memory) {
  ReceivedReport received;
  const auto &head = *reinterpret_cast<const ReportHeader *>(memory.data());
  const std::uint64_t used = std::min<std::uint64_t>(head.used.load(), memory.size() - sizeof(ReportHeader));
  Reader messages({reinterpret_cast<const char *>(memory.data()) + sizeof(ReportHeader), used});
  while (!messages.atEnd()) {
    Reader in(messages.string());
    switch (static_cast<Message>(in.number())) {
    case Message::Diagnostic:
      received.diagnostics.push_back(readDiagnostic(in));
      continue;
    case Message::Algorithms:
      for (std::uint64_t n = in.number(); n != 0 && !in.atEnd(); --n) {
        AlgorithmInfo &a = received.algorithms.emplace_back();
        a.name = in.string();
        a.doc = in.string();
        for (std::uint64_t p = in.number(); p != 0 && !in.atEnd(); --p) {
          ParameterInfo &parameter = a.parameters.emplace_back();
          parameter.name = in.string();
          parameter.kind = static_cast<ParameterKind>(std::min<std::uint64_t>(in.number(), 4));
          parameter.type = in.string();
          parameter.defaultValue = in.string();
          for (std::uint64_t e = in.number(); e != 0 && !in.atEnd(); --e)
            parameter.enumerators.emplace_back(in.string());
        }
      }
      continue;
    case Message::Sites:
      for (std::uint64_t n = in.number(); n != 0 && !in.atEnd(); --n) {
        CallSite &s = received.sites.emplace_back();
        s.file = in.string();
        s.line = static_cast<std::uint32_t>(in.number());
        s.column = static_cast<std::uint32_t>(in.number());
      }
      continue;
    case Message::Files:
      for (std::uint64_t n = in.number(); n != 0 && !in.atEnd(); --n)
        received.files.emplace_back(in.string());
      continue;
    }
    return received; // foreign code has changed the report
  }
  return received;
}

} // namespace mscclc::frontend
