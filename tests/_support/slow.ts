/** Suites that take long run in CI only; on a developer's machine `CI=true deno task test` runs them, too. */
export const SLOW = { ignore: Deno.env.get("CI") !== "true" };
