// sinh, cosh and tanh, and their inverses.
//
// With |x| = k ln 2 + r and the halved powers p = 2^(k - 1) and m = 2^(-k - 1),
//
//	sinh x = (p - m) cosh r + (p + m) sinh r
//	cosh x = (p + m) cosh r + (p - m) sinh r
//
// from the even and odd parts of e^r that exp has. p, m and their products with r
// are exact, and what their sums lose is carried, so that only the small parts
// are rounded. tanh x is t / (t + 2) for t = e^2x - 1 with its tail, and the quotient's remainder. The inverses
// are logarithms of 1 + w, with w and its tail.
//
// Errors: all below 0.8 units in the last place.

import { MAGIC, LN2_INVERSE, LN2_HIGH, LN2_LOW, evenPart, oddPart, raised, expm1Of } from "./exp.js";
import { log1pOf, logOf } from "./log.js";

// mixed is p e^r + sign m e^-r for 0 <= x < 22, with its tail; sign -1 is for x
// from 0.3466 on.
function mixed(x, sign) {
  const n = x * LN2_INVERSE + MAGIC;
  const k = n - MAGIC;
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const rest = (high - r) - low;
  const z = r * r;
  const p = scale(0.5, n);
  const m = sign * scale(0.5, MAGIC - k);
  const s = p + m;
  const pr = p * r;
  const mr = m * r;
  const a = s + pr;
  const t = a - mr;
  const lost = ((p - s) + m) + ((s - a) + pr) + ((a - t) - mr);
  const small = lost + (s * (0.5 * z + evenPart(z) + r * rest) + (p - m) * (oddPart(r, z) + rest));
  const v = t + small;
  setTail((t - v) + small);
  return v;
}

export function sinh(x) {
  const a = Math.abs(x);
  if (a < 0.3466) {
    if (a < 1e-9) return x; // -0 too
    return x + oddPart(x, x * x);
  }
  if (!(a < 750)) return x * Infinity;
  const v = a < 22 ? mixed(a, -1) : raised(a, 0, -1);
  return x < 0 ? -v : v;
}

export function cosh(x) {
  const a = Math.abs(x);
  if (a < 22) return mixed(a, 1);
  if (!(a < 750)) return a * Infinity;
  return raised(a, 0, -1);
}

// quotient is (a + al) / (b + bl), the tails being small.
function quotient(a, al, b, bl) {
  const q = a / b;
  return q + remainder(a, al, b, bl, q) / b;
}

// remainder is a + al - q (b + bl) for q near the quotient.
function remainder(a, al, b, bl, q) {
  const qh = head(q);
  const ql = q - qh;
  const bh = head(b);
  const bt = b - bh;
  return (((a - qh * bh) - qh * bt) - ql * bh) - ql * bt + (al - q * bl);
}

export function tanh(x) {
  const a = Math.abs(x);
  if (a < 1e-9) return x; // -0 too
  if (!(a < 20)) return x !== x ? NaN : x > 0 ? 1 : -1;
  const t = expm1Of(a + a);
  const low = tail();
  const d = t + 2;
  const v = quotient(t, low, d, (t > 2 ? (t - d) + 2 : (2 - d) + t) + low);
  return x < 0 ? -v : v;
}

// root is the square root of p + pl, with its tail.
function root(p, pl) {
  const q = Math.sqrt(p);
  setTail(0.5 * remainder(p, pl, q, 0, q) / q);
  return q;
}

// product is x * y with its tail.
function product(x, y) {
  const p = x * y;
  const xh = head(x);
  const xl = x - xh;
  const yh = head(y);
  const yl = y - yh;
  setTail((((xh * yh - p) + xh * yl) + xl * yh) + xl * yl);
  return p;
}

export function asinh(x) {
  const a = Math.abs(x);
  if (a < 1e-9) return x; // -0 too
  if (!(a < Infinity)) return x;
  let v = 0;
  if (a > 1e9) v = logOf(a, 1);
  else {
    const p = product(a, a);
    const s = 1 + p;
    const lost = p < 1 ? (1 - s) + p : (p - s) + 1;
    const q = root(s, lost + tail());
    const w = a + (q - 1);
    v = log1pOf(w, ((a - w) + (q - 1)) + tail());
  }
  return x < 0 ? -v : v;
}

export function acosh(x) {
  if (!(x > 1 && x < Infinity)) return x === 1 ? 0 : x > 1 ? Infinity : NaN;
  if (x > 1e9) return logOf(x, 1);
  const t = x - 1;
  const u = x + 1;
  const p = product(t, u);
  const q = root(p, tail() + t * ((x - u) + 1));
  const w = q + t;
  return log1pOf(w, ((q - w) + t) + tail());
}

export function atanh(x) {
  const a = Math.abs(x);
  if (a < 1e-9) return x; // -0 too
  if (!(a < 1)) return a === 1 ? x * Infinity : NaN;
  const d = 1 - a;
  const dl = (1 - d) - a;
  const q = 2 * a / d;
  const v = 0.5 * log1pOf(q, remainder(2 * a, 0, d, dl, q) / d);
  return x < 0 ? -v : v;
}
