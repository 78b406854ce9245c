#include "frontend/eval/machine_code.h"

#include "frontend/eval/arena.h"
#include "frontend/eval/runtime_checks.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <sys/mman.h>

using namespace llvm;

namespace mscclc::frontend {
namespace {

/// Places sections at addresses that are the same in every run.
class FixedAddressMapper : public SectionMemoryManager::MemoryMapper {
public:
  sys::MemoryBlock allocateMappedMemory(SectionMemoryManager::AllocationPurpose, size_t bytes,
                                        const sys::MemoryBlock *const, unsigned, std::error_code &error) override {
    constexpr std::size_t page = 0x10000;
    bytes = (bytes + page - 1) / page * page;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *wanted = static_cast<std::byte *>(codeAddressHint()) + used_;
    void *at = mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (at == MAP_FAILED) {
      error = std::error_code(errno, std::generic_category());
      return {};
    }
    used_ += bytes;
    error = {};
    return {at, bytes};
  }
  std::error_code protectMappedMemory(const sys::MemoryBlock &block, unsigned flags) override {
    return sys::Memory::protectMappedMemory(block, flags);
  }
  std::error_code releaseMappedMemory(sys::MemoryBlock &) override { return {}; } // not needed: the process ends soon

private:
  std::size_t used_ = 0;
};

/// Defines the allowed functions when they are needed, including those that code generation calls by itself (memcpy,
/// lround).
class RuntimeSymbols : public orc::DefinitionGenerator {
public:
  Error tryToGenerate(orc::LookupState &, orc::LookupKind, orc::JITDylib &library, orc::JITDylibLookupFlags,
                      const orc::SymbolLookupSet &names) override {
    orc::SymbolMap found;
    for (const auto &name : names)
      if (void *address = findRuntimeSymbol(std::string_view(*name.first)))
        found[name.first] = {orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
    return library.define(orc::absoluteSymbols(std::move(found)));
  }
};

/// Simplifies the code of Clang and of the instrumentation, at low cost. The algorithm runs only once, so more would
/// not pay off.
void simplify(Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder analyses;
  analyses.registerModuleAnalyses(modules);
  analyses.registerCGSCCAnalyses(components);
  analyses.registerFunctionAnalyses(functions);
  analyses.registerLoopAnalyses(loops);
  analyses.crossRegisterProxies(loops, functions, components, modules);
  modules.invalidate(module, AlwaysInlinerPass(/*InsertLifetime=*/false).run(module, modules));
  FunctionPassManager each;
  each.addPass(SROAPass(SROAOptions::ModifyCFG));
  each.addPass(EarlyCSEPass());
  each.addPass(SimplifyCFGPass());
  constexpr std::size_t maxBlocks = 8192; // more blocks take too long: SROA searches every block for each loop variable
  for (Function &function : module)
    if (!function.isDeclaration() && function.size() <= maxBlocks)
      each.run(function, functions);
}

/// Cuts long blocks. At every call, the fast register allocator visits all earlier values of the block. A generated
/// algorithm may be one block of very many calls.
void cutLongBlocks(Function &function) {
  constexpr std::size_t maxLength = 500;
  SmallVector<BasicBlock *, 16> blocks;
  for (BasicBlock &block : function)
    blocks.push_back(&block);
  for (BasicBlock *block : blocks) {
    SmallVector<Instruction *, 16> cuts;
    std::size_t length = 0;
    for (auto at = block->getFirstNonPHIOrDbgOrAlloca(); at != block->end(); ++at)
      if (isa<AllocaInst>(*at)) {
        cuts.clear(); // allocas of the first block are static, and must stay in that block
        length = 0;
      } else if (++length > maxLength && !at->isTerminator()) {
        cuts.push_back(&*at);
        length = 1;
      }
    for (Instruction *cut : llvm::reverse(cuts)) // in this order each instruction moves only once
      block->splitBasicBlock(cut);
  }
}

/// The processor that the attributes of functions name. It is the same for all functions. The attributes are removed,
/// so that LLVM describes the processor only once.
struct Processor {
  std::string name, features;
};
Processor takeProcessor(Module &module) {
  Processor found;
  AttributeMask said;
  for (const char *attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width"})
    said.addAttribute(attribute);
  for (Function &f : module) {
    if (found.name.empty() && f.hasFnAttribute("target-cpu")) {
      found.name = f.getFnAttribute("target-cpu").getValueAsString().str();
      found.features = f.getFnAttribute("target-features").getValueAsString().str();
    }
    f.removeFnAttrs(said);
  }
  return found;
}

/// Returns the target: a plain processor of this architecture, unless the user's arguments ask for another. So the code
/// is the same on every machine.
orc::JITTargetMachineBuilder targetOf(Module &module) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  const Processor processor = takeProcessor(module);
  orc::JITTargetMachineBuilder target{Triple(module.getTargetTriple())};
  target.setCPU(processor.name);
  target.setFeatures(processor.features);
  target.setCodeGenOptLevel(CodeGenOptLevel::None);
  target.setRelocationModel(Reloc::PIC_);
  target.setCodeModel(CodeModel::Small);
  target.getOptions().TrapUnreachable = true;     // unreachable code traps, and does not run into other code
  target.getOptions().NoTrapAfterNoreturn = true; // a failed check ends the run anyway, and a trap would cost time
  return target;
}

} // namespace

void (*generateCode(CompiledAlgorithm algorithm, std::string &error))() {
  Module &module = *algorithm.module;
  orc::JITTargetMachineBuilder target = targetOf(module);
  simplify(module);
  for (Function &function : module)
    cutLongBlocks(function);

  // LLJIT links with RuntimeDyld, and takes half a millisecond more than RuntimeDyld alone. But some callbacks of
  // RuntimeDyld differ between versions of LLVM. RuntimeDyld takes memory from a mapper, so addresses can be fixed.
  static FixedAddressMapper mapper;
  auto created = orc::LLJITBuilder()
                     .setJITTargetMachineBuilder(std::move(target))
                     .setDataLayout(module.getDataLayout())
                     .setLinkProcessSymbolsByDefault(false)
                     .setPlatformSetUp(orc::setUpInactivePlatform)
                     .setObjectLinkingLayerCreator([](orc::ExecutionSession &session, auto &&...) {
                       return std::make_unique<orc::RTDyldObjectLinkingLayer>(
                           session, [](auto &&...) { return std::make_unique<SectionMemoryManager>(&mapper); });
                     })
                     .create();
  if (!created) {
    error = toString(created.takeError());
    return nullptr;
  }
  orc::LLJIT &jit = *created->release(); // never destroyed, because the code lives as long as the process
  jit.getMainJITDylib().addGenerator(std::make_unique<RuntimeSymbols>());
  if (Error failed = jit.addIRModule({std::move(algorithm.module), std::move(algorithm.context)})) {
    error = toString(std::move(failed));
    return nullptr;
  }
  auto entry = jit.lookup(algorithm.function);
  if (!entry) {
    error = toString(entry.takeError());
    return nullptr;
  }
  return entry->toPtr<void (*)()>();
}

} // namespace mscclc::frontend
