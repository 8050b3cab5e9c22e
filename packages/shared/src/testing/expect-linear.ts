import fc from "fast-check";
import { growingText } from "./growing-texts.ts";
import { findGrowth, GROWING_TEXTS } from "./growth.ts";

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
