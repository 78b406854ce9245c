#include "tokens.h"
#include "module.h"

#include <cctype>
#include <charconv>

namespace mscclc::ptx {
namespace {

bool beginsWord(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

class Tokeniser {
public:
  explicit Tokeniser(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (skipSpace(), at_ < text_.size())
      next();
    add(Token::End, at_, at_);
    return std::move(tokens_);
  }

private:
  char peek(std::size_t by = 0) const { return at_ + by < text_.size() ? text_[at_ + by] : '\0'; }

  void skipSpace() {
    for (; at_ < text_.size(); ++at_) {
      if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 1;
      else if (std::isspace(static_cast<unsigned char>(text_[at_])) == 0)
        return;
      if (peek() == '\n')
        ++line_;
    }
  }

  void add(Token::Kind kind, std::size_t first, std::size_t end, std::int64_t number = 0) {
    tokens_.push_back({kind, text_.substr(first, end - first), number, line_});
  }

  void next() {
    const char c = peek();
    if (c == '"') {
      const std::size_t end = std::min(text_.find('"', at_ + 1), text_.size());
      add(Token::Text, at_ + 1, end);
      at_ = end + 1;
    } else if (isDigit(c)) {
      number();
    } else if (beginsWord(c)) {
      const std::size_t first = at_;
      while (beginsWord(peek()) || isDigit(peek()) || text_.substr(at_, 2) == "::")
        at_ += peek() == ':' ? 2 : 1;
      add(Token::Word, first, at_);
    } else if (std::string_view("{}[](),;@!+-<>=:|").find(c) != std::string_view::npos) {
      add(Token::Sign, at_, at_ + 1);
      ++at_;
    } else {
      throw Unknown("line " + std::to_string(line_) + ": character '" + std::string(1, c) + "'");
    }
  }

  /// A decimal or hexadecimal integer, or the bits of a float as 0f and 0d write them.
  void number() {
    const std::size_t first = at_;
    const bool isHex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    const bool isBits = peek() == '0' && (peek(1) == 'f' || peek(1) == 'F' || peek(1) == 'd' || peek(1) == 'D');
    if (isHex || isBits)
      at_ += 2;
    const std::size_t digits = at_;
    while (std::isxdigit(static_cast<unsigned char>(peek())) != 0)
      ++at_;
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + digits, text_.data() + at_, value, isHex || isBits ? 16 : 10);
    if (error != std::errc() || end != text_.data() + at_)
      throw Unknown("line " + std::to_string(line_) + ": number " + std::string(text_.substr(first, at_ - first)));
    if (peek() == 'U')
      ++at_;
    add(Token::Number, first, at_, static_cast<std::int64_t>(value));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::vector<Token> tokens_;
};

} // namespace

std::vector<Token> tokensOf(std::string_view text) {
  return Tokeniser(text).run();
}

} // namespace mscclc::ptx
