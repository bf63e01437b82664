// pow.
//
// x^y is e^(y log |x|): the logarithm with its tail comes from logOf (2^-64 of its
// value), the product with y is exact but for 2^-79 of its value, and raised takes
// both parts. The error is below 0.8 units in the last place; where the result is
// exact it is hit.

import { withTail } from "./log.js";
import { raised } from "./exp.js";

// power is x^y for positive finite x and any y but NaN.
function power(x, y) {
  if (x === 1) return 1; // y is finite here, see below
  const l = withTail(x);
  const t = tail();
  const about = y * l;
  if (!(Math.abs(about) < 746)) return about > 0 ? Infinity : 0;
  const yh = head(y);
  const yl = y - yh;
  const lh = head(l);
  const ll = (l - lh) + t;
  const high = yh * lh;
  const low = yl * lh + y * ll;
  const p = high + low;
  return raised(p, (high - p) + low, 0);
}

function integer(y) {
  return Math.floor(y) === y;
}

export function pow(x, y) {
  if (y === 2) return x * x; // as ** 2 is computed
  if (y === 0) return 1;
  if (x !== x || y !== y) return NaN;
  if (Math.abs(y) === Infinity) {
    const a = Math.abs(x);
    if (a === 1) return NaN;
    return (a > 1) === (y > 0) ? Infinity : 0;
  }
  if (x > 0 && x < Infinity) return power(x, y);
  // zero, negative or infinite
  const odd = integer(y) && !integer(0.5 * y);
  const a = Math.abs(x);
  let v = 0;
  if (a === 0 || a === Infinity) v = (a === 0) === (y > 0) ? 0 : Infinity;
  else if (integer(y)) v = power(a, y);
  else return NaN;
  return odd && highWord(x) < 0 ? -v : v;
}
