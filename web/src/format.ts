/** Numbers and words as people read them. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** 30,000 */
export function count(value: number): string {
  return whole.format(value);
}

/** 30K */
export function compact(value: number): string {
  return value < 10_000 ? whole.format(value) : short.format(value);
}

/** 1 state, 2 states */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** 0.971 */
export function decimal(value: number, digits = 3): string {
  return value.toFixed(digits);
}

/** 60 %, <1 %, >99 %: never rounded to all or nothing. */
export function share(value: number): string {
  if (value > 0 && value < 0.01) return "<1 %";
  if (value < 1 && value > 0.99) return ">99 %";
  return `${Math.round(value * 100)} %`;
}

/** 0.8 ms, 12 s, 3 min 20 s, 2 h 5 min */
export function duration(seconds: number): string {
  if (seconds < 1) {
    const milliseconds = seconds * 1000;
    return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  }
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const rounded = Math.round(seconds);
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
}

/** display mode, for display_mode: a name of a setting as words. */
export function worded(name: string): string {
  return name.replaceAll("_", " ");
}

/** Text of an explored application in one line: control characters shown as a dot, and cut to a length. */
export function line(text: string, length = 120): string {
  // eslint-disable-next-line no-control-regex
  const plain = text.slice(0, length * 4).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ");
  const letters = [...plain.trim()];
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : letters.join("");
}
