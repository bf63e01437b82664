// The functions of Math that WebAssembly has no instruction for, in the body
// language itself, so that they are compiled as bodies are and can be run by any
// JavaScript engine to be compared. Each is within one unit in the last place.
// The methods are those of fdlibm: reduce the argument to a small interval, there
// a minimax polynomial, and carry what rounding lost in a second number.
//
// Beyond the body language there are highWord(x) and lowWord(x), the halves of
// a double's bits as a signed and an unsigned number, fromWords(high, low), and
// one number that a function can give besides its result: setTail(x), tail().

const PIO2 = 1.5707963267948966; // pi / 2, and what it lacks:
const PIO2_TAIL = 6.123233995736766e-17;

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

// For large x the digits of 2 / pi are multiplied out, in limbs of 24 bits, of
// which only those are needed that do not make whole turns and are not far behind
// the point. TWO_OVER_PI[i + 3] is the limb of weight 2^(-24 (i + 1)).
const TWO_OVER_PI = [
  0, 0, 0,
  0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163, 0xabdebb,
  0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129, 0xa73ee8, 0x8235f5,
  0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c, 0x845f8b, 0xbdf928, 0x3b1ff8,
  0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf, 0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d,
  0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292, 0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b,
];

function pow2(n) {
  return fromWords((1023 + n) << 20, 0);
}

// limb is one digit of the product of x's limbs and those of 2 / pi, not yet
// carried.
function limb(a0, a1, a2, a3, at) {
  return a0 * TWO_OVER_PI[at] + a1 * TWO_OVER_PI[at + 1] + a2 * TWO_OVER_PI[at + 2] + a3 * TWO_OVER_PI[at + 3];
}

// reduceLarge is reduceMedium for positive x from 1e6 on and the q nearest to it
// or, when the quadrant is wanted, gives that q modulo 4.
function reduceLarge(x, wantQuadrant) {
  const j = Math.floor((((highWord(x) >> 20) & 0x7ff) - 1075) / 24);
  let m = x * pow2(-24 * j); // an integer below 2^77
  const a3 = Math.floor(m * UNIT * UNIT * UNIT);
  m -= a3 * LIMB * LIMB * LIMB;
  const a2 = Math.floor(m * UNIT * UNIT);
  m -= a2 * LIMB * LIMB;
  const a1 = Math.floor(m * UNIT);
  const a0 = m - a1 * LIMB;
  const at = j + 2; // the digit of weight 1
  let t = limb(a0, a1, a2, a3, at + 7);
  t = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at + 6);
  const d6 = t - Math.floor(t * UNIT) * LIMB;
  t = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at + 5);
  const d5 = t - Math.floor(t * UNIT) * LIMB;
  t = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at + 4);
  const d4 = t - Math.floor(t * UNIT) * LIMB;
  t = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at + 3);
  const d3 = t - Math.floor(t * UNIT) * LIMB;
  t = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at + 2);
  const d2 = t - Math.floor(t * UNIT) * LIMB;
  t = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at + 1);
  const d1 = t - Math.floor(t * UNIT) * LIMB;
  let q = Math.floor(t * UNIT) + limb(a0, a1, a2, a3, at);
  let h = (d1 + d2 * UNIT) * UNIT; // the fraction, 48 bits a number
  if (h >= 0.5) {
    h -= 1;
    q += 1;
  }
  if (wantQuadrant) return q - Math.floor(q / 4) * 4;
  const l = (d3 + d4 * UNIT) * (UNIT * UNIT * UNIT);
  const ll = (d5 + d6 * UNIT) * (UNIT * UNIT * UNIT * UNIT * UNIT);
  const f = h + l;
  const g = ((h - f) + l) + ll;
  // (f + g) * pi / 2, the product of the heads exactly
  const c = f * 134217729;
  const fh = c - (c - f);
  const fl = f - fh;
  const p = f * PIO2;
  const e = ((fh * 1.5707963407039642 - p) + fh * -1.3909067675399456e-08 + fl * 1.5707963407039642) + fl * -1.3909067675399456e-08;
  const rest = e + f * PIO2_TAIL + g * PIO2;
  const y = p + rest;
  setTail(rest - (y - p));
  return y;
}

// reduced gives x modulo pi / 2, at most pi / 4 in size, and leaves its tail.
function reduced(x) {
  if (Math.abs(x) < 1e6) return reduceMedium(x, nearest(x));
  const y = reduceLarge(Math.abs(x), false);
  if (x > 0) return y;
  setTail(-tail());
  return -y;
}

function nearest(x) {
  return Math.floor(x * TWO_PI_INVERSE + 0.5);
}

// quadrant is how often pi / 2 was taken out of x, modulo 4.
function quadrant(x) {
  if (Math.abs(x) < 1e6) return nearest(x) & 3;
  const q = reduceLarge(Math.abs(x), true);
  return x > 0 ? q : -q & 3;
}

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

export function sin(x) {
  if (Math.abs(x) <= 0.7853981633974483) {
    if (Math.abs(x) < 1e-8) return x; // -0 too
    return sinSmall(x, 0);
  }
  if (!(Math.abs(x) < Infinity)) return NaN;
  const q = quadrant(x);
  const r = reduced(x);
  if (q === 0) return sinSmall(r, tail());
  if (q === 1) return cosSmall(r, tail());
  if (q === 2) return -sinSmall(r, tail());
  return -cosSmall(r, tail());
}

export function cos(x) {
  if (Math.abs(x) <= 0.7853981633974483) return cosSmall(x, 0);
  if (!(Math.abs(x) < Infinity)) return NaN;
  const q = quadrant(x);
  const r = reduced(x);
  if (q === 0) return cosSmall(r, tail());
  if (q === 1) return -sinSmall(r, tail());
  if (q === 2) return -cosSmall(r, tail());
  return sinSmall(r, tail());
}

// head is x without the lower half of its bits.
function head(x) {
  return fromWords(highWord(x), 0);
}

// tanSmall is the tangent of x + y or, with inverse, -1 over it.
function tanSmall(x0, y0, inverse) {
  let x = x0;
  let y = y0;
  const big = Math.abs(x) >= 0.67434;
  if (big) {
    if (x < 0) {
      x = -x;
      y = -y;
    }
    x = (0.78539816339744827900 - x) + (3.06161699786838301793e-17 - y);
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
  if (Math.abs(x) <= 0.7853981633974483) {
    if (Math.abs(x) < 1e-8) return x;
    return tanSmall(x, 0, false);
  }
  if (!(Math.abs(x) < Infinity)) return NaN;
  const q = quadrant(x);
  const r = reduced(x);
  return tanSmall(r, tail(), (q & 1) === 1);
}

// atanPart is x times what its arc tangent lacks to x, over x.
function atanPart(x) {
  const z = x * x;
  const w = z * z;
  const even = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 + w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  const odd = w * (-1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  return x * (even + odd);
}

// atanOf is the arc tangent of a + b, b being the tail of a, which is positive
// and not large; it leaves the tail of what it gives.
function atanOf(a, b) {
  const more = b / (1 + a * a);
  let high = 0;
  let rest = 0;
  if (a < 0.4375) {
    high = a;
    rest = atanPart(a) - more;
  } else if (a < 0.6875) {
    const t = (2 * a - 1) / (2 + a);
    high = 4.63647609000806093515e-01;
    rest = ((atanPart(t) - 2.26987774529616870924e-17) - more) - t;
  } else if (a < 1.1875) {
    const t = (a - 1) / (a + 1);
    high = 7.85398163397448278999e-01;
    rest = ((atanPart(t) - 3.06161699786838301793e-17) - more) - t;
  } else if (a < 2.4375) {
    const t = (a - 1.5) / (1 + 1.5 * a);
    high = 9.82793723247329054082e-01;
    rest = ((atanPart(t) - 1.39033110312309984516e-17) - more) - t;
  } else {
    const t = -1 / a;
    high = PIO2;
    rest = ((atanPart(t) - PIO2_TAIL) - more) - t;
  }
  const r = high - rest;
  setTail((high - r) - rest);
  return r;
}

export function atan(x) {
  const a = Math.abs(x);
  if (a < 1e-9) return x; // -0 too
  if (!(a < 1e19)) {
    if (x !== x) return NaN;
    return x > 0 ? PIO2 : -PIO2;
  }
  const r = atanOf(a, 0);
  return x < 0 ? -r : r;
}

// negative tells the sign, that of zeros too.
function negative(x) {
  return highWord(x) < 0;
}

// lost is w - t * v exactly, for t the quotient of the two.
function lost(w, t, v) {
  const ct = t * 134217729;
  const th = ct - (ct - t);
  const tl = t - th;
  const cv = v * 134217729;
  const vh = cv - (cv - v);
  const vl = v - vh;
  const p = t * v;
  return (w - p) - (((th * vh - p) + th * vl + tl * vh) + tl * vl);
}

export function atan2(y, x) {
  if (x !== x || y !== y) return NaN;
  const ax = Math.abs(x);
  const ay = Math.abs(y);
  if (ay === 0) {
    if (!negative(x)) return y;
    return negative(y) ? -Math.PI : Math.PI;
  }
  if (ax === 0) return y < 0 ? -PIO2 : PIO2;
  let r = 0;
  if (ax === Infinity) {
    if (ay === Infinity) r = x > 0 ? Math.PI / 4 : 3 * Math.PI / 4;
    else r = x > 0 ? 0 : Math.PI;
    return y < 0 ? -r : r;
  }
  if (ay === Infinity) return y < 0 ? -PIO2 : PIO2;
  const steep = ((highWord(ay) >> 20) - (highWord(ax) >> 20));
  if (steep > 60) r = PIO2 + 0.5 * PIO2_TAIL;
  else if (steep < -60) r = x < 0 ? Math.PI : ay / ax;
  else {
    // the quotient, and what it lacks
    const scale = pow2(-Math.min(Math.max((highWord(ax) >> 20) - 1023, -900), 900));
    const v = ax * scale;
    const w = ay * scale;
    const t = w / v;
    r = atanOf(t, lost(w, t, v) / v);
    if (x < 0) {
      const s = Math.PI - r;
      r = s + (((Math.PI - s) - r) + (2 * PIO2_TAIL - tail()));
    }
  }
  return y < 0 ? -r : r;
}

// hypot of two; longer lists are folded.
export function hypot(x, y) {
  let a = Math.abs(x);
  let b = Math.abs(y);
  if (a === Infinity || b === Infinity) return Infinity;
  if (a !== a || b !== b) return NaN;
  if (a < b) {
    const t = a;
    a = b;
    b = t;
  }
  if (b === 0) return a;
  if ((highWord(a) >> 20) - (highWord(b) >> 20) > 64) return a + b;
  let scale = 1;
  if (a > 1e150) {
    scale = pow2(600);
    a *= pow2(-600);
    b *= pow2(-600);
  } else if (b < 1e-150) {
    scale = pow2(-600);
    a *= pow2(600);
    b *= pow2(600);
  }
  const ca = a * 134217729;
  const ah = ca - (ca - a);
  const al = a - ah;
  const a2 = a * a;
  const cb = b * 134217729;
  const bh = cb - (cb - b);
  const bl = b - bh;
  const b2 = b * b;
  const lost = ((ah * ah - a2) + 2 * ah * al + al * al) + ((bh * bh - b2) + 2 * bh * bl + bl * bl);
  return scale * Math.sqrt(lost + b2 + a2);
}
