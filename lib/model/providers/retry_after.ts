/** When a server asks to come back. */

/** Milliseconds to wait by `retry-after-ms` or `Retry-After` (seconds or a date); undefined when neither is usable. */
export function retryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = numberOf(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const value = headers.get("retry-after")?.trim() ?? "";
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds * 1000;
  // A bare number that is no time to wait is no date either, though `Date.parse` reads `-1` as one.
  if (!/[a-z]/i.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
