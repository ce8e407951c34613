#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase einsum(const char* equation, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {},
              std::vector<Input> expected = {}) {
  return {.opset = 12,
          .attributes = {attr("equation", equation)},
          .inputs = std::move(inputs),
          .purpose = purpose,
          .fails = std::move(fails),
          .tolerance = 4e-6,
          .expected = std::move(expected)};
}

const std::vector<OpCase> kEinsum = {
    einsum("ij,jk->ik", {values({2, 2}, {1, 2, 3, 4}), values({2, 2}, {1, 1, 0, 2})}, "matrices", {}, {values({2, 2}, {1, 5, 3, 11})}),
    einsum("bhqd,bhkd->bhqk", {normal({2, 3, 5, 8}), normal({2, 3, 7, 8})}, "attention scores"),
    einsum("bhqk,bkhd->bqhd", {normal({2, 3, 5, 7}), normal({2, 7, 3, 4})}, "heads in other places"),
    einsum("ij->ji", {normal({3, 4})}, "transposed"),
    einsum("ijk->kij", {normal({5, 40, 33})}, "turned round"),
    einsum("bij,bj->bi", {normal({3, 40, 65}), normal({3, 65})}, "matrices by vectors"),
    einsum("bi,bij->bj", {normal({3, 40}), normal({3, 40, 33})}, "vectors by matrices"),
    einsum("bki,bkj->bij", {normal({2, 20, 17}), normal({2, 20, 18})}, "left matrices transposed"),
    einsum("bki,bjk->bij", {normal({2, 20, 17}), normal({2, 18, 20})}, "both transposed"),
    einsum("bki,k->bi", {normal({2, 20, 17}), normal({20})}, "transposed matrices by a vector"),
    einsum("bi,bj->bij", {normal({3, 5}), normal({3, 40})}, "outer products of a batch"),
    einsum("bij,bkj->bik", {normal({3, 37, 29}), normal({3, 70, 29})}, "several tiles, a batch"),
    einsum("ij,jk->ik", {normal({70, 33}), normal({33, 131})}, "several tiles"),
    einsum("bhld,lrd->bhlr", {normal({2, 2, 5, 37}), normal({5, 9, 37})}, "few rows by transposed matrices"),
    einsum("bid,bjd->bij", {normal({4, 8, 16}), normal({4, 18, 16})}, "the same of each batch"),
    einsum("bij,bj->bi", {normal({1, 6, 7}), normal({4, 7})}, "one matrix for a batch"),
    einsum("ij", {normal({3, 4})}, "as it is"),
    einsum("ba", {normal({3, 4})}, "implicit output is sorted"),
    einsum("ii->i", {normal({4, 4})}, "diagonal"),
    einsum("ii", {normal({4, 4})}, "trace"),
    einsum("ij->", {normal({3, 4})}, "sum"),
    einsum("ij->i", {normal({3, 4})}, "sum of rows"),
    einsum("i,j->ij", {normal({3}), normal({4})}, "outer product"),
    einsum("i,i", {normal({5}), normal({5})}, "inner product"),
    einsum("...ij,...jk->...ik", {normal({2, 1, 3, 4}), normal({5, 4, 2})}, "broadcast"),
    einsum(" b i d , i j -> b j ", {normal({2, 3, 4}), normal({3, 5})}, "spaces, a sum of one side"),
    einsum("ab,bc,cd->ad", {normal({2, 3}), normal({3, 4}), normal({4, 5})}, "three matrices"),
    einsum("a,b,c,abc->", {normal({2}), normal({3}), normal({4}), normal({2, 3, 4})}, "four tensors"),
    einsum("bii,bi->b", {normal({2, 3, 3}), normal({2, 3})}, "diagonals of a batch"),
    einsum("ij,jk->ik", {normal({3, 0}), normal({0, 4})}, "nothing to sum"),
    einsum("ij,jk->ik", {normal({0, 3}), normal({3, 4})}, "no rows"),
    einsum("->", {normal({})}, "a number"),
    einsum("ij,jk->ik", {normal({3, 4}), normal({5, 4})}, "sizes", {"Einsum(12)", "4", "5"}),
    einsum("ij,jk->ik", {normal({3, 4}), normal({4})}, "rank", {"Einsum(12)", "rank 1", "expected 2"}),
    einsum("ij,jk->il", {normal({3, 4}), normal({4, 2})}, "letter", {"'l'"}),
    einsum("ij,jk,kl->il", {normal({3, 4}), normal({4, 2})}, "terms", {"3 terms", "expected 2"}),
    einsum("i+j->i", {normal({3, 4})}, "sign", {"i+j"}),
    einsum("ij->ii", {normal({3, 3})}, "letter twice", {"each once"}),
};
RH_OP_TEST(Einsum, kEinsum, NumericTypes::set)

}  // namespace
}  // namespace rh::test
