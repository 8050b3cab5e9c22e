import fc from "fast-check";
import { findGrowth, GROWING_TEXTS, type GrowingText } from "./growth.ts";
import { HOSTILE_PIECES } from "./hostile-texts.ts";

const piece = fc.constantFrom(...HOSTILE_PIECES, ...GROWING_TEXTS.flat());
const pieces = (maxLength: number, minLength = 0) =>
  fc.array(piece, { minLength, maxLength }).map((all) => all.join(""));

/** Made of pieces that make texts expensive for careless parsers. */
const growingText: fc.Arbitrary<GrowingText> = fc
  .tuple(pieces(3), pieces(4, 1), pieces(2))
  .filter(([, unit]) => unit !== "");

/** Besides those of `GROWING_TEXTS`. */
const RANDOM_TEXTS = 200;

/** @throws Error if the run time grows much faster than the length of the text. */
export function expectLinear(parse: (text: string) => unknown): void {
  const check = (growing: (typeof GROWING_TEXTS)[number]): void => {
    const growth = findGrowth(parse, growing);
    if (growth !== undefined) throw new Error(`the run time grows too fast for ${growth}`);
  };
  for (const growing of GROWING_TEXTS) check(growing);
  fc.assert(fc.property(growingText, check), { numRuns: RANDOM_TEXTS });
}
