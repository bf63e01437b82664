// log, log1p, log2 and log10, and the logarithm with tail that pow needs.
//
// The argument is 2^k z with z from 0.708 to 1.417, and z lies in one of 32
// intervals. For each of them a table has a factor c of nine bits near 1 / z and
// -log c, so that log x = k ln 2 - log c + log(1 + r) with r = z c - 1, of at most
// 0.0172 and exact but for a tail. k ln 2 - log c is exact but for a tail, because both are given to
// multiples of 2^-42. log(1 + r) - r + r^2 / 2 is a minimax polynomial (error
// 2^-76 of 1). In the interval around 1, c is 1 and all of k ln 2 - log c is 0, so
// nothing cancels.
//
// Errors: log, log1p, log2 and log10 below 0.6 units in the last place; logOf with
// its tail below 2^-64 of its value.

export const LN2_42 = 0.6931471805598903; // 42 bits
export const LN2_42_LOW = 5.497923018708371e-14;

// factor c, -log c to 2^-42, its tail
const LOGS = [
  1.39453125, -0.3325583373000427, -3.390686133672229e-14,
  1.3671875, -0.31275571000378477, -1.1211800740360982e-13,
  1.33984375, -0.29255300268641804, 4.0599978860151284e-14,
  1.3125, -0.2719337154835557, -8.604306772808733e-14,
  1.28515625, -0.2508803062858078, -1.5973663463624904e-15,
  1.2578125, -0.22937410106487732, 3.149265065191484e-14,
  1.234375, -0.21056476910735, 3.6507188831790577e-16,
  1.2109375, -0.19139485299956505, -6.440856150696892e-14,
  1.1875, -0.17185025692674571, 8.649239607212071e-14,
  1.16796875, -0.15526612891108016, -4.3792508292406054e-14,
  1.14453125, -0.13499516453748583, -1.8996158041578768e-14,
  1.125, -0.11778303565643, 4.654729747598445e-14,
  1.10546875, -0.10026945316371894, 4.378637617078398e-14,
  1.0859375, -0.08244366921098845, -8.614512936087814e-14,
  1.0703125, -0.06795066190852594, 1.8195060030168815e-14,
  1.05078125, -0.04953393512232651, 4.9880309107981426e-14,
  1.03515625, -0.034552381506728125, 6.839139742328777e-14,
  1.01953125, -0.019342962843211353, 8.041853850522586e-14,
  1.0, 0.0, 0.0,
  0.97265625, 0.027724548014930406, -7.554530328896727e-14,
  0.9453125, 0.05623971832278585, 9.023009281142904e-14,
  0.91796875, 0.0855919303353403, 6.322009333691484e-14,
  0.89453125, 0.11145544092528326, 3.957125899799804e-14,
  0.8671875, 0.14250006260726877, 1.4256439478199035e-14,
  0.84765625, 0.16528009093917717, -7.424679100316254e-14,
  0.82421875, 0.1933193110035063, -1.0320443688698849e-14,
  0.8046875, 0.21730127569003344, -5.204008743405884e-14,
  0.78515625, 0.24187253642048745, -7.252318953240293e-16,
  0.765625, 0.2670627852489815, 6.371947269815667e-14,
  0.74609375, 0.29290401643288533, 4.727452940514406e-14,
  0.73046875, 0.3140688276250785, -1.0263280755261064e-13,
  0.71484375, 0.3356912916381134, 2.8136969901227338e-14,
];

// logPart is log(1 + r) - r + r^2 / 2.
function logPart(r) {
  const z = r * r;
  return r * z * ((0.3333333333333333 + r * -0.2499999999999999) + z * ((0.20000000000116502 + r * -0.1666666666692851) + z * ((0.1428571285099128 + r * -0.12499997900142883) + z * (0.11117385561067145 + r * -0.10007000723424482))));
}

// logNear is the logarithm of v (1 + c) 2^k0 for positive v that is no denormal
// number, and small c.
function logNear(v, c, k0) {
  const t = (highWord(v) - 0x3fe6aaab) | 0;
  const at = ((t >> 15) & 31) * 3;
  const k = (t >> 20) + k0;
  const z = fromWords(highWord(v) - (t & 0xfff00000), lowWord(v));
  const zh = head(z);
  const f = LOGS[at];
  const a = zh * f - 1;
  const b = (z - zh) * f;
  const r = a + b;
  const high = k * LN2_42 + LOGS[at + 1];
  const low = k * LN2_42_LOW + LOGS[at + 2];
  const s = high + r;
  return s + (((high - s) + r) + (((a - r) + b) + low + (logPart(r) - 0.5 * r * r) + c));
}

// logOf is the logarithm of v 2^k0, with its tail.
export function logOf(v, k0) {
  const t = (highWord(v) - 0x3fe6aaab) | 0;
  const at = ((t >> 15) & 31) * 3;
  const k = (t >> 20) + k0;
  const z = fromWords(highWord(v) - (t & 0xfff00000), lowWord(v));
  const zh = head(z);
  const f = LOGS[at];
  const a = zh * f - 1;
  const b = (z - zh) * f;
  const r = a + b;
  const rl = (a - r) + b;
  const high = k * LN2_42 + LOGS[at + 1];
  const low = k * LN2_42_LOW + LOGS[at + 2];
  const rh = head(r);
  const half = 0.5 * rh * rh; // exactly; r^2 / 2 is that and a little
  const s = high + r;
  const u = s - half;
  const lost = ((high - s) + r) + ((s - u) - half);
  const rest = lost + (low + ((rl - rl * r) + (logPart(r) - 0.5 * (r - rh) * (r + rh))));
  const y = u + rest;
  setTail((u - y) + rest);
  return y;
}

// special is the logarithm of what is not positive and finite.
function special(x) {
  if (x === 0) return -Infinity;
  return x > 0 ? Infinity : NaN;
}

export function log(x) {
  if (!(x > 0 && x < Infinity)) return special(x);
  const small = x < 2.2250738585072014e-308;
  return logNear(small ? x * 18014398509481984 : x, 0, small ? -54 : 0);
}

// withTail is logOf of any positive finite number.
export function withTail(x) {
  const small = x < 2.2250738585072014e-308;
  return logOf(small ? x * 18014398509481984 : x, small ? -54 : 0);
}

// timesFactor is the product of y with its tail and of f with its own, f having
// 26 bits.
function timesFactor(y, f, low) {
  const yh = head(y);
  return yh * f + (((y - yh) + tail()) * f + y * low);
}

export function log2(x) {
  if (!(x > 0 && x < Infinity)) return special(x);
  return timesFactor(withTail(x), 1.4426950216293335, 1.9259629911266175e-08);
}

export function log10(x) {
  if (!(x > 0 && x < Infinity)) return special(x);
  return timesFactor(withTail(x), 0.4342944771051407, 4.798111141615973e-09);
}

// log1pOf is log(1 + w + c) for w > -1, c being the tail of w.
export function log1pOf(w, c) {
  if (Math.abs(w) < 0.0104) return w + (c * (1 - w) + (logPart(w) - 0.5 * w * w));
  const u = 1 + w;
  const lost = w < 1 ? (1 - u) + w : (w - u) + 1;
  return logNear(u, (lost + c) / u, 0);
}

export function log1p(x) {
  if (x > -1 && x < Infinity) {
    if (Math.abs(x) < 1e-17) return x; // -0 too
    return log1pOf(x, 0);
  }
  return special(1 + x);
}
