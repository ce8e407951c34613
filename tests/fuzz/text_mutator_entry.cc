#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fuzz/model_mutator.h"
#include "ops/registry.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

/// Words, numbers and strings whole, all else one character each.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (in_word(text[i])) {
      while (end < text.size() && in_word(text[end])) ++end;
    } else if (text[i] == '"') {
      while (end < text.size() && text[end] != '"') ++end;
      end = std::min(end + 1, text.size());
    }
    tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

bool is_number(const std::string& token) { return !token.empty() && std::isdigit(static_cast<unsigned char>(token[0])); }

void change(std::vector<std::string>& tokens, std::minstd_rand& random) {
  const auto any = [&]() -> std::string& { return tokens[random() % tokens.size()]; };
  const auto place = [&] { return tokens.begin() + static_cast<ptrdiff_t>(random() % tokens.size()); };
  static const std::vector<std::string> words = {"float", "int64",     "int4",      "string", "bool", "float16",   "seq", "optional", "map",
                                                 "[",     "]",         "{",         "}",      "(",    ")",         "<",   ">",        ",",
                                                 "=",     "?",         "...",       "_",      "@",    "-",         "::",  "type",     "coo",
                                                 "csr",   "undefined", "floor_div", "min",    "1.5",  "0x7fc00001"};
  switch (random() % 6) {
    case 0: {
      std::string& token = any();
      token = is_number(token) || random() % 2 ? std::to_string(rh::fuzz::interesting_integer(random)) : any();
      break;
    }
    case 1: any() = any(); break;
    case 2: any() = words[random() % words.size()]; break;
    case 3: any() = rh::all_ops()[random() % rh::all_ops().size()].op_type; break;
    case 4: {
      const auto begin = place();
      tokens.erase(begin, begin + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(1 + random() % 8), tokens.end() - begin));
      break;
    }
    default: {
      const auto begin = place();
      const std::vector<std::string> part(begin,
                                          begin + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(1 + random() % 12), tokens.end() - begin));
      tokens.insert(place(), part.begin(), part.end());
    }
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (size == 0 || seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::minstd_rand random(seed);
  auto tokens = tokens_of({reinterpret_cast<const char*>(data), size});
  for (unsigned i = 0; i <= seed / 16 % 3 && !tokens.empty(); ++i) change(tokens, random);
  std::string result;
  for (const std::string& token : tokens) result += token;
  result.resize(std::min(result.size(), max_size));
  std::memcpy(data, result.data(), result.size());
  return result.size();
}
