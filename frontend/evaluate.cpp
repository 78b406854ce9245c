#include "frontend/evaluate.h"

#include "frontend/arena.h"

#include "ir/internal_error.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <sys/mman.h>
#include <ucontext.h>

using namespace llvm;

namespace mscclc::frontend {

CompiledAlgorithm::CompiledAlgorithm() = default;
CompiledAlgorithm::CompiledAlgorithm(CompiledAlgorithm &&) noexcept = default;
CompiledAlgorithm &CompiledAlgorithm::operator=(CompiledAlgorithm &&) noexcept = default;
CompiledAlgorithm::~CompiledAlgorithm() = default;

namespace {

constexpr const char *entryName = "__mscclc_entry";

/// Arguments as the target's calling convention wants them: integers and doubles as themselves, a string view as its
/// length and pointer, in two arguments or in one array of two words.
/// Where the registers are used up, a string view lies in memory as it is.
SmallVector<Value *, 8> lowerArguments(Module &module, const Function &function, std::span<const Argument> arguments) {
  const FunctionType &type = *function.getFunctionType();
  SmallVector<Value *, 8> values;
  unsigned next = 0;
  const auto nextType = [&]() -> Type * {
    if (next == type.getNumParams())
      throw ir::InternalError("an algorithm has fewer machine-level parameters than arguments");
    return type.getParamType(next++);
  };
  for (const Argument &argument : arguments) {
    Type *expected = nextType();
    switch (argument.kind) {
    case Argument::Integer:
      if (!expected->isIntegerTy())
        throw ir::InternalError("an integer parameter is not passed as an integer");
      values.push_back(ConstantInt::get(expected->getContext(),
                                        APInt(64, argument.bits).sextOrTrunc(expected->getIntegerBitWidth())));
      break;
    case Argument::Double:
      if (!expected->isDoubleTy())
        throw ir::InternalError("a double is not passed as a double");
      values.push_back(ConstantFP::get(expected, argument.number));
      break;
    case Argument::Text: {
      Constant *bytes = ConstantDataArray::getString(module.getContext(), argument.text, /*AddNull=*/true);
      auto *text = new GlobalVariable(module, bytes->getType(), true, GlobalValue::InternalLinkage, bytes, "argument");
      if (auto *pair = dyn_cast<ArrayType>(expected); pair && pair->getNumElements() == 2) {
        Type *word = pair->getElementType();
        values.push_back(ConstantArray::get(
            pair, {ConstantInt::get(word, argument.text.size()), ConstantExpr::getPtrToInt(text, word)}));
      } else if (expected->isIntegerTy(64)) {
        if (!nextType()->isPointerTy())
          throw ir::InternalError("a string view is not passed as length and pointer");
        values.push_back(ConstantInt::get(expected, argument.text.size()));
        values.push_back(text);
      } else if (function.hasParamAttribute(next - 1, Attribute::ByVal)) {
        Constant *view = ConstantStruct::getAnon(
            {ConstantInt::get(Type::getInt64Ty(module.getContext()), argument.text.size()), text});
        values.push_back(new GlobalVariable(module, view->getType(), true, GlobalValue::InternalLinkage, view, "view"));
      } else {
        throw ir::InternalError("a string view is not passed as length and pointer");
      }
      break;
    }
    }
  }
  if (next != type.getNumParams())
    throw ir::InternalError("an algorithm has more machine-level parameters than arguments");
  return values;
}

/// Sections at addresses that are the same in every run.
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
  std::error_code releaseMappedMemory(sys::MemoryBlock &) override { return {}; } // the process ends soon

private:
  std::size_t used_ = 0;
};

/// Finds the allowed functions, also those that code generation calls by itself (memcpy, lround), when they are needed.
class RuntimeSymbols : public orc::DefinitionGenerator {
public:
  Error tryToGenerate(orc::LookupState &, orc::LookupKind, orc::JITDylib &library, orc::JITDylibLookupFlags,
                      const orc::SymbolLookupSet &names) override {
    orc::SymbolMap found;
    for (const auto &[name, flags] : names)
      if (void *address = findRuntimeSymbol(std::string_view(*name)))
        found[name] = {orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
    return library.define(orc::absoluteSymbols(std::move(found)));
  }
};

/// Cheap clean-up of what Clang and the instrumentation leave; the algorithm runs once, so more would not pay.
void simplify(Module &module) {
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  modules.invalidate(module, AlwaysInlinerPass(/*InsertLifetime=*/false).run(module, modules));
  FunctionPassManager each;
  each.addPass(SROAPass(SROAOptions::ModifyCFG));
  each.addPass(EarlyCSEPass());
  each.addPass(SimplifyCFGPass());
  constexpr std::size_t maxBlocks = 8192; // SROA looks for a loop's variable in every block
  for (Function &function : module)
    if (!function.isDeclaration() && function.size() <= maxBlocks)
      each.run(function, functions);
}

/// Cuts long blocks: at every call the fast register allocator goes over all values that the block has had so far, and
/// a generated algorithm may be one block of very many calls.
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
        cuts.clear(); // those of the first block are static and stay there
        length = 0;
      } else if (++length > maxLength && !at->isTerminator()) {
        cuts.push_back(&*at);
        length = 1;
      }
    for (Instruction *cut : llvm::reverse(cuts)) // so each instruction moves once
      block->splitBasicBlock(cut);
  }
}

/// Removes an attribute from all functions. The result is the value that it had where it was.
std::string takeAttribute(Module &module, StringRef name) {
  std::string value;
  for (Function &f : module)
    if (f.hasFnAttribute(name)) {
      value = f.getFnAttribute(name).getValueAsString().str();
      f.removeFnAttr(name);
    }
  return value;
}

Expected<orc::ExecutorAddr> linkModule(CompiledAlgorithm algorithm, std::unique_ptr<orc::LLJIT> &jit) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Module &module = *algorithm.module;

  // A plain processor of this architecture, unless the user's arguments ask for another: the same code everywhere. Said
  // once and not by each function, LLVM describes it once.
  orc::JITTargetMachineBuilder target{Triple(module.getTargetTriple())};
  target.setCPU(takeAttribute(module, "target-cpu"));
  target.setFeatures(takeAttribute(module, "target-features"));
  takeAttribute(module, "tune-cpu");
  takeAttribute(module, "min-legal-vector-width");
  target.setCodeGenOptLevel(CodeGenOptLevel::None);
  target.setRelocationModel(Reloc::PIC_);
  target.setCodeModel(CodeModel::Small);
  target.getOptions().TrapUnreachable = true; // what no check has caught stops there, and runs into nothing else
  static FixedAddressMapper mapper;
  auto built = orc::LLJITBuilder()
                   .setJITTargetMachineBuilder(std::move(target))
                   .setLinkProcessSymbolsByDefault(false)
                   .setPlatformSetUp(orc::setUpInactivePlatform)
                   .setObjectLinkingLayerCreator([](orc::ExecutionSession &session, auto &&...) {
                     auto layer = std::make_unique<orc::RTDyldObjectLinkingLayer>(
                         session, [](auto &&...) { return std::make_unique<SectionMemoryManager>(&mapper); });
                     return Expected<std::unique_ptr<orc::ObjectLayer>>(std::move(layer));
                   })
                   .create();
  if (!built)
    return built.takeError();
  jit = std::move(*built);
  module.setDataLayout(jit->getDataLayout());
  simplify(module);
  for (Function &function : module)
    cutLongBlocks(function);

  jit->getMainJITDylib().addGenerator(std::make_unique<RuntimeSymbols>());
  if (Error error = jit->addIRModule(orc::ThreadSafeModule(std::move(algorithm.module), std::move(algorithm.context))))
    return error;
  return jit->lookup(entryName);
}

} // namespace

void addEntry(CompiledAlgorithm &algorithm) {
  Module &module = *algorithm.module;
  LLVMContext &context = module.getContext();
  Function *function = module.getFunction(algorithm.function);
  if (!function)
    throw ir::InternalError("the algorithm's function was not generated");
  auto *entry = Function::Create(FunctionType::get(Type::getVoidTy(context), false), GlobalValue::ExternalLinkage,
                                 entryName, module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  if (GlobalVariable *constructors = module.getNamedGlobal("llvm.global_ctors")) {
    if (auto *list = dyn_cast_or_null<ConstantArray>(constructors->getInitializer()))
      for (const Use &use : list->operands())
        if (auto *f = dyn_cast<Function>(cast<ConstantStruct>(use)->getOperand(1)))
          builder.CreateCall(f);
    constructors->eraseFromParent();
  }
  CallInst *call = builder.CreateCall(function, lowerArguments(module, *function, algorithm.arguments));
  call->setAttributes(function->getAttributes());
  call->setCallingConv(function->getCallingConv());
  builder.CreateRetVoid();
  algorithm.function = entryName;
}

LinkedAlgorithm LinkedAlgorithm::link(CompiledAlgorithm algorithm, std::string &error) {
  // The code lives as long as the process does.
  static std::unique_ptr<orc::LLJIT> jit;
  LinkedAlgorithm linked;
  if (auto address = linkModule(std::move(algorithm), jit))
    linked.entry_ = address->toPtr<void (*)()>();
  else
    error = toString(address.takeError());
  return linked;
}

void LinkedAlgorithm::run() const {
  const std::span<std::byte> stack = arenaStack();
  static ucontext_t here, there;
  if (getcontext(&there) != 0)
    throw ir::InternalError("getcontext failed");
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here;
  makecontext(&there, entry_, 0);
  swapcontext(&here, &there);
}

} // namespace mscclc::frontend
