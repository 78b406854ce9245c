#include "frontend/eval/evaluate.h"

#include "frontend/eval/arena.h"

#include "ir/internal_error.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <ucontext.h>

using namespace llvm;

namespace mscclc::frontend {

CompiledAlgorithm::CompiledAlgorithm() = default;
CompiledAlgorithm::CompiledAlgorithm(CompiledAlgorithm &&) noexcept = default;
CompiledAlgorithm &CompiledAlgorithm::operator=(CompiledAlgorithm &&) noexcept = default;
CompiledAlgorithm::~CompiledAlgorithm() = default;

namespace {

constexpr const char *entryName = "__mscclc_entry";

/// Converts arguments for the target's calling convention. Integers and doubles are unchanged. A string view becomes
/// its length and pointer, as two arguments or as one array of two words. Without free registers it is passed in
/// memory.
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

void runAlgorithm(void (*entry)()) {
  const std::span<std::byte> stack = arenaStack();
  static ucontext_t here, there;
  if (getcontext(&there) != 0)
    throw ir::InternalError("getcontext failed");
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here;
  makecontext(&there, entry, 0);
  swapcontext(&here, &there);
}

} // namespace mscclc::frontend
