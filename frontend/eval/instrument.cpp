#include "frontend/eval/instrument.h"

#include "frontend/dsl/dsl_library.h"
#include "frontend/eval/runtime_checks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cstddef>
#include <tuple>

using namespace llvm;

namespace mscclc::frontend {
namespace {

/// Returns a file name in the front end's form. Debug information may keep the folder separate.
std::string nameOf(const DIFile *file) {
  if (!file)
    return {};
  if (file->getFilename().starts_with("/") || file->getDirectory().empty() || file->getDirectory() == "/")
    return file->getFilename().str();
  return (file->getDirectory() + "/" + file->getFilename()).str();
}

/// Classifies functions by the owner of their source file.
class Classifier {
public:
  explicit Classifier(const StringMap<FileKind> &kinds) : kinds_(kinds) {}

  /// Returns the owner of the source file of a function. A function without debug information is one that Clang itself
  /// generated, and counts as System.
  FileKind kindOf(const Function &f) {
    const DISubprogram *subprogram = f.getSubprogram();
    if (!subprogram)
      return FileKind::System;
    const DIFile *file = subprogram->getFile();
    const auto [it, isNew] = known_.try_emplace(file, FileKind::User);
    if (isNew)
      if (const auto kind = kinds_.find(nameOf(file)); kind != kinds_.end())
        it->second = kind->second;
    return it->second;
  }

private:
  const StringMap<FileKind> &kinds_;
  DenseMap<const DIFile *, FileKind> known_;
};

CallSite siteAt(const DILocation &at) {
  return {nameOf(at.getFile()), at.getLine(), at.getColumn()};
}

/// Returns the first place in the user's code that uses `symbol`, directly or through other functions.
CallSite userOf(const GlobalValue &symbol, Classifier &classifier) {
  SetVector<const User *> open;
  open.insert(symbol.user_begin(), symbol.user_end());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const User *user = open[i];
    if (const auto *instruction = dyn_cast<Instruction>(user)) {
      const Function &f = *instruction->getFunction();
      if (classifier.kindOf(f) == FileKind::User && instruction->getDebugLoc())
        return siteAt(*instruction->getDebugLoc());
      user = &f;
    }
    open.insert(user->user_begin(), user->user_end());
  }
  return {};
}

class Instrumenter {
public:
  Instrumenter(Module &module, const StringMap<FileKind> &kinds)
      : module_(module), classifier_(kinds), word_(Type::getInt32Ty(module.getContext())),
        wide_(Type::getInt64Ty(module.getContext())) {
    auto *stackType = StructType::get(word_, ArrayType::get(word_, CallStack::capacity));
    stack_ = new GlobalVariable(module, stackType, false, GlobalValue::ExternalLinkage, nullptr, "__mscclc_call_stack");
    last_ = new GlobalVariable(module, wide_, false, GlobalValue::ExternalLinkage, nullptr, "__mscclc_last_place");
    spare_ =
        new GlobalVariable(module, word_, false, GlobalValue::InternalLinkage, ConstantInt::get(word_, 0), "spare");
    tooDeep_ = module.getOrInsertFunction("__mscclc_too_deep", Type::getVoidTy(module.getContext()));
    nullCall_ = module.getOrInsertFunction("__mscclc_null_call", Type::getVoidTy(module.getContext()));
  }

  std::vector<CallSite> run() {
    sites_.emplace_back();
    for (Function &f : module_)
      if (!f.isDeclaration() && classifier_.kindOf(f) == FileKind::User)
        instrument(f);
    return std::move(sites_);
  }

private:
  std::uint32_t site(const DILocation &at) {
    const auto key = std::make_tuple(at.getFile(), at.getLine(), at.getColumn());
    const auto [it, isNew] = ids_.try_emplace(key, static_cast<std::uint32_t>(sites_.size()));
    if (isNew)
      sites_.push_back(siteAt(at));
    return it->second;
  }

  bool isPushed(const CallBase &call) {
    if (isa<IntrinsicInst>(call) || call.isInlineAsm() || call.isMustTailCall() || !call.getDebugLoc())
      return false;
    const Function *callee = call.getCalledFunction();
    if (!callee)
      return true;
    const StringRef name = callee->getName();
    if (isListFunction(std::string_view(name)))
      return true;
    if (name.starts_with("__ubsan_") || name.starts_with("__mscclc_") || findDslFunction(std::string_view(name)))
      return false;
    return classifier_.kindOf(*callee) != FileKind::Dsl;
  }

  static bool isForeign(const Value *pointer) {
    pointer = pointer->stripInBoundsOffsets();
    return !isa<AllocaInst>(pointer) && !isa<GlobalValue>(pointer);
  }
  /// Returns true if an instruction may access memory that does not exist. Such an instruction has a variable length,
  /// or a pointer to neither a local nor a global variable.
  static bool mayFault(const Instruction &i) {
    if (const auto *load = dyn_cast<LoadInst>(&i))
      return isForeign(load->getPointerOperand());
    if (const auto *stored = dyn_cast<StoreInst>(&i))
      return isForeign(stored->getPointerOperand());
    if (const auto *memory = dyn_cast<MemTransferInst>(&i))
      return !isa<Constant>(memory->getLength()) || isForeign(memory->getRawDest()) ||
             isForeign(memory->getRawSource());
    if (const auto *memory = dyn_cast<MemSetInst>(&i))
      return !isa<Constant>(memory->getLength()) || isForeign(memory->getRawDest());
    return false;
  }

  void store(IRBuilder<> &builder, Value *value, Value *to) { builder.CreateStore(value, to)->setVolatile(true); }

  void instrument(Function &f) {
    SmallVector<CallBase *, 32> calls;
    SmallVector<Instruction *, 32> accesses;
    for (Instruction &i : instructions(f)) {
      if (auto *call = dyn_cast<CallBase>(&i); call && isPushed(*call))
        calls.push_back(call);
      else if (i.getDebugLoc() && i.getDebugLoc()->getLine() != 0 && mayFault(i))
        accesses.push_back(&i);
    }
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> backEdges;
    FindFunctionBackedges(f, backEdges);

    // The depth of the call stack is the same in the whole function, so one load at its beginning is enough.
    BasicBlock &entry = f.getEntryBlock();
    IRBuilder<> builder(&*entry.getFirstNonPHIOrDbgOrAlloca());
    builder.SetCurrentDebugLocation(DebugLoc());
    Value *depth = builder.CreateLoad(word_, stack_, "depth");
    Value *below = builder.CreateAdd(depth, ConstantInt::get(word_, 1), "depth.below");
    Value *isKept = builder.CreateICmpULT(depth, ConstantInt::get(word_, CallStack::capacity));
    Value *index = builder.CreateZExt(depth, wide_);
    static_assert(offsetof(CallStack, sites) == 4);
    Value *kept = builder.CreateGEP(stack_->getValueType(), stack_,
                                    {ConstantInt::get(wide_, 0), ConstantInt::get(word_, 1), index});
    Value *slot = builder.CreateSelect(isKept, kept, spare_, "site.slot");
    Value *high = builder.CreateShl(index, 32);
    const auto notePlace = [&](const DILocation &at) {
      store(builder, builder.CreateOr(high, ConstantInt::get(wide_, site(at))), last_);
    };
    if (const DILocation *first = firstLocation(entry))
      notePlace(*first);
    Value *isDeep = builder.CreateICmpUGE(depth, ConstantInt::get(word_, maxCallDepth));
    Instruction *rest = &*builder.GetInsertPoint();

    for (const auto &[from, to] : backEdges) {
      Instruction *end = const_cast<BasicBlock *>(from)->getTerminator();
      const DILocation *at = end->getDebugLoc() ? end->getDebugLoc().get() : firstLocation(*from);
      if (!at)
        at = firstLocation(*to);
      if (!at)
        continue;
      builder.SetInsertPoint(end);
      builder.SetCurrentDebugLocation(DebugLoc());
      notePlace(*at);
    }
    for (Instruction *access : accesses) {
      builder.SetInsertPoint(access);
      builder.SetCurrentDebugLocation(DebugLoc());
      notePlace(*access->getDebugLoc());
    }
    for (CallBase *call : calls) {
      builder.SetInsertPoint(call);
      builder.SetCurrentDebugLocation(DebugLoc());
      store(builder, ConstantInt::get(word_, site(*call->getDebugLoc())), slot);
      store(builder, below, stack_);
      if (auto *plain = dyn_cast<CallInst>(call)) {
        builder.SetInsertPoint(plain->getNextNode());
        builder.SetCurrentDebugLocation(DebugLoc());
        store(builder, depth, stack_);
        // The called function may have stored a last place of its own. An error in the next call must not use this
        // place.
        if (const Function *callee = plain->getCalledFunction(); !callee || !callee->isDeclaration())
          notePlace(*plain->getDebugLoc());
      }
    }

    // The split comes last, because it moves instructions to another block.
    BasicBlock *tail = entry.splitBasicBlock(rest->getIterator());
    BasicBlock *deep = BasicBlock::Create(module_.getContext(), "too.deep", &f);
    builder.SetInsertPoint(deep);
    builder.CreateCall(tooDeep_);
    builder.CreateUnreachable();
    entry.getTerminator()->eraseFromParent();
    builder.SetInsertPoint(&entry);
    builder.CreateCondBr(isDeep, deep, tail);
    for (CallBase *call : calls) {
      if (call->getCalledFunction())
        continue;
      builder.SetInsertPoint(call);
      builder.SetCurrentDebugLocation(DebugLoc());
      Value *isNull = builder.CreateIsNull(call->getCalledOperand());
      builder.SetInsertPoint(SplitBlockAndInsertIfThen(isNull, call->getIterator(), /*Unreachable=*/true));
      builder.CreateCall(nullCall_);
    }
  }

  static const DILocation *firstLocation(const BasicBlock &block) {
    for (const Instruction &i : block)
      if (const DILocation *at = i.getDebugLoc(); at && at->getLine() != 0)
        return at;
    return nullptr;
  }

  Module &module_;
  Classifier classifier_;
  Type *word_, *wide_;
  GlobalVariable *stack_, *last_, *spare_;
  FunctionCallee tooDeep_, nullCall_;
  std::vector<CallSite> sites_;
  DenseMap<std::tuple<const DIFile *, unsigned, unsigned>, std::uint32_t> ids_;
};

} // namespace

std::vector<MissingSymbol> pruneModule(CompiledAlgorithm &algorithm, const StringMap<FileKind> &kinds) {
  Module &module = *algorithm.module;
  for (const char *name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *list = module.getNamedGlobal(name))
      list->eraseFromParent();
  for (GlobalValue &value : module.global_values()) {
    if (value.isDeclaration() || value.getName() == algorithm.function || value.getName().starts_with("llvm."))
      continue;
    value.setLinkage(GlobalValue::InternalLinkage);
    value.setVisibility(GlobalValue::DefaultVisibility);
    value.setDSOLocal(true);
    if (auto *object = dyn_cast<GlobalObject>(&value))
      object->setComdat(nullptr);
  }
  ModuleAnalysisManager noAnalyses;
  GlobalDCEPass().run(module, noAnalyses);

  std::vector<MissingSymbol> missing;
  Classifier classifier(kinds);
  for (const GlobalValue &value : module.global_values()) {
    const auto *function = dyn_cast<Function>(&value);
    if (!value.isDeclaration() || value.use_empty() || (function && function->isIntrinsic()) ||
        findRuntimeSymbol(std::string_view(value.getName())))
      continue;
    missing.push_back({demangle(std::string_view(value.getName())), userOf(value, classifier)});
  }
  return missing;
}

std::vector<CallSite> instrument(Module &module, const StringMap<FileKind> &kinds) {
  std::vector<CallSite> sites = Instrumenter(module, kinds).run();
  StripDebugInfo(module);
  return sites;
}

} // namespace mscclc::frontend
