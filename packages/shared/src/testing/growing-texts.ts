import fc from "fast-check";
import { GROWING_TEXTS, type GrowingText } from "./growth.ts";
import { HOSTILE_PIECES } from "./hostile-texts.ts";

const piece = fc.constantFrom(...HOSTILE_PIECES, ...GROWING_TEXTS.flat());
const pieces = (maxLength: number, minLength = 0) =>
  fc.array(piece, { minLength, maxLength }).map((all) => all.join(""));

/** Made of pieces that make texts expensive for careless parsers. */
export const growingText: fc.Arbitrary<GrowingText> = fc
  .tuple(pieces(3), pieces(4, 1), pieces(2))
  .filter(([, unit]) => unit !== "");
