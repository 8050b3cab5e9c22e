import fc from "fast-check";
import { growingText } from "./growing-texts.ts";
import { findGrowth, GROWING_TEXTS } from "./growth.ts";

/**
 * Number of random texts for which the growth of a parser's run time is measured, besides those of
 * `GROWING_TEXTS`.
 */
const RANDOM_TEXTS = 200;

/**
 * @throws Error with the text and the run times, if the run time of a parser grows much faster than
 *   the length of its text.
 */
export function expectLinear(parse: (text: string) => unknown): void {
  const check = (growing: (typeof GROWING_TEXTS)[number]): void => {
    const growth = findGrowth(parse, growing);
    if (growth !== undefined) throw new Error(`the run time grows too fast for ${growth}`);
  };
  for (const growing of GROWING_TEXTS) check(growing);
  fc.assert(fc.property(growingText, check), { numRuns: RANDOM_TEXTS });
}
