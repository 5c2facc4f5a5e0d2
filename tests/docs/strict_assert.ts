/** Loaded before the documentation's examples: there a failed `console.assert` is a failure. */
// deno-lint-ignore no-console
console.assert = (condition?: boolean, ...data: unknown[]) => {
  if (!condition) throw new Error(`the example does not hold ${data.map(String).join(" ")}`);
};
