#include "frontend/xml/schedule_reader.h"

#include "frontend/xml/xml_text.h"
#include "ir/structure.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace mscclc::xml {

namespace {

using enum Attribute;

constexpr std::int64_t mostNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t mostBlocks = 512, mostStepsOfBlock = 65535, mostSteps = std::size_t{1} << 20;

constexpr std::array<std::pair<std::string_view, ir::BufferKind>, 3> bufferWords{
    {{"i", ir::BufferKind::Input}, {"o", ir::BufferKind::Output}, {"s", ir::BufferKind::Scratch}}};
constexpr std::array<std::pair<std::string_view, bool>, 3> protocolWords{
    {{"Simple", true}, {"LL", false}, {"LL128", false}}};

constexpr auto stepWords = [] {
  std::array<std::pair<std::string_view, StepKind>, stepInfos.size()> words;
  for (std::size_t kind = 0; kind < words.size(); ++kind)
    words[kind] = {stepInfos[kind].word, static_cast<StepKind>(kind)};
  return words;
}();

std::string_view chunksAttribute(ir::BufferKind buffer) {
  return buffer == ir::BufferKind::Input ? "i_chunks" : buffer == ir::BufferKind::Output ? "o_chunks" : "s_chunks";
}

/// True if `text` is UTF-8 and not empty, as names in plans must be.
bool isName(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead < 0x80                   ? 0
                     : lead >= 0xc2 && lead < 0xe0 ? 1
                     : (lead & 0xf0) == 0xe0       ? 2
                     : lead >= 0xf0 && lead < 0xf5 ? 3
                                                   : -1;
    if (more < 0)
      return false;
    for (int k = 0; k < more; ++k, ++i)
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
        return false;
  }
  return !text.empty();
}

class ScheduleReader {
public:
  ScheduleReader(std::string_view text, std::string_view filename, ir::SourceMap &sources, Findings &findings)
      : text_(text, filename, sources), findings_(findings) {}

  Schedule read() {
    const pugi::xml_node root = text_.parse(findings_);
    if (findings_.any())
      return {};
    if (name(root) != "algo") {
      findings_.report(diag::xml_element, text_.locOf(root), {name(root), "algo"});
      return {};
    }
    for (const pugi::xml_node &other : root.parent().children())
      if (other.type() == pugi::node_element && other != root)
        findings_.report(diag::xml_second_root, text_.locOf(other), {name(other)});
      else if (other.type() == pugi::node_pcdata || other.type() == pugi::node_cdata)
        findings_.report(diag::xml_text_found, text_.locOf(other), {"algo"});
    readAlgo(root);
    if (!findings_.any())
      checkDependences();
    return std::move(schedule_);
  }

private:
  static std::string_view name(const pugi::xml_node &node) { return std::string_view(node.name()).substr(0, 40); }

  /// Returns the elements in `node` that are named `expected`, and stores those named `other` in `others`. Reports all
  /// other contents.
  std::vector<pugi::xml_node> childrenOf(const pugi::xml_node &node, std::string_view expected,
                                         std::string_view other = {}, std::vector<pugi::xml_node> *others = nullptr) {
    std::vector<pugi::xml_node> children;
    for (const pugi::xml_node &child : node.children()) {
      if (child.type() == pugi::node_element && child.name() == expected)
        children.push_back(child);
      else if (others && child.type() == pugi::node_element && child.name() == other)
        others->push_back(child);
      else if (child.type() == pugi::node_element)
        findings_.report(diag::xml_element, text_.locOf(child), {name(child), expected});
      else if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata)
        findings_.report(diag::xml_text_found, text_.locOf(child), {expected});
      if (findings_.full())
        break;
    }
    return children;
  }

  /// Reports contents of an element that must be empty.
  void checkEmpty(const pugi::xml_node &node) {
    for (const pugi::xml_node &child : node.children()) {
      const bool isElement = child.type() == pugi::node_element;
      if (isElement || child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata)
        findings_.report(diag::xml_not_empty, text_.locOf(child),
                         {isElement ? "<" + std::string(name(child)) + ">" : "text", name(node)});
      if (findings_.full())
        break;
    }
  }

  Attributes attributes(const pugi::xml_node &node, Element element) {
    return Attributes(text_, findings_, unknown_, node, element);
  }

  std::string nameOf(const Attributes &of, Attribute which) {
    const std::string_view text = of.text(which).value_or("");
    if (of.has(which) && !isName(text))
      findings_.report(diag::name_not_utf8, of.locOf(which), {of.nameOf(which)});
    return std::string(text);
  }

  void readAlgo(const pugi::xml_node &node) {
    const Attributes of = attributes(node, Element::Algo);
    schedule_.name = nameOf(of, AlgoName);
    schedule_.collective = nameOf(of, AlgoCollective);
    schedule_.collectiveLoc = of.locOf(AlgoCollective);
    if (!of.has(AlgoCollective)) {
      schedule_.collective = ir::toString(ir::CollectiveKind::Custom);
      findings_.report(diag::no_collective, of.loc());
    } else if (!of.has(AlgoInPlace)) {
      findings_.report(diag::attribute_missing, of.loc(), {"algo", "inplace"});
    }
    if (const std::string_view op = of.text(AlgoReduceOp).value_or("nop"); op != "nop" && op != "sum")
      findings_.report(diag::redop_ignored, of.locOf(AlgoReduceOp), {op});
    schedule_.chunksLoc = of.locOf(AlgoLoopChunks);
    schedule_.simple = of.word(AlgoProto, protocolWords).value_or(true);
    schedule_.inplace = of.number(AlgoInPlace, 0, 1).value_or(0) != 0;
    schedule_.loopChunks = static_cast<std::uint32_t>(of.number(AlgoLoopChunks, 1, mostNumber).value_or(1));
    constexpr std::int64_t anyBytes = std::numeric_limits<std::int64_t>::max();
    schedule_.minBytes = static_cast<std::uint64_t>(of.number(AlgoMinBytes, 0, anyBytes).value_or(0));
    schedule_.maxBytes = std::numeric_limits<std::uint64_t>::max();
    if (const auto most = of.number(AlgoMaxBytes, 0, anyBytes); most.value_or(0) != 0) // 0 is no limit
      schedule_.maxBytes = static_cast<std::uint64_t>(*most);
    if (schedule_.minBytes > schedule_.maxBytes)
      findings_.report(diag::bytes_swapped, of.locOf(AlgoMinBytes), {schedule_.minBytes, schedule_.maxBytes});

    const auto stated = of.number(AlgoGpus, 1, ir::maxRanks);
    const std::vector<pugi::xml_node> gpus = childrenOf(node, "gpu");
    if (!stated)
      return;
    gpus_ = static_cast<std::uint32_t>(*stated);
    if (gpus.size() != gpus_) {
      findings_.report(diag::gpus_differ, of.locOf(AlgoGpus), {gpus_, ir::plural(gpus.size(), "gpu")});
      return;
    }
    schedule_.gpus.resize(gpus_);
    for (const pugi::xml_node &gpu : gpus) {
      if (findings_.full())
        return;
      readGpu(gpu);
    }
  }

  /// Returns the entry of `list` whose number is in the attribute `id`. Reports a number that is out of range or
  /// repeated, and returns nothing.
  template <typename T> T *entry(std::vector<T> &list, const Attributes &of, Attribute id, std::string_view noun) {
    const auto number = of.number(id, 0, static_cast<std::int64_t>(list.size()) - 1);
    if (!number)
      return nullptr;
    T &found = list[static_cast<std::size_t>(*number)];
    if (found.loc != ir::noLoc) {
      findings_.report(diag::xml_id_repeated, of.locOf(id), {noun, *number}).note(diag::xml_first_here, found.loc);
      return nullptr;
    }
    found.loc = of.loc();
    return &found;
  }

  void readGpu(const pugi::xml_node &node) {
    const Attributes of = attributes(node, Element::Gpu);
    Gpu *gpu = entry(schedule_.gpus, of, GpuId, "gpu");
    const auto chunks = [&](Attribute attribute) {
      return static_cast<std::uint32_t>(of.number(attribute, 0, mostNumber).value_or(0));
    };
    Gpu read{.inputChunks = chunks(GpuInputChunks),
             .outputChunks = chunks(GpuOutputChunks),
             .scratchChunks = chunks(GpuScratchChunks),
             .copies = {},
             .blocks = {},
             .loc = of.loc()};
    std::vector<pugi::xml_node> copies;
    const std::vector<pugi::xml_node> blocks = childrenOf(node, "tb", "copy", &copies);
    if (blocks.size() > mostBlocks) {
      findings_.report(diag::xml_too_large, of.loc(), {ir::plural(blocks.size(), "thread block"), mostBlocks});
      return;
    }
    if (!gpu)
      return;
    *gpu = std::move(read);
    gpu->blocks.resize(blocks.size());
    const auto id = static_cast<std::uint32_t>(gpu - schedule_.gpus.data());
    steps_ += copies.size();
    if (steps_ > mostSteps) {
      findings_.report(diag::xml_too_large, of.loc(), {ir::plural(steps_, "step"), mostSteps});
      return;
    }
    for (const pugi::xml_node &copy : copies)
      if (!findings_.full())
        readCopy(copy, id);
    for (const pugi::xml_node &block : blocks)
      readBlock(block, id);
  }

  void readCopy(const pugi::xml_node &node, std::uint32_t id) {
    const Attributes of = attributes(node, Element::Copy);
    checkEmpty(node);
    Gpu &gpu = schedule_.gpus[id];
    const auto chunk = [&](Attribute attribute, ir::BufferKind buffer) {
      const std::int64_t index = of.number(attribute, 0, mostNumber).value_or(0);
      if (index >= gpu.chunksOf(buffer))
        findings_.report(diag::place_out_of_range, of.locOf(attribute),
                         {ir::toString(buffer), index, index + 1, id, chunksAttribute(buffer), gpu.chunksOf(buffer)});
      return static_cast<std::uint32_t>(index);
    };
    gpu.copies.push_back(
        {chunk(CopyInput, ir::BufferKind::Input), chunk(CopyOutput, ir::BufferKind::Output), of.loc()});
  }

  std::optional<std::uint32_t> peer(const Attributes &of, Attribute which, std::uint32_t gpu) {
    const auto number = of.number(which, -1, std::int64_t{gpus_} - 1);
    if (!number || *number < 0)
      return std::nullopt;
    if (*number == gpu)
      findings_.report(diag::peer_is_own_gpu, of.locOf(which), {of.nameOf(which), gpu});
    return static_cast<std::uint32_t>(*number);
  }

  void readBlock(const pugi::xml_node &node, std::uint32_t gpu) {
    const Attributes of = attributes(node, Element::Block);
    Block *block = entry(schedule_.gpus[gpu].blocks, of, BlockId, "thread block");
    Block read{.send = peer(of, BlockSend, gpu),
               .recv = peer(of, BlockRecv, gpu),
               .channel = of.number(BlockChannel, -1, mostNumber).value_or(0),
               .steps = {},
               .loc = of.loc()};
    const std::vector<pugi::xml_node> steps = childrenOf(node, "step");
    steps_ += steps.size();
    if (steps.size() > mostStepsOfBlock || steps_ > mostSteps) {
      const bool block = steps.size() > mostStepsOfBlock;
      if (block || steps_ - steps.size() <= mostSteps)
        findings_.report(diag::xml_too_large, of.loc(),
                         {ir::plural(block ? steps.size() : steps_, "step"), block ? mostStepsOfBlock : mostSteps});
      return;
    }
    for (const pugi::xml_node &step : steps) {
      if (findings_.full())
        return;
      readStep(step, gpu, read);
    }
    if (block)
      *block = std::move(read);
  }

  void readStep(const pugi::xml_node &node, std::uint32_t gpu, Block &block) {
    const Attributes of = attributes(node, Element::Step);
    checkEmpty(node);
    Step step;
    step.loc = of.loc();
    const auto number = of.number(StepNumber, 0, mostNumber);
    if (number && static_cast<std::size_t>(*number) != block.steps.size())
      findings_.report(diag::step_number, of.locOf(StepNumber), {*number, block.steps.size()});
    const auto kind = of.word(StepType, stepWords);
    if (kind) {
      step.kind = *kind;
      const StepInfo &does = info(*kind);
      if (does.sends && !block.send)
        findings_.report(diag::no_peer, of.locOf(StepType), {does.word, "send to", "send"});
      if (does.receives && !block.recv)
        findings_.report(diag::no_peer, of.locOf(StepType), {does.word, "receive from", "recv"});
      if (does.reads || does.writes)
        step.count = static_cast<std::uint32_t>(of.number(StepCount, 1, mostNumber).value_or(0));
      if (does.reads)
        step.src = place(of, gpu, StepSrcBuffer, StepSrcOffset, step.count);
      if (does.writes)
        step.dst = place(of, gpu, StepDstBuffer, StepDstOffset, step.count);
    }
    readDependence(of, step);
    step.hasWaiters = of.number(StepHasWaiters, 0, 1).value_or(0) != 0;
    block.steps.push_back(step);
  }

  BufferPlace place(const Attributes &of, std::uint32_t gpu, Attribute buffer, Attribute offset, std::uint32_t count) {
    const auto kind = of.word(buffer, bufferWords);
    const auto index = of.number(offset, 0, mostNumber);
    if (!kind || !index || count == 0)
      return {};
    const std::uint32_t limit = schedule_.gpus[gpu].chunksOf(*kind);
    if (*index + count > limit)
      findings_.report(diag::place_out_of_range, of.locOf(offset),
                       {ir::toString(*kind), *index, *index + count, gpu, chunksAttribute(*kind), limit});
    return {*kind, static_cast<std::uint32_t>(*index)};
  }

  void readDependence(const Attributes &of, Step &step) {
    const auto block = of.number(StepDependsOnBlock, -1, mostNumber);
    const auto number = of.number(StepDependsOnStep, -1, mostNumber);
    if (!block || !number)
      return;
    if ((*block < 0) != (*number < 0))
      findings_.report(diag::dependence_half, of.locOf(StepDependsOnBlock), {*block, *number});
    else if (*block >= 0)
      step.dependence = Dependence{static_cast<std::uint32_t>(*block), static_cast<std::uint32_t>(*number)};
  }

  void checkDependences() {
    for (std::uint32_t g = 0; g < gpus_; ++g)
      for (const Block &block : schedule_.gpus[g].blocks)
        for (const Step &step : block.steps)
          if (step.dependence && !findings_.full())
            checkDependence(g, step);
  }

  void checkDependence(std::uint32_t gpu, const Step &step) {
    const std::vector<Block> &blocks = schedule_.gpus[gpu].blocks;
    const Dependence &on = *step.dependence;
    if (on.block >= blocks.size()) {
      findings_.report(diag::dependence_block, step.loc, {gpu, on.block, blocks.size()});
      return;
    }
    const std::vector<Step> &steps = blocks[on.block].steps;
    if (on.step >= steps.size()) {
      findings_.report(diag::dependence_step, step.loc, {on.block, on.step, steps.size()});
      return;
    }
    if (!toldBy(blocks[on.block]).empty() && toldBy(blocks[on.block])[on.step])
      return;
    findings_.report(diag::dependence_untold, step.loc, {on.step, on.block})
        .note(diag::dependence_of, steps[on.step].loc);
  }

  /// For each step of `block`, returns whether it or a later step has `hasdep`.
  const std::vector<bool> &toldBy(const Block &block) {
    std::vector<bool> &told = told_[&block];
    if (told.empty() && !block.steps.empty()) {
      told.resize(block.steps.size());
      bool later = false;
      for (std::size_t i = block.steps.size(); i-- > 0;)
        told[i] = later = later || block.steps[i].hasWaiters;
    }
    return told;
  }

  XmlText text_;
  Findings &findings_;
  UnknownAttributes unknown_;
  Schedule schedule_;
  std::uint32_t gpus_ = 0;
  std::size_t steps_ = 0;
  std::unordered_map<const Block *, std::vector<bool>> told_;
};

} // namespace

Schedule readSchedule(std::string_view text, std::string_view filename, ir::SourceMap &sources, Findings &findings) {
  return ScheduleReader(text, filename, sources, findings).read();
}

} // namespace mscclc::xml
