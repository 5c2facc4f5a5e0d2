/** The gamma function, which JavaScript lacks. Lanczos' approximation, to about 15 digits. */

const G = 7;
const COEFFICIENTS = [
  0.99999999999980993,
  676.5203681218851,
  -1259.1392167224028,
  771.32342877765313,
  -176.61502916214059,
  12.507343278686905,
  -0.13857109526572012,
  9.9843695780195716e-6,
  1.5056327351493116e-7,
];

function series(value: number): number {
  return COEFFICIENTS.reduce((sum, coefficient, index) => index === 0 ? sum : sum + coefficient / (value + index));
}

/** The gamma function. */
export function gamma(value: number): number {
  if (value === -Infinity || (value < 0 && Number.isInteger(value))) return NaN;
  if (value === 0) return 1 / value;
  if (Number.isInteger(value) && value <= 171) {
    let product = 1;
    for (let factor = 2; factor < value; factor++) product *= factor;
    return product;
  }
  if (value < 0.5) return Math.PI / (Math.sin(Math.PI * value) * gamma(1 - value));
  if (value > 171.7) return Infinity;
  const t = value - 1 + G + 0.5;
  // In two steps, as the power is out of range before the result is.
  const half = t ** ((value - 0.5) / 2);
  return Math.sqrt(2 * Math.PI) * half * Math.exp(-t) * half * series(value - 1);
}

/** The logarithm of the gamma function's size. */
export function lgamma(value: number): number {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? NaN : Infinity;
  if (value <= 0 && Number.isInteger(value)) return Infinity;
  if (value === 1 || value === 2) return 0;
  if (Number.isInteger(value) && value <= 30) return Math.log(gamma(value));
  if (value < 0.5) return Math.log(Math.abs(Math.PI / Math.sin(Math.PI * value))) - lgamma(1 - value);
  const t = value - 1 + G + 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (value - 0.5) * Math.log(t) - t + Math.log(series(value - 1));
}
