/** Functions of numbers. */
import type { JsonValue } from "../../base/json.ts";
import type { Native } from "../compile/contract.ts";
import { describe, fail } from "../values/kinds.ts";
import { gamma, lgamma } from "./_gamma.ts";

function numberOf(value: JsonValue): number {
  return typeof value === "number" ? value : fail(`${describe(value)} number required`);
}

/** Rounds halves to the even neighbour. */
function roundEven(value: number): number {
  const rounded = Math.round(value);
  return Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** Rounds halves away from zero. */
const roundAway = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

/** Mantissa from 0.5 to 1, and exponent. */
function frexp(value: number): [mantissa: number, exponent: number] {
  if (value === 0 || !Number.isFinite(value)) return [value, 0];
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(value))) + 1);
  let mantissa = value * 2 ** -exponent;
  // Subnormal numbers, and logarithms that were rounded up.
  while (Math.abs(mantissa) < 0.5) {
    mantissa *= 2;
    exponent--;
  }
  while (Math.abs(mantissa) >= 1) {
    mantissa /= 2;
    exponent++;
  }
  return [mantissa, exponent];
}

/** In two steps, as one factor may be out of range where the result is not. */
function ldexp(value: number, exponent: number): number {
  const whole = Math.max(-2200, Math.min(2200, Math.trunc(exponent)));
  const half = Math.trunc(whole / 2);
  return value * 2 ** half * 2 ** (whole - half);
}

function nextAfter(from: number, to: number): number {
  if (Number.isNaN(from) || Number.isNaN(to)) return NaN;
  if (from === to) return to;
  if (from === 0) return to > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, from);
  const step = (to > from) === (from > 0) ? 1n : -1n;
  view.setBigInt64(0, view.getBigInt64(0) + step);
  return view.getFloat64(0);
}

function remainderOf(a: number, b: number): number {
  const quotient = roundEven(a / b);
  return a - quotient * b;
}

const ONE: Readonly<Record<string, (value: number) => JsonValue>> = {
  floor: Math.floor,
  ceil: Math.ceil,
  round: roundAway,
  trunc: Math.trunc,
  rint: roundEven,
  nearbyint: roundEven,
  fabs: Math.abs,
  sqrt: Math.sqrt,
  cbrt: Math.cbrt,
  exp: Math.exp,
  exp2: (value) => 2 ** value,
  exp10: (value) => 10 ** value,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  gamma: lgamma,
  lgamma,
  lgamma_r: (value) => [lgamma(value), gamma(value) < 0 ? -1 : 1],
  tgamma: gamma,
  significand: (value) => value === 0 || !Number.isFinite(value) ? value : frexp(value)[0] * 2,
  logb: (value) => value === 0 ? -Infinity : Number.isFinite(value) ? frexp(value)[1] - 1 : Math.abs(value),
  frexp,
  modf: (value) => [Number.isFinite(value) ? value % 1 : 0, Math.trunc(value)],
};

const TWO: Readonly<Record<string, (a: number, b: number) => number>> = {
  pow: (a, b) => a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b,
  atan2: Math.atan2,
  fmod: (a, b) => a % b,
  ldexp,
  scalb: ldexp,
  scalbln: ldexp,
  nextafter: nextAfter,
  nexttoward: nextAfter,
  copysign: (a, b) => (b < 0 || Object.is(b, -0)) === (a < 0 || Object.is(a, -0)) ? a : -a,
  drem: remainderOf,
  fdim: (a, b) => a > b ? a - b : a <= b ? 0 : NaN,
  fmax: (a, b) => Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b),
  fmin: (a, b) => Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b),
  hypot: Math.hypot,
};

/** By name and number of arguments. */
export const MATH: readonly (readonly [key: string, native: Native])[] = [
  ...Object.entries(ONE).map(([name, f]) => [`${name}/0`, (_, input) => f(numberOf(input))] as [string, Native]),
  ...Object.entries(TWO).map(([name, f]) =>
    [`${name}/2`, (_, __, a, b) => f(numberOf(a!), numberOf(b!))] as [string, Native]
  ),
  ["fma/3", (_, __, a, b, c) => numberOf(a!) * numberOf(b!) + numberOf(c!)],
  ["infinite/0", () => Infinity],
  ["nan/0", () => NaN],
  ["isinfinite/0", (_, input) => Math.abs(numberOf(input)) === Infinity],
  ["isnan/0", (_, input) => Number.isNaN(numberOf(input))],
  [
    "isnormal/0",
    (_, input) => Number.isFinite(numberOf(input)) && Math.abs(input as number) >= 2.2250738585072014e-308,
  ],
  [
    "abs/0",
    (_, input) => typeof input === "number" ? (input < 0 || Object.is(input, -0) ? -input : input) : input,
  ],
];
