#include "support/op_case.h"

namespace rh::test {
namespace {

using Names = std::vector<std::string>;
constexpr char kMs[] = "com.microsoft";

const std::vector<OpCase> kStringConcat = {
    {20, {}, {strings({2}, {"a", ""}), strings({2}, {"b", "é"})}, "one to one"},
    {20, {}, {strings({2, 1}, {"x", "y"}), strings({3}, {"1", "2", "3"})}, "broadcast"},
    {20, {}, {strings({}, {"x"}), strings({}, {"y"})}, "scalars"},
    {20, {}, {strings({0}, {}), strings({1}, {"y"})}, "nothing"},
    {20, {}, {strings({2}, {"a", "b"}), strings({3}, {"1", "2", "3"})}, "shapes that do not meet", {"StringConcat(", "3"}},
};
RH_OP_TEST(StringConcat, kStringConcat, (Types<std::string>::set))

const std::vector<OpCase> kStringSplit = {
    {20, {}, {strings({3}, {"a b  c", " x ", ""})}, "white space", {}, 2},
    {20, {attr("delimiter", " ")}, {strings({3}, {"a b  c", " x ", ""})}, "blank", {}, 2},
    {20, {attr("delimiter", "XX"), attr("maxsplit", 1)}, {strings({1, 2}, {"aXXbXXc", "bXX"})}, "at most one split", {}, 2},
    {20, {attr("maxsplit", 1)}, {strings({2}, {"  a b  c ", "x"})}, "at most one split at white space", {}, 2},
    {20, {attr("maxsplit", 0), attr("delimiter", ",")}, {strings({1}, {"a,b"})}, "no split", {}, 2},
    {20, {attr("delimiter", ",")}, {strings({0}, {})}, "nothing", {}, 2},
    {20, {attr("delimiter", ",")}, {strings({2}, {"", ""})}, "empty strings", {}, 2},
    {20, {}, {strings({}, {"a b"})}, "a scalar", {}, 2},
};
RH_OP_TEST(StringSplit, kStringSplit, (Types<std::string>::set))

const std::vector<OpCase> kRegexFullMatch = {
    {20, {attr("pattern", "[a-z]+")}, {strings({4}, {"abc", "ab\n", "", "Abc"})}, "letters"},
    {20, {attr("pattern", R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))")}, {strings({2, 1}, {"a@gmail.com", "a@gmail.org"})}, "mail"},
    {20, {attr("pattern", ".")}, {strings({2}, {"é", "ab"})}, "one character"},
    {20, {attr("pattern", ".*")}, {strings({0}, {})}, "nothing"},
    {20, {attr("pattern", "(")}, {strings({1}, {"a"})}, "no regular expression", {"'('", "missing )"}},
};
RH_OP_TEST(RegexFullMatch, kRegexFullMatch, (Types<std::string>::set))

std::vector<Attribute> tokens(std::vector<Attribute> more, int mark = 0, int least = 1) {
  more.insert(more.end(), {attr("mark", mark), attr("mincharnum", least), attr("pad_value", "#")});
  return more;
}
Attribute at(Names separators) { return attr("separators", std::move(separators)); }
Attribute of(const char* pattern) { return attr("tokenexp", pattern); }

const std::vector<OpCase> kTokenizer = {
    {1, tokens({at({" "})}), {strings({2}, {"Hello World", "I love  it !"})}, "a separator", {}, 1, 0, kMs},
    {1, tokens({at({",", " "})}, 1), {strings({2, 1}, {"Hello World", "a,b c"})}, "separators and marks", {}, 1, 0, kMs},
    {1, tokens({at({"--", "-"})}), {strings({1}, {"a--b-c"})}, "one after the other", {}, 1, 0, kMs},
    {1, tokens({at({"1|12", "\\s+"})}), {strings({2}, {"a12b", "a \t b"})}, "longest match", {}, 1, 0, kMs},
    {1, tokens({at({"b*"})}), {strings({1}, {"abc"})}, "separator that matches nothing", {}, 1, 0, kMs},
    {1, tokens({at({" "})}, 1), {strings({2}, {"", ""})}, "no tokens", {}, 1, 0, kMs},
    {1, tokens({at({" "})}, 0, 2), {strings({2}, {"ab c déf", "é a b"})}, "short tokens", {}, 1, 0, kMs},
    {1, tokens({at({""})}), {strings({2}, {"aé b", "xyz"})}, "characters", {}, 1, 0, kMs},
    {1, tokens({at({""})}, 1), {strings({1, 2}, {"abc", ""})}, "characters and marks", {}, 1, 0, kMs},
    {1, tokens({at({""})}), {strings({3}, {"a😀é日", "", "x"})}, "characters of one to four bytes", {}, 1, 0, kMs},
    {1, tokens({at({""})}), {strings({2}, {"a", "b\xff"})}, "characters that are not UTF-8", {"string 1", "UTF-8"}, 1, 0, kMs},
    {1, tokens({of("[a-zA-Z0-9_]+")}, 1), {strings({2}, {"the cat, sat!", "on 2 mats"})}, "words", {}, 1, 0, kMs},
    {1, tokens({of(".")}), {strings({2}, {"a\nb é", "x"})}, "a token for each character, ends of lines as well", {}, 1, 0, kMs},
    {1, tokens({of(".")}, 0, 2), {strings({1}, {"ab"})}, "characters that are too short", {"mincharnum", "2"}, 1, 0, kMs},
    {1, tokens({of("a|ab")}), {strings({1}, {"abab"})}, "longest token", {}, 1, 0, kMs},
    {1, tokens({of("b*")}), {strings({1}, {"xabby"})}, "tokens of nothing", {}, 1, 0, kMs},
    {1, tokens({of("[a-z]+")}, 0, 2), {strings({1}, {"ab c def"})}, "short matches", {}, 1, 0, kMs},
    {1, tokens({of("^ab")}), {strings({1}, {"abab"})}, "anchored to the text", {}, 1, 0, kMs},
    {1, tokens({of("\\bab\\b")}), {strings({1}, {"ab xab ab"})}, "word boundaries", {}, 1, 0, kMs},
    {1, tokens({of("a[0-9]+")}), {strings({2}, {"aaaaa1 ab a22", "ba3a4"})}, "places where nothing follows", {}, 1, 0, kMs},
    {1,
     tokens({of("(?i:ab|c)+|[ä-ü]{2}")}),
     {strings({2}, {"xABcz äüä", "dAbé€"})},
     "cases and characters of several bytes",
     {},
     1,
     0,
     kMs},
    {1, tokens({of("[b-d]?(x|$)")}), {strings({2}, {"abx d", "cd"})}, "the end of the text", {}, 1, 0, kMs},
    {1, tokens({}), {strings({1}, {"a"})}, "no way to split", {"separators", "tokenexp"}, 1, 0, kMs},
    {1, tokens({of("(")}), {strings({1}, {"a"})}, "no regular expression", {"'('"}, 1, 0, kMs},
    {1, tokens({at({" "})}, 0, 0), {strings({1}, {"a"})}, "no characters", {"mincharnum", "0"}, 1, 0, kMs},
    {1, tokens({at({" "})}), {strings({1, 1, 1}, {"a"})}, "three dimensions", {"[1, 1, 1]", "[N, C]"}, 1, 0, kMs},
    {1, tokens({at({" "})}), {strings({1}, {"a\xff"})}, "not UTF-8", {"string 0", "UTF-8"}, 1, 0, kMs},
};
RH_OP_TEST(Tokenizer, kTokenizer, (Types<std::string>::set))

const std::vector<OpCase> kMurmurHash3 = {
    {1, {}, {uniform({2, 3}, 0, 1000)}, "positive", {}, 1, 0, kMs},
    {1, {attr("positive", 0), attr("seed", 7)}, {uniform({5}, 0, 1000)}, "signed, another seed", {}, 1, 0, kMs},
    {1, {}, {values({3}, {0, 1.5, -2}).as(DType::float32)}, "floats", {}, 1, 0, kMs},
    {1, {attr("seed", 3)}, {values({3}, {0, 1.5, -2}).as(DType::float64)}, "doubles", {}, 1, 0, kMs},
    {1, {attr("seed", -7)}, {strings({5}, {"", "a", "ab", "abcde", "naïve text of some length"})}, "strings", {}, 1, 0, kMs},
};
RH_OP_TEST(MurmurHash3, kMurmurHash3, (Types<uint32_t, int32_t, uint64_t, int64_t>::set))

std::vector<Attribute> grams(const char* mode, int least, int skips, std::vector<Attribute> more = {}) {
  more.insert(more.end(), {attr("mode", mode), attr("min_gram_length", least), attr("max_gram_length", 2), attr("max_skip_count", skips),
                           attr("ngram_counts", {0, 4}), attr("ngram_indexes", {0, 1, 2, 3, 4, 5, 8}),
                           attr("pool_int64s", {2, 3, 5, 4, 5, 6, 7, 8, 6, 7})});
  return more;
}
const Attribute kWeights = attr("weights", std::vector<float>{1, 2, 3, 4, 5, 6, 7});
const Input kNumbers = values({2, 6}, {1, 1, 3, 7, 8, 6, 7, 5, 6, 8, 6, 7}).as(DType::int32);

const std::vector<OpCase> kTfIdfVectorizer = {
    {9, grams("TF", 2, 0), {kNumbers}, "pairs"},
    {9, grams("TF", 1, 3), {kNumbers}, "single elements and pairs with skips"},
    {9, grams("TFIDF", 1, 1, {kWeights}), {kNumbers}, "weighted counts"},
    {9, grams("IDF", 1, 1, {kWeights}), {kNumbers}, "weights"},
    {9, grams("IDF", 1, 5), {values({4}, {5, 6, 5, 6}).as(DType::int64)}, "a row without weights"},
    {9, grams("TF", 1, 0), {values({2, 0}, {}).as(DType::int64)}, "no elements"},
    {9,
     {attr("mode", "TF"), attr("min_gram_length", 1), attr("max_gram_length", 2), attr("max_skip_count", 0), attr("ngram_counts", {0, 2}),
      attr("ngram_indexes", {1, 0, 2}), attr("pool_strings", Names{"a", "b", "a", "b"})},
     {strings({2, 3}, {"a", "b", "a", "x", "a", "b"})},
     "strings"},
    {9, grams("BM25", 1, 0), {kNumbers}, "unknown mode", {"BM25", "TFIDF"}},
    {9, grams("TF", 3, 0), {kNumbers}, "lengths", {"min_gram_length 3", "max_gram_length 2"}},
    {9, grams("TF", 1, 0, {attr("weights", std::vector<float>{1})}), {kNumbers}, "too few weights", {"1 weights", "7 ngram_indexes"}},
    {9, grams("TF", 1, 0), {strings({1}, {"a"})}, "other type than the pool", {"string", "integer"}},
    {9, grams("TF", 1, 0), {values({1, 1, 1}, {0}).as(DType::int32)}, "three dimensions", {"[1, 1, 1]"}},
    {9,
     {attr("mode", "TF"), attr("min_gram_length", 1), attr("max_gram_length", 2), attr("max_skip_count", 0), attr("ngram_counts", {0, 40}),
      attr("ngram_indexes", {1}), attr("pool_int64s", {1, 2})},
     {kNumbers},
     "places outside the pool",
     {"ngram_counts", "40"}},
    {9,
     {attr("mode", "TF"), attr("min_gram_length", 1), attr("max_gram_length", 1), attr("max_skip_count", 0), attr("ngram_counts", {0}),
      attr("ngram_indexes", {0, 1}), attr("pool_int64s", {1, 1})},
     {kNumbers},
     "an n-gram twice",
     {"n-gram 1"}},
};
RH_OP_TEST(TfIdfVectorizer, kTfIdfVectorizer, (Types<int32_t>::set))

}  // namespace
}  // namespace rh::test
