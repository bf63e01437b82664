// cbrt and hypot.
//
// cbrt begins with a third of the exponent (5 bits right), improves that by a
// polynomial of degree 4 in t^3 / x (22 bits), cuts it to 26 bits so that its square
// is exact, and ends with one step of Halley's method. hypot adds the squares
// with what they lack and takes the root of that, at a scale where nothing
// overflows or vanishes.
//
// Errors: cbrt below 0.7, hypot below 0.9 units in the last place, whatever
// the number of arguments.

import { MAGIC } from "./exp.js";

const HUGE = 4.149515568880993e180; // 2^600

export function cbrt(x) {
  let a = Math.abs(x);
  if (!(a > 0 && a < Infinity)) return x;
  let unit = 1;
  if (a < 2.2250738585072014e-308) {
    a *= 18014398509481984; // 2^54
    unit = 3.814697265625e-06; // 2^-18
  }
  const e = fromWords(0x43300000, highWord(a)) - 4503599627370496; // the upper half as a number
  let t = fromWords(lowWord(e * 0.3333333333333333 + (MAGIC + 715094163)), 0);
  const u = (t * t) * (t / a);
  const w = u * u;
  t = head(t * ((1.8800023962837085 + u * -1.9007707118687334) + w * (1.6444553838782139 + u * -0.7732815301150395) + w * w * 0.1495945073741753));
  const q = a / (t * t);
  const v = unit * (t + t * ((q - t) / (t + t + q)));
  return x < 0 ? -v : v;
}

// larger is the larger size; an infinite one wins over a NaN.
export function larger(x, y) {
  const a = Math.abs(x);
  const b = Math.abs(y);
  if (a === Infinity || b === Infinity) return Infinity;
  return Math.max(a, b);
}

// scaleOf is the power of 2 at which numbers of the largest size m are squared.
export function scaleOf(m) {
  if (m < 1e-140) return HUGE;
  return m > 1e150 ? 1 / HUGE : 1;
}

// plusSquare adds the square of x to a sum and to its tail.
export function plusSquare(sum, x) {
  const h = head(x);
  const l = x - h;
  const p = x * x;
  const s = sum + p;
  const b = s - sum;
  setTail(tail() + (((h * h - p) + 2 * h * l + l * l) + ((sum - (s - b)) + (p - b))));
  return s;
}

// rootOf is the root of a sum at a scale.
export function rootOf(sum, scale) {
  return Math.sqrt(sum + tail()) / scale;
}

// hypot of two numbers; for more, what it does is done in the place of the call.
export function hypot(x, y) {
  const s = x * x + y * y;
  if (s > 1e-280 && s < 1e300) {
    setTail(0);
    return Math.sqrt(plusSquare(plusSquare(0, x), y) + tail());
  }
  const m = larger(x, y);
  if (!(m < Infinity)) return m;
  const scale = scaleOf(m);
  setTail(0);
  return rootOf(plusSquare(plusSquare(0, x * scale), y * scale), scale);
}
