import { createHostileTexts } from "./hostile-texts.ts";

/** Length in UTF-16 units of the shortest of the three texts on which a parser is measured. */
const SHORTEST = 16_384;
const REPEATS = 5;
/**
 * Processor time in milliseconds below which the longest text says nothing about the growth of the
 * run time: a quadratic one takes a second.
 */
const NEGLIGIBLE_MS = 40;
/**
 * Maximum ratio of the times for texts of four times the length. It is 4 for a linear run time and
 * 16 for a quadratic one; the difference leaves room for other work on the machine.
 */
const MAX_RATIO = 10;

/** Linux counts processor time in ticks of up to 4 ms, so a short run can seem to take one less. */
const TICK_MS = 4;

/** A text that can have any length: a begin, a unit that is repeated, and an end. */
export type GrowingText = readonly [begin: string, unit: string, end: string];

/** The texts of issues in which the run time of a parser grew too fast, and texts like them. */
export const GROWING_TEXTS: readonly GrowingText[] = [
  ["a.co/", "(a)", ""],
  ["a.co/", "(a", ""],
  ["a.co/", "((a)", ""],
  ["a.co/", "@a", "/"],
  ["a.co/", "!", ""],
  ["a.co?", "!", ""],
  ["a.co:", "1", ""],
  ["https://t.co/", "a", ""],
  ["xn--日", "a", "日.com"],
  ["xn--", "a.", "com"],
  ["日", "a", "日.jp"],
  ["@a", ".a", "-"],
  ["#a", "_.", "\0"],
  ["", "#", "\n"],
  ["", "/", "x"],
  ["", " ", "x"],
  ["application/json", " ", "x"],
  ["Bearer ", " ", "x y"],
  ["&", "amp;", "x"],
  ["<b", " a", ""],
  ["<meta ", "a", ">"],
  ['<meta a="', "'a=", ">"],
  ["https://a.co/", ")", ""],
  ["https://a.co/", "(", ")"],
  ["https://a.co", ".", ""],
  ["👨", "\u200d👨", ""],
  ["🏴", "\u{e0067}", "\u{e007f}"],
];

function build([begin, unit, end]: GrowingText, length: number): string {
  return begin + unit.repeat(Math.max(1, Math.floor(length / unit.length))) + end;
}

/** Returns the shortest of several runs, because compilation and other work only add time. */
function measureMs(run: (text: string) => unknown, text: string): number {
  let shortest = Infinity;
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const before = process.threadCpuUsage();
    run(text);
    const { user, system } = process.threadCpuUsage(before);
    shortest = Math.min(shortest, (user + system) / 1000);
    if (shortest < NEGLIGIBLE_MS) break;
  }
  return shortest;
}

/**
 * Returns how much the run time of a parser grows from n and 2n to 4n characters, if it grows much
 * faster than the length of the text; undefined if it is linear, or so short that its growth does
 * not matter.
 */
export function findGrowth(
  run: (text: string) => unknown,
  growing: GrowingText,
): string | undefined {
  const long = measureMs(run, build(growing, 4 * SHORTEST));
  if (long < NEGLIGIBLE_MS) return undefined;
  const [short, middle] = [1, 2].map((factor) => measureMs(run, build(growing, factor * SHORTEST)));
  if (short === undefined || middle === undefined || long <= MAX_RATIO * (short + TICK_MS))
    return undefined;
  return `${JSON.stringify(growing)}: ${[short, middle, long].map((ms) => ms.toFixed(1)).join(", ")} ms`;
}

/** About `length` UTF-16 units: `GROWING_TEXTS` and `createHostileTexts`. */
export function* createWorstTexts(length: number): Generator<string> {
  for (const growing of GROWING_TEXTS) yield build(growing, length);
  yield* createHostileTexts(length, { mixtures: 20 });
}
