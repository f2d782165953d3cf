// Exact sums of rounded products, as in orwl/exact: blocks.go says why the two levels lose nothing, and accumulator.go what the
// digits are.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 70, LANES = 8, BLOCK = 512 };

typedef double lane __attribute__((vector_size(8 * LANES), aligned(8)));
typedef int64_t bits __attribute__((vector_size(8 * LANES), aligned(8)));

// exact is a whole number of units of 2^-1074, in digits of 32 bits. Sums of infinities or NaN are not needed here.
struct exact {
	int64_t digit[DIGITS];
	int64_t pending;
};

static inline void exact_clear(struct exact *s) { memset(s, 0, sizeof *s); }

static inline void exact_carry(struct exact *s)
{
	int64_t carried = 0;
	for (int i = 0; i < DIGITS - 1; i++) {
		int64_t d = s->digit[i] + carried;
		s->digit[i] = d & 0xffffffff, carried = d >> 32;
	}
	s->digit[DIGITS - 1] += carried;
	s->pending = 0;
}

static inline void exact_add(struct exact *s, double x)
{
	uint64_t b;
	memcpy(&b, &x, 8);
	int exponent = b >> 52 & 0x7ff;
	uint64_t m = b & ((1ul << 52) - 1);
	if (exponent == 0x7ff)
		abort();
	if (exponent)
		m |= 1ul << 52, exponent--;
	int64_t minus = (int64_t)b >> 63, low = m << exponent % 32 & 0xffffffff, high = m >> (32 - exponent % 32);
	s->digit[exponent / 32] += (low ^ minus) - minus;
	s->digit[exponent / 32 + 1] += (high ^ minus) - minus;
	if (++s->pending == 2000)
		exact_carry(s);
}

static inline void exact_merge(struct exact *s, struct exact *from)
{
	exact_carry(from);
	for (int i = 0; i < DIGITS; i++)
		s->digit[i] += from->digit[i];
	exact_carry(s);
}

static inline double power_of_two(int exponent)
{
	uint64_t b = exponent >= -1022 ? (uint64_t)(exponent + 1023) << 52 : 1ul << (exponent + 1074);
	double x;
	memcpy(&x, &b, 8);
	return x;
}

// exact_value rounds to the nearest double, and to the even one of two.
static inline double exact_value(const struct exact *from)
{
	struct exact s = *from;
	exact_carry(&s);
	double sign = 1;
	if (s.digit[DIGITS - 1] < 0) {
		sign = -1;
		for (int i = 0; i < DIGITS; i++)
			s.digit[i] = -s.digit[i];
		exact_carry(&s);
	}
	int i = DIGITS - 1;
	while (i > 2 && s.digit[i] == 0)
		i--;
	// Four digits have the 53 bits of the result, the bit below, and some more. The rest decides only whether it is 0.
	unsigned __int128 m = 0;
	int last = i >= 3 ? i - 3 : 0, rest = 0;
	for (int k = i; k >= last; k--)
		m = m << 32 | (uint64_t)s.digit[k];
	for (int k = 0; k < last; k++)
		rest |= s.digit[k] != 0;
	int length = m >> 64 ? 128 - __builtin_clzl(m >> 64) : m ? 64 - __builtin_clzl(m) : 0;
	int drop = length > 53 ? length - 53 : 0;
	uint64_t kept = m >> drop;
	unsigned __int128 below = m - ((unsigned __int128)kept << drop), half = drop ? (unsigned __int128)1 << (drop - 1) : 1;
	if (drop && (below > half || (below == half && (rest || kept & 1))))
		kept++;
	return sign * (double)kept * power_of_two(drop + 32 * last - 1074);
}

// level splits x at the last bit of s: s takes what is above, and the result is what is below.
static inline lane level(lane x, lane *s)
{
	lane next = *s + x, rest = x - (next - *s);
	*s = next;
	return rest;
}

// power is 1.5 times the power of two with an exponent field.
static inline double power(int exponent)
{
	uint64_t b = (uint64_t)exponent << 52 | 1ul << 51;
	double x;
	memcpy(&x, &b, 8);
	return x;
}

// exact_dot adds x[i]*y[i], each rounded.
static inline void exact_dot(struct exact *s, const double *x, const double *y, long n)
{
	static const lane zero;
	long i = 0;
	while (n - i >= 2 * LANES) {
		lane product[BLOCK / LANES];
		bits most = {0};
		int k = 0;
		for (; k < BLOCK / LANES && n - i >= LANES; k++, i += LANES) {
			lane p = *(const lane *)(x + i) * *(const lane *)(y + i);
			__asm__("" : "+v"(p)); // it is rounded here
			product[k] = p;
			bits b = (bits)p & 0x7fffffffffffffff;
			bits larger = b > most;
			most = (b & larger) | (most & ~larger);
		}
		int64_t upper = 0;
		for (int l = 0; l < LANES; l++)
			upper = most[l] > upper ? most[l] : upper;
		int exponent = upper >> 52;
		if (upper == 0)
			continue;
		bits left = {0};
		if (exponent < 34 || exponent > 2035)
			goto one_by_one;
		lane s1 = zero + power(exponent + 11), s2 = zero + power(exponent - 32), a1 = s1, a2 = s2;
		for (int j = 0; j < k; j++) {
			lane rest = level(level(product[j], &a1), &a2);
			left |= (bits)rest & 0x7fffffffffffffff;
			product[j] = rest;
		}
		a1 -= s1, a2 -= s2;
		double sum1 = 0, sum2 = 0;
		for (int l = 0; l < LANES; l++)
			sum1 += a1[l], sum2 += a2[l];
		exact_add(s, sum1);
		exact_add(s, sum2);
		int64_t any = 0;
		for (int l = 0; l < LANES; l++)
			any |= left[l];
		if (!any)
			continue;
	one_by_one:
		for (int j = 0; j < k; j++)
			for (int l = 0; l < LANES; l++)
				if (product[j][l] != 0)
					exact_add(s, product[j][l]);
	}
	for (; i < n; i++) {
		volatile double p = x[i] * y[i];
		exact_add(s, p);
	}
}
