// The arithmetic that __half and __nv_bfloat16 have in common: STAND_NUMBER and STAND_PAIR name the types. Included once for each of them.
inline STAND_NUMBER __hadd(STAND_NUMBER a, STAND_NUMBER b) { return STAND_NUMBER::exact(a.wide() + b.wide()); }
inline STAND_NUMBER __hsub(STAND_NUMBER a, STAND_NUMBER b) { return STAND_NUMBER::exact(a.wide() - b.wide()); }
inline STAND_NUMBER __hmul(STAND_NUMBER a, STAND_NUMBER b) { return STAND_NUMBER::exact(a.wide() * b.wide()); }
inline STAND_NUMBER __hdiv(STAND_NUMBER a, STAND_NUMBER b) { return STAND_NUMBER(static_cast<float>(a) / static_cast<float>(b)); }
inline STAND_NUMBER __hfma(STAND_NUMBER a, STAND_NUMBER b, STAND_NUMBER c) { return STAND_NUMBER::exact(a.wide() * b.wide() + c.wide()); }
inline STAND_NUMBER __hneg(STAND_NUMBER a) { return STAND_NUMBER(-static_cast<float>(a)); }
inline STAND_NUMBER __habs(STAND_NUMBER a) { return STAND_NUMBER(__builtin_fabsf(static_cast<float>(a))); }
inline STAND_NUMBER __hmax(STAND_NUMBER a, STAND_NUMBER b) { return STAND_NUMBER(stand_max<float>(a, b)); }
inline STAND_NUMBER __hmin(STAND_NUMBER a, STAND_NUMBER b) { return STAND_NUMBER(stand_min<float>(a, b)); }
inline bool __heq(STAND_NUMBER a, STAND_NUMBER b) { return static_cast<float>(a) == static_cast<float>(b); }
inline bool __hne(STAND_NUMBER a, STAND_NUMBER b) { return static_cast<float>(a) != static_cast<float>(b); }
inline bool __hlt(STAND_NUMBER a, STAND_NUMBER b) { return static_cast<float>(a) < static_cast<float>(b); }
inline bool __hle(STAND_NUMBER a, STAND_NUMBER b) { return static_cast<float>(a) <= static_cast<float>(b); }
inline bool __hgt(STAND_NUMBER a, STAND_NUMBER b) { return static_cast<float>(a) > static_cast<float>(b); }
inline bool __hge(STAND_NUMBER a, STAND_NUMBER b) { return static_cast<float>(a) >= static_cast<float>(b); }
inline bool __hisnan(STAND_NUMBER a) { return !__heq(a, a); }
inline STAND_NUMBER hexp(STAND_NUMBER a) { return STAND_NUMBER(expf(a)); }
inline STAND_NUMBER hlog(STAND_NUMBER a) { return STAND_NUMBER(logf(a)); }
inline STAND_NUMBER hsqrt(STAND_NUMBER a) { return STAND_NUMBER(sqrtf(a)); }
inline STAND_NUMBER hrsqrt(STAND_NUMBER a) { return STAND_NUMBER(rsqrtf(a)); }
inline STAND_NUMBER hrcp(STAND_NUMBER a) { return STAND_NUMBER(1.0f / static_cast<float>(a)); }
inline STAND_NUMBER htanh(STAND_NUMBER a) { return STAND_NUMBER(tanhf(a)); }
inline STAND_NUMBER operator+(STAND_NUMBER a, STAND_NUMBER b) { return __hadd(a, b); }
inline STAND_NUMBER operator-(STAND_NUMBER a, STAND_NUMBER b) { return __hsub(a, b); }
inline STAND_NUMBER operator*(STAND_NUMBER a, STAND_NUMBER b) { return __hmul(a, b); }
inline STAND_NUMBER operator/(STAND_NUMBER a, STAND_NUMBER b) { return __hdiv(a, b); }
inline STAND_NUMBER operator-(STAND_NUMBER a) { return __hneg(a); }
inline STAND_NUMBER& operator+=(STAND_NUMBER& a, STAND_NUMBER b) { return a = a + b; }
inline STAND_NUMBER& operator-=(STAND_NUMBER& a, STAND_NUMBER b) { return a = a - b; }
inline STAND_NUMBER& operator*=(STAND_NUMBER& a, STAND_NUMBER b) { return a = a * b; }
inline STAND_NUMBER& operator/=(STAND_NUMBER& a, STAND_NUMBER b) { return a = a / b; }
inline bool operator==(STAND_NUMBER a, STAND_NUMBER b) { return __heq(a, b); }
inline bool operator!=(STAND_NUMBER a, STAND_NUMBER b) { return __hne(a, b); }
inline bool operator<(STAND_NUMBER a, STAND_NUMBER b) { return __hlt(a, b); }
inline bool operator>(STAND_NUMBER a, STAND_NUMBER b) { return __hgt(a, b); }
inline bool operator<=(STAND_NUMBER a, STAND_NUMBER b) { return __hle(a, b); }
inline bool operator>=(STAND_NUMBER a, STAND_NUMBER b) { return __hge(a, b); }
inline STAND_PAIR __hadd2(STAND_PAIR a, STAND_PAIR b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
inline STAND_PAIR __hsub2(STAND_PAIR a, STAND_PAIR b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
inline STAND_PAIR __hmul2(STAND_PAIR a, STAND_PAIR b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
inline STAND_PAIR __h2div(STAND_PAIR a, STAND_PAIR b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
inline STAND_PAIR __hmax2(STAND_PAIR a, STAND_PAIR b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
inline STAND_PAIR __hmin2(STAND_PAIR a, STAND_PAIR b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
inline STAND_PAIR __hneg2(STAND_PAIR a) { return {__hneg(a.x), __hneg(a.y)}; }
inline STAND_PAIR __hfma2(STAND_PAIR a, STAND_PAIR b, STAND_PAIR c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
inline float __low2float(STAND_PAIR a) { return static_cast<float>(a.x); }
inline float __high2float(STAND_PAIR a) { return static_cast<float>(a.y); }
STAND_ATOMIC(atomicAdd, STAND_NUMBER, __hadd(a, b))
STAND_ATOMIC(atomicAdd, STAND_PAIR, __hadd2(a, b))
#undef STAND_NUMBER
#undef STAND_PAIR
