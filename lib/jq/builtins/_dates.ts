/** Functions of dates. */
import type { JsonValue } from "../../base/json.ts";
import type { Native } from "../compile/contract.ts";
import { fail, isArray } from "../values/kinds.ts";
import { type BrokenTime, complete, formatTime, fromSeconds, parseTime, toSeconds, type Zone } from "./_strftime.ts";

/** Characters of a format. */
const MOST_FORMAT = 4096;

const UTC: Zone = { name: "UTC", offset: 0 };

function toArray({ year, month, day, hour, minute, second, weekday, yearday }: BrokenTime): JsonValue {
  return [year, month, day, hour, minute, second, weekday, yearday];
}

/** An array as jq takes a time apart; what is missing at its end is 0. */
function fromArray(items: readonly JsonValue[], name: string): BrokenTime {
  if (items.length < 3 || !items.every((item) => typeof item === "number")) {
    return fail(`${name} requires parsed datetime inputs`);
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, weekday, yearday] = (items as number[])
    .map((item, index) => index === 5 ? item : Math.trunc(item));
  const time = complete({ year, month, day, hour, minute, second });
  return { ...time, weekday: clamp(weekday, 6) ?? time.weekday, yearday: yearday ?? time.yearday };
}

const clamp = (value: number | undefined, most: number): number | undefined =>
  value !== undefined && value >= 0 && value <= most ? value : undefined;

function brokenDown(input: number, name: string): BrokenTime {
  return fromSeconds(input) ?? fail(`${name}: the time is out of range`);
}

/** How many minutes this machine's zone is east of Greenwich at a time. */
function localOffset(seconds: number): number {
  return -new Date(seconds * 1000).getTimezoneOffset();
}

function localZone(seconds: number): Zone {
  const parts = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" }).formatToParts(seconds * 1000);
  return {
    name: parts.find(({ type }) => type === "timeZoneName")?.value ?? "UTC",
    offset: localOffset(seconds),
  };
}

function requireFormat(format: string): void {
  if (format.length > MOST_FORMAT) fail(`a date format may have ${MOST_FORMAT} characters`);
}

function strftime(input: JsonValue, format: JsonValue): JsonValue {
  const name = "strftime/1";
  if (typeof input !== "number" && !isArray(input)) return fail(`${name} requires parsed datetime inputs`);
  if (typeof format !== "string") return fail(`${name} requires a string format`);
  requireFormat(format);
  const time = isArray(input) ? fromArray(input, name) : brokenDown(input, name);
  return formatTime(format, time, UTC);
}

function strflocaltime(input: JsonValue, format: JsonValue): JsonValue {
  const name = "strflocaltime/1";
  if (typeof input !== "number" && !isArray(input)) return fail(`${name} requires parsed datetime inputs`);
  if (typeof format !== "string") return fail(`${name} requires a string format`);
  requireFormat(format);
  if (typeof input === "number") {
    const zone = localZone(brokenDown(input, name) && input);
    return formatTime(format, brokenDown(input + zone.offset * 60, name), zone);
  }
  const time = fromArray(input, name);
  return formatTime(format, time, localZone(toSeconds(time)));
}

/** By name and number of arguments. */
export const DATES: readonly (readonly [key: string, native: Native])[] = [
  ["now/0", () => Date.now() / 1000],
  ["mktime/0", (_, input) => {
    if (!isArray(input)) return fail("mktime requires array inputs");
    return toSeconds(fromArray(input, "mktime"));
  }],
  ["gmtime/0", (_, input) => {
    if (typeof input !== "number") return fail("gmtime() requires numeric inputs");
    return toArray(brokenDown(input, "gmtime"));
  }],
  ["localtime/0", (_, input) => {
    if (typeof input !== "number") return fail("localtime() requires numeric inputs");
    return toArray(brokenDown(input + localOffset(input) * 60, "localtime"));
  }],
  ["strftime/1", (_, input, format) => strftime(input, format!)],
  ["strflocaltime/1", (_, input, format) => strflocaltime(input, format!)],
  ["strptime/1", (_, input, format) => {
    if (typeof input !== "string" || typeof format !== "string") {
      return fail("strptime/1 requires string inputs and arguments");
    }
    requireFormat(format);
    const time = parseTime(input, format);
    return time === undefined ? fail(`date "${input}" does not match format "${format}"`) : toArray(time);
  }],
];
