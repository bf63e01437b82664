// sin, cos and tan.
//
// The argument is reduced to at most pi / 4, with a tail; there each is a minimax
// polynomial, the tangent near pi / 4 by that of the difference to pi / 4, and
// where the quadrant asks for it minus its inverse.
//
// Errors: sin and cos below 0.8, tan below 0.9 units in the last place.

import { MAGIC } from "./exp.js";
import { reduced, turns } from "./reduce.js";

// sinSmall is the sine of x + y, |x| at most pi / 4, y its tail.
function sinSmall(x, y) {
  const z = x * x;
  const v = z * x;
  const r = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return x - ((z * (0.5 * y - v * r) - y) - v * -1.66666666666666324348e-01);
}

function cosSmall(x, y) {
  const z = x * x;
  const w = z * z;
  const r = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
    w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const half = 0.5 * z;
  const one = 1 - half;
  return one + (((1 - one) - half) + (z * r - x * y));
}

// turned is the sine of x + shift pi / 2.
function turned(x, shift) {
  let n = MAGIC;
  let r = x;
  let low = 0;
  if (Math.abs(x) > 0.7853981633974483) {
    n = turns(x);
    r = reduced(x, n);
    low = tail();
  }
  const q = (lowWord(n) + shift) & 3;
  const v = (q & 1) === 0 ? sinSmall(r, low) : cosSmall(r, low);
  return (q & 2) === 0 ? v : -v;
}

export function sin(x) {
  return turned(x, 0);
}

export function cos(x) {
  return turned(x, 1);
}

// tanSmall is the tangent of x + y or, with inverse, -1 over it.
function tanSmall(x0, y0, inverse) {
  const big = Math.abs(x0) >= 0.67434;
  let x = x0;
  let y = y0;
  if (big) {
    // with the difference to pi / 4
    x = (0.78539816339744827900 - Math.abs(x0)) + (3.06161699786838301793e-17 - (x0 < 0 ? -y0 : y0));
    y = 0;
  }
  const z = x * x;
  const w = z * z;
  const odd = 1.33333333333201242699e-01 + w * (2.18694882948595424599e-02 + w * (3.59207910759131235356e-03 + w * (5.88041240820264096874e-04 + w * (7.81794442939557092300e-05 + w * -1.85586374855275456654e-05))));
  const even = z * (5.39682539762260521377e-02 + w * (8.86323982359930005737e-03 + w * (1.45620945432529025516e-03 + w * (2.46463134818469906812e-04 + w * (7.14072491382608190305e-05 + w * 2.59073051863633712884e-05)))));
  const s = z * x;
  const r = y + z * (s * (odd + even) + y) + 3.33333333333334091986e-01 * s;
  const t = x + r;
  if (big) {
    const sign = inverse ? -1 : 1;
    const v = sign - 2 * (x - (t * t / (t + sign) - r));
    return x0 < 0 ? -v : v;
  }
  if (!inverse) return t;
  // -1 / (x + r) with a correction for what the quotient lost
  const th = head(t);
  const tl = r - (th - x);
  const a = -1 / t;
  const ah = head(a);
  return ah + a * ((1 + ah * th) + ah * tl);
}

export function tan(x) {
  if (Math.abs(x) < 1e-9) return x; // -0 too
  if (Math.abs(x) <= 0.7853981633974483) return tanSmall(x, 0, false);
  const n = turns(x);
  const r = reduced(x, n);
  return tanSmall(r, tail(), (lowWord(n) & 1) === 1);
}
