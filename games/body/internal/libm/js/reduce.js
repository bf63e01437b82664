// Arguments of sin, cos and tan modulo pi / 2.
//
// Below 1e6 a multiple of pi / 2 is subtracted in pieces of 33 bits, as many as
// cancellation asks for; the product of each piece is exact. From there on the
// digits of 2 / pi are multiplied out in limbs of 24 bits (Payne and Hanek), of
// which only those are needed that do not make whole turns and are not far behind
// the point. The rest and its tail are within 2^-70 of the rest.

import { MAGIC } from "./exp.js";

export const PIO2 = 1.5707963267948966; // pi / 2, and what it lacks:
export const PIO2_TAIL = 6.123233995736766e-17;
const PIO2_HEAD = 1.5707963407039642; // the same in halves
const PIO2_REST = -1.3909067675399456e-08;

// pi / 2 in pieces of 33 bits, each with all that follows it.
const PIO2_1 = 1.57079632673412561417e+00;
const PIO2_1T = 6.07710050650619224932e-11;
const PIO2_2 = 6.07710050630396597660e-11;
const PIO2_2T = 2.02226624879595063154e-21;
const PIO2_3 = 2.02226624871116645580e-21;
const PIO2_3T = 8.47842766036889956997e-32;

const TWO_PI_INVERSE = 6.36619772367581382433e-01; // 2 / pi

const LIMB = 16777216; // 2^24
const UNIT = 1 / LIMB;

// reduceMedium subtracts q times pi / 2 from x and gives the rest. What the rest
// lacks to be exact is left in the tail.
function reduceMedium(x, q) {
  const exponent = (highWord(x) >> 20) & 0x7ff;
  let r = x - q * PIO2_1;
  let w = q * PIO2_1T;
  let y = r - w;
  if (exponent - ((highWord(y) >> 20) & 0x7ff) > 16) {
    // 33 more bits are needed, and then again
    let t = r;
    w = q * PIO2_2;
    r = t - w;
    w = q * PIO2_2T - ((t - r) - w);
    y = r - w;
    if (exponent - ((highWord(y) >> 20) & 0x7ff) > 49) {
      t = r;
      w = q * PIO2_3;
      r = t - w;
      w = q * PIO2_3T - ((t - r) - w);
      y = r - w;
    }
  }
  setTail((r - y) - w);
  return y;
}

// TWO_OVER_PI[i + 3] is the limb of weight 2^(-24 (i + 1)) of 2 / pi.
const TWO_OVER_PI = [
  0, 0, 0,
  0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163, 0xabdebb,
  0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129, 0xa73ee8, 0x8235f5,
  0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c, 0x845f8b, 0xbdf928, 0x3b1ff8,
  0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf, 0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d,
  0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292, 0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b,
];

// digit is one digit of the product of x's limbs and those of 2 / pi, with what is
// carried from the one before, and not yet without what it carries itself.
function digit(before, a0, a1, a2, a3, at) {
  apart();
  return Math.floor(before * UNIT) + a0 * TWO_OVER_PI[at] + a1 * TWO_OVER_PI[at + 1] + a2 * TWO_OVER_PI[at + 2] + a3 * TWO_OVER_PI[at + 3];
}

// part is a digit without what it carries.
function part(t) {
  return t - Math.floor(t * UNIT) * LIMB;
}

// reduceLarge is reduceMedium for positive x from 1e6 on and the q nearest to it
// or, when the quadrant is wanted, gives that q modulo 4.
function reduceLarge(x, wantQuadrant) {
  if (x === Infinity) return NaN;
  const e = ((highWord(x) >> 20) & 0x7ff) - 1075;
  const j = ((e + 240) * 2731 >> 16) - 10; // e / 24, rounded down
  let m = x * fromWords((1023 - 24 * j) << 20, 0); // an integer below 2^77
  const a3 = Math.floor(m * UNIT * UNIT * UNIT);
  m -= a3 * LIMB * LIMB * LIMB;
  const a2 = Math.floor(m * UNIT * UNIT);
  m -= a2 * LIMB * LIMB;
  const a1 = Math.floor(m * UNIT);
  const a0 = m - a1 * LIMB;
  const at = j + 2; // the digit of weight 1
  const t6 = digit(digit(0, a0, a1, a2, a3, at + 7), a0, a1, a2, a3, at + 6);
  const t5 = digit(t6, a0, a1, a2, a3, at + 5);
  const t4 = digit(t5, a0, a1, a2, a3, at + 4);
  const t3 = digit(t4, a0, a1, a2, a3, at + 3);
  const t2 = digit(t3, a0, a1, a2, a3, at + 2);
  const t1 = digit(t2, a0, a1, a2, a3, at + 1);
  let q = digit(t1, a0, a1, a2, a3, at);
  let h = (part(t1) + part(t2) * UNIT) * UNIT; // the fraction, 48 bits a number
  if (h >= 0.5) {
    h -= 1;
    q += 1;
  }
  if (wantQuadrant) return q - Math.floor(q / 4) * 4;
  const l = (part(t3) + part(t4) * UNIT) * (UNIT * UNIT * UNIT);
  const ll = (part(t5) + part(t6) * UNIT) * (UNIT * UNIT * UNIT * UNIT * UNIT);
  const f = h + l;
  const g = ((h - f) + l) + ll;
  // (f + g) * pi / 2, the product of the heads exactly
  const fh = head(f);
  const fl = f - fh;
  const p = f * PIO2;
  const lost = ((fh * PIO2_HEAD - p) + fh * PIO2_REST + fl * PIO2_HEAD) + fl * PIO2_REST;
  const rest = lost + f * PIO2_TAIL + g * PIO2;
  const y = p + rest;
  setTail(rest - (y - p));
  return y;
}

// turns is how often pi / 2 is taken out of x, or that modulo 4, plus MAGIC.
export function turns(x) {
  if (!(Math.abs(x) >= 1e6)) return x * TWO_PI_INVERSE + MAGIC;
  const q = reduceLarge(Math.abs(x), true);
  return MAGIC + (x > 0 ? q : -q);
}

// reduced is x without these turns, at most pi / 4 in size, and leaves its tail; a
// NaN where x is infinite.
export function reduced(x, n) {
  if (!(Math.abs(x) >= 1e6)) return reduceMedium(x, n - MAGIC);
  const y = reduceLarge(Math.abs(x), false);
  if (x > 0) return y;
  setTail(-tail());
  return -y;
}
