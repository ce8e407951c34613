// Inline PTX, each instruction in one wrapper: under the stand its name for the instruction.
#pragma once
#ifdef RH_CUDA_STAND
#define mma_m16n8k16_f16 stand_mma_m16n8k16_f16
#define mma_m16n8k16_bf16 stand_mma_m16n8k16_bf16
#define mma_m16n8k8_tf32 stand_mma_m16n8k8_tf32
#define load_matrix_x4 stand_ldmatrix_x4
#define load_matrix_x2_transposed stand_ldmatrix_x2_trans
#define copy_async_commit stand_cp_async_commit
__device__ inline void copy_async_16(void* to, const void* from) { stand_cp_async(to, from, 16, 16); }
template <int kGroupsLeft>
__device__ inline void copy_async_wait() {
  stand_cp_async_wait(kGroupsLeft);
}
#else
__device__ inline void mma_m16n8k16_f16(float* d, const unsigned* a, const unsigned* b, const float* c) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ inline void mma_m16n8k16_bf16(float* d, const unsigned* a, const unsigned* b, const float* c) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ inline void mma_m16n8k8_tf32(float* d, const unsigned* a, const unsigned* b, const float* c) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ inline unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void load_matrix_x4(unsigned* r, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}
__device__ inline void load_matrix_x2_transposed(unsigned* r, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)));
}
__device__ inline void copy_async_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}
__device__ inline void copy_async_commit() { asm volatile("cp.async.commit_group;"); }
template <int kGroupsLeft>
__device__ inline void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroupsLeft));
}
#endif
