/** Dates to text and back, by C's formats, in English. */

/** A point in time, taken apart as jq does: month and weekday from 0, day of the year from 0. */
export interface BrokenTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number;
  readonly yearday: number;
}

/** The zone that a time is told in. */
export interface Zone {
  readonly name: string;
  /** Minutes east of Greenwich. */
  readonly offset: number;
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = (
  "January February March April May June July August September October November December"
).split(" ");

/** Seconds since 1970 of a time in UTC. */
export function toSeconds({ year, month, day, hour, minute, second }: BrokenTime): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, Math.floor(second));
  return Math.floor(date.getTime() / 1000);
}

/** Weekday and day of the year from the date. */
export function complete(time: Omit<BrokenTime, "weekday" | "yearday">): BrokenTime {
  const date = new Date(0);
  date.setUTCFullYear(time.year, time.month, time.day);
  const first = new Date(0);
  first.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return { ...time, weekday: date.getUTCDay(), yearday: Math.round((date.getTime() - first.getTime()) / 86_400_000) };
}

const pad = (value: number, size = 2, fill = "0"): string => String(Math.trunc(value)).padStart(size, fill);

/** Year and number of the ISO week. */
function isoWeek(time: BrokenTime): [year: number, week: number] {
  const weekday = (time.weekday + 6) % 7;
  const week = Math.floor((time.yearday - weekday + 10) / 7);
  const weeksOf = (year: number) => {
    const start = complete({ year, month: 0, day: 1, hour: 0, minute: 0, second: 0 }).weekday;
    const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    return start === 4 || (leap && start === 3) ? 53 : 52;
  };
  if (week < 1) return [time.year - 1, weeksOf(time.year - 1)];
  return week > weeksOf(time.year) ? [time.year + 1, 1] : [time.year, week];
}

/** A time as text. */
export function formatTime(format: string, time: BrokenTime, zone: Zone): string {
  const hour12 = time.hour % 12 === 0 ? 12 : time.hour % 12;
  const again = (inner: string) => formatTime(inner, time, zone);
  const parts: Readonly<Record<string, () => string>> = {
    a: () => DAYS[time.weekday]!.slice(0, 3),
    A: () => DAYS[time.weekday]!,
    b: () => MONTHS[time.month]!.slice(0, 3),
    B: () => MONTHS[time.month]!,
    c: () => again("%a %b %e %H:%M:%S %Y"),
    C: () => pad(Math.floor(time.year / 100)),
    d: () => pad(time.day),
    D: () => again("%m/%d/%y"),
    e: () => pad(time.day, 2, " "),
    F: () => again("%Y-%m-%d"),
    g: () => pad(isoWeek(time)[0] % 100),
    G: () => String(isoWeek(time)[0]),
    h: () => again("%b"),
    H: () => pad(time.hour),
    I: () => pad(hour12),
    j: () => pad(time.yearday + 1, 3),
    k: () => pad(time.hour, 2, " "),
    l: () => pad(hour12, 2, " "),
    m: () => pad(time.month + 1),
    M: () => pad(time.minute),
    n: () => "\n",
    p: () => time.hour < 12 ? "AM" : "PM",
    P: () => time.hour < 12 ? "am" : "pm",
    r: () => again("%I:%M:%S %p"),
    R: () => again("%H:%M"),
    s: () => String(toSeconds(time) - zone.offset * 60),
    S: () => pad(time.second),
    t: () => "\t",
    T: () => again("%H:%M:%S"),
    u: () => String(time.weekday === 0 ? 7 : time.weekday),
    U: () => pad(Math.floor((time.yearday + 7 - time.weekday) / 7)),
    V: () => pad(isoWeek(time)[1]),
    w: () => String(time.weekday),
    W: () => pad(Math.floor((time.yearday + 7 - ((time.weekday + 6) % 7)) / 7)),
    x: () => again("%m/%d/%y"),
    X: () => again("%H:%M:%S"),
    y: () => pad(((time.year % 100) + 100) % 100),
    Y: () => String(time.year),
    z: () => {
      const size = Math.abs(zone.offset);
      return `${zone.offset < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}${pad(size % 60)}`;
    },
    Z: () => zone.name,
    "%": () => "%",
  };
  return format.replace(/%[EO_0^#-]?([A-Za-z%])/g, (whole, letter: string) => {
    return Object.hasOwn(parts, letter) ? parts[letter]!() : whole;
  });
}

/** A text as a time in UTC; undefined when it does not have the format. */
export function parseTime(text: string, format: string): BrokenTime | undefined {
  const found = { year: 1900, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  let at = 0;
  let afternoon: boolean | undefined;
  let seconds: number | undefined;
  let yearday: number | undefined;
  const number = (most: number, size: number): number => {
    const digits = new RegExp(`^[ ]*([+-]?\\d{1,${size}})`).exec(text.slice(at));
    if (digits === null || Number(digits[1]) > most) throw new RangeError();
    at += digits[0].length;
    return Number(digits[1]);
  };
  const name = (names: readonly string[]): number => {
    const rest = text.slice(at).toLowerCase();
    for (const [index, one] of names.entries()) {
      for (const form of [one.toLowerCase(), one.slice(0, 3).toLowerCase()]) {
        if (!rest.startsWith(form)) continue;
        at += form.length;
        return index;
      }
    }
    throw new RangeError();
  };
  // Read over, as in jq: what is made of the text is the time that it tells, wherever that is.
  const zone = (): void => {
    const match = /^(?:[A-Za-z]+|[+-]\d{2}:?(?:\d{2})?)/.exec(text.slice(at));
    if (match === null) throw new RangeError();
    at += match[0].length;
  };
  const parts: Readonly<Record<string, () => void>> = {
    a: () => void name(DAYS),
    A: () => void name(DAYS),
    b: () => void (found.month = name(MONTHS)),
    B: () => void (found.month = name(MONTHS)),
    h: () => void (found.month = name(MONTHS)),
    d: () => void (found.day = number(31, 2)),
    e: () => void (found.day = number(31, 2)),
    H: () => void (found.hour = number(23, 2)),
    k: () => void (found.hour = number(23, 2)),
    I: () => void (found.hour = number(12, 2)),
    l: () => void (found.hour = number(12, 2)),
    j: () => void (yearday = number(366, 3) - 1),
    m: () => void (found.month = number(12, 2) - 1),
    M: () => void (found.minute = number(59, 2)),
    S: () => void (found.second = number(61, 2)),
    s: () => void (seconds = number(Infinity, 12)),
    y: () => {
      const year = number(99, 2);
      found.year = year < 69 ? 2000 + year : 1900 + year;
    },
    Y: () => void (found.year = number(9999, 4)),
    p: () => void (afternoon = name(["AM", "PM"]) === 1),
    u: () => void number(7, 1),
    w: () => void number(6, 1),
    Z: zone,
    z: zone,
    D: () => read("%m/%d/%y"),
    F: () => read("%Y-%m-%d"),
    R: () => read("%H:%M"),
    r: () => read("%I:%M:%S %p"),
    T: () => read("%H:%M:%S"),
    c: () => read("%a %b %e %H:%M:%S %Y"),
    n: () => {},
    t: () => {},
    "%": () => literal("%"),
  };
  const literal = (character: string): void => {
    if (/\s/.test(character)) at += /^\s*/.exec(text.slice(at))![0].length;
    else if (text.startsWith(character, at)) at += character.length;
    else throw new RangeError();
  };
  const read = (inner: string): void => {
    for (const [part, letter] of inner.matchAll(/%[EO_0^#-]?([A-Za-z%])|[^]/gu)) {
      if (letter === undefined) literal(part);
      else if (Object.hasOwn(parts, letter)) parts[letter]!();
      else throw new RangeError();
    }
  };
  try {
    read(format);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  if (at < text.length) return undefined;
  if (afternoon !== undefined) found.hour = (found.hour % 12) + (afternoon ? 12 : 0);
  if (seconds !== undefined) return fromSeconds(seconds);
  if (yearday !== undefined && found.day === 0) {
    return fromSeconds(toSeconds(complete({ ...found, month: 0, day: 1 })) + yearday * 86_400);
  }
  return complete(found);
}

/** Seconds since 1970 as a time in UTC; the part below a second stays. */
export function fromSeconds(seconds: number): BrokenTime | undefined {
  const whole = Math.floor(seconds);
  const date = new Date(whole * 1000);
  if (Number.isNaN(date.getTime())) return undefined;
  return complete({
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds() + (seconds - whole),
  });
}
