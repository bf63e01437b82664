// exp and expm1, and what the hyperbolic functions and pow need of them.
//
// With k = round(x / ln 2), e^x = 2^k e^r where |r| is at most 0.3466 and ln 2 is
// subtracted in two pieces, so that what r lacks is known. e^r - 1 - r is the sum
// of its even and its odd part, each a minimax polynomial in r^2 (errors 2^-69 and
// 2^-64 of 1); the parts of size are added with what their addition lost.
//
// Errors: exp below 0.6 units in the last place (denormal results 0.8), expm1
// below 0.8.

export const MAGIC = 6755399441055744; // 1.5 * 2^52: adding it rounds to an integer, which then stands in the lowest bits
export const LN2_INVERSE = 1.4426950408889634;
export const LN2_HIGH = 6.93147180369123816490e-01; // 33 bits: its multiples are exact
export const LN2_LOW = 1.90821492927058770002e-10;

// evenPart is cosh(r) - 1 - z / 2 for z = r * r.
export function evenPart(z) {
  const w = z * z;
  return w * ((0.041666666666666685 + z * 0.0013888888888873283) + w * ((2.4801587349202168e-05 + z * 2.7557251824766973e-07) + w * 2.0921762379617206e-09));
}

// oddPart is sinh(r) - r for z = r * r.
export function oddPart(r, z) {
  const w = z * z;
  return r * z * ((0.16666666666666685 + z * 0.008333333333315722) + w * ((0.00019841269899599772 + z * 2.7557231678502513e-06) + w * 2.511313711063609e-08));
}

// scaleFar is v times 2^k, for k = n - MAGIC of any size that can occur.
export function scaleFar(v, n) {
  const k = n - MAGIC;
  if (k > 1020) return scale(v, n - 64) * 18446744073709551616;
  if (k < -1020) return scale(v, n + 128) * 2.938735877055719e-39;
  return scale(v, n);
}

// raised is e^(x + c) times 2^shift, c being the tail of x, which is less than
// 750 in size.
export function raised(x, c, shift) {
  const n = x * LN2_INVERSE + MAGIC;
  const k = n - MAGIC;
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW - c;
  const r = high - low;
  const rest = (high - r) - low;
  const z = r * r;
  const y = 1 + r;
  const lost = (1 - y) + r;
  const v = y + (lost + (0.5 * z + (evenPart(z) + oddPart(r, z))) + y * rest);
  if (Math.abs(k) < 1000) return scale(v, n + shift);
  return scaleFar(v, n + shift);
}

export function exp(x) {
  if (!(Math.abs(x) < 750)) {
    if (x !== x) return NaN;
    return x > 0 ? Infinity : 0;
  }
  return raised(x, 0, 0);
}

// expm1Of is e^x - 1, with its tail, for x from -40 to 750 that is not tiny.
export function expm1Of(x) {
  const n = x * LN2_INVERSE + MAGIC;
  const k = n - MAGIC;
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const rest = (high - r) - low;
  const z = r * r;
  // 2^k (one + r + r^2 / 2 + ...), one being what is left of 1 when the -1 is
  // divided by 2^k, and the square in a part that is exact and a little
  const m = k > 60 ? 0 : scale(1, MAGIC - k);
  const one = 1 - m;
  const h = head(r);
  const half = 0.5 * h * h;
  const y = one + r;
  const s = y + half;
  const lost = ((1 - one) - m) + ((one - y) + r) + ((y - s) + half);
  const small = lost + (0.5 * (r - h) * (r + h) + (evenPart(z) + oddPart(r, z)) + (1 + r) * rest);
  const v = s + small;
  if (k > 1000) return scaleFar(v, n); // nobody needs the tail of these
  const unit = scale(1, n);
  setTail(((s - v) + small) * unit);
  return v * unit;
}

export function expm1(x) {
  if (Math.abs(x) < 1e-17) return x; // -0 too
  if (!(x < 750)) return x !== x ? NaN : Infinity;
  if (x < -40) return -1;
  return expm1Of(x);
}
