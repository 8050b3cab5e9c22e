/** Expensive for backtracking regular expressions, sorting, rescanning. */
export const HOSTILE_PIECES: readonly string[] = [
  ...Array.from("aA1 \n\t#@._-~/()?&,;:!'\"<>[]{}%\\"),
  "#a",
  "@a ",
  "a.",
  "a@",
  "a.co",
  "a.co ",
  "a.co/",
  "a.co/(",
  "a.co/!",
  "/(a)",
  "&amp;",
  "..",
  "_.",
  "http://",
  "https://t.co/a",
  "xn--a.",
  "日本.jp",
  ".한국",
  "com.museum",
  ":80",
  "\r\n",
  "\u3000",
  "é",
  "e\u0301",
  "\u0301\u0316",
  "\u0f73",
  "\u{16d67}",
  "\u1161",
  "각",
  "\u0915\u094d\u200d",
  "ﬁ",
  "👨‍👩‍👧‍👦",
  "👨\u200d",
  "👍🏽",
  "🇰",
  "1\u20e3",
  "\u{e0067}",
  "\u200d",
  "\ufe0f",
  "＃a",
  "＠a",
];

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Creates test data: texts of about `maxBytes` bytes in UTF-8 that take long if the work on them
 * grows faster than their length. The first texts each repeat one string of `HOSTILE_PIECES`. They
 * are followed by `mixtures` random texts, which repeat a few of these strings between others, or
 * contain long runs of several strings. The same seed creates the same texts.
 */
export function* createHostileTexts(
  maxBytes: number,
  { mixtures = 0, seed = 1 }: { readonly mixtures?: number; readonly seed?: number } = {},
): Generator<string> {
  const random = createRandom(seed);
  const pick = () => HOSTILE_PIECES[random(HOSTILE_PIECES.length)] ?? "";
  const fill = (unit: string, bytes: number) =>
    unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));
  for (const piece of HOSTILE_PIECES) yield fill(piece, maxBytes);
  for (let mixture = 0; mixture < mixtures; mixture += 1) {
    const unit = Array.from({ length: 1 + random(5) }, pick).join("");
    yield mixture % 2 === 0
      ? pick() + pick() + fill(unit, maxBytes) + pick() + pick()
      : Array.from({ length: 4 }, () => pick() + fill(pick(), maxBytes / 4)).join("");
  }
}

/**
 * Returns the processor time in milliseconds that the calling thread spends on a call. Unlike the
 * duration of the call, the processor time does not grow when the machine is busy with other work.
 */
export async function measureCpuMs(action: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await action();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
