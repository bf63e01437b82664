// asin, acos, atan and atan2.
//
// asin x is x + x p(x^2) up to 1/2, p a minimax polynomial (error 2^-59 of 1); above,
// it is pi / 2 - 2 asin(s) with s the root of (1 - x) / 2, whose square's lower half is
// carried. acos is the same with other constants. The arc tangent comes from one
// of five intervals, by the tangent of the difference to the interval's middle and
// two interleaved polynomials; atan2 gives it the quotient with its remainder.
//
// Errors: all below 0.8 units in the last place.

import { PIO2, PIO2_TAIL } from "./reduce.js";

// asinPart is asin(x) / x - 1 for z = x * x up to 1/4.
function asinPart(z) {
  const w = z * z;
  const v = w * w;
  return z * ((0.16666666666666763 + z * 0.07499999999970118) + w * (0.04464285717527146 + z * 0.030381942675865328) +
    v * ((0.022372215891514464 + z * 0.017351595732435086) + w * (0.01398101597589759 + z * 0.011397312605292087) +
      v * ((0.010789217609766857 + z * 0.003672557671457562) + w * (0.021789777815849724 + z * -0.02111553330841131) + v * 0.0327014439006332)));
}

// halfAngle is the root s of z, without its lower half, which is left in the tail
// together with what asin(s) has more than s.
function halfAngle(z) {
  const s = Math.sqrt(z);
  const h = head(s);
  setTail((z - h * h) / (s + h) + s * asinPart(z));
  return h;
}

// rest is c - y with the tail of c, and y with its own in the tail.
function rest(c, cl, y, yl) {
  const v = c - y;
  return v + (((c - v) - y) + (cl - yl));
}

export function asin(x) {
  const a = Math.abs(x);
  if (a <= 0.5) {
    if (a < 1e-9) return x; // -0 too
    return x + x * asinPart(x * x);
  }
  if (!(a < 1)) return a === 1 ? x * PIO2 : NaN;
  const s = halfAngle(0.5 * (1 - a));
  const v = rest(PIO2, PIO2_TAIL, 2 * s, 2 * tail());
  return x < 0 ? -v : v;
}

export function acos(x) {
  const a = Math.abs(x);
  if (a <= 0.5) return rest(PIO2, PIO2_TAIL, x, x * asinPart(x * x));
  if (!(a < 1)) {
    if (a === 1) return x < 0 ? Math.PI : 0;
    return NaN;
  }
  const s = halfAngle(0.5 * (1 - a));
  if (x < 0) return rest(Math.PI, 2 * PIO2_TAIL, 2 * s, 2 * tail());
  return 2 * (s + tail());
}

// atanPart is 1 - atan(x) / x, times x.
function atanPart(x) {
  const z = x * x;
  const w = z * z;
  const even = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 + w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  const odd = w * (-1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  return x * (even + odd);
}

// atanOf is the arc tangent of positive a, and of more what the arc tangent of its
// tail adds; it leaves the tail of what it gives.
function atanOf(a, more) {
  let high = PIO2;
  let low = PIO2_TAIL;
  let t = 0;
  if (a < 0.6875) {
    if (a < 0.4375) {
      high = 0;
      low = 0;
      t = a;
    } else {
      high = 4.63647609000806093515e-01;
      low = 2.26987774529616870924e-17;
      t = (2 * a - 1) / (2 + a);
    }
  } else if (a < 2.4375) {
    if (a < 1.1875) {
      high = 7.85398163397448278999e-01;
      low = 3.06161699786838301793e-17;
      t = (a - 1) / (a + 1);
    } else {
      high = 9.82793723247329054082e-01;
      low = 1.39033110312309984516e-17;
      t = (a - 1.5) / (1 + 1.5 * a);
    }
  } else t = -1 / a;
  const small = (more + low) - atanPart(t);
  const s = high + t;
  const lost = high === 0 ? 0 : (high - s) + t;
  const r = s + (lost + small);
  setTail((s - r) + (lost + small));
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
  const th = head(t);
  const tl = t - th;
  const vh = head(v);
  const vl = v - vh;
  return (((w - th * vh) - th * vl) - tl * vh) - tl * vl;
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
  const steep = (highWord(ay) >> 20) - (highWord(ax) >> 20);
  if (steep > 60) r = PIO2;
  else if (steep < -60) r = x < 0 ? Math.PI : ay / ax;
  else {
    // the quotient, and what it lacks
    let v = ax;
    let w = ay;
    if (!(ax > 1e-200 && ax < 1e200)) {
      const unit = ax < 1 ? 4.149515568880993e180 : 2.409919865102884e-181; // 2^600, 2^-600
      v *= unit;
      w *= unit;
    }
    const t = w / v;
    r = atanOf(t, lost(w, t, v) / (v * (1 + t * t)));
    if (x < 0) {
      const s = Math.PI - r;
      r = s + (((Math.PI - s) - r) + (2 * PIO2_TAIL - tail()));
    }
  }
  return y < 0 ? -r : r;
}
