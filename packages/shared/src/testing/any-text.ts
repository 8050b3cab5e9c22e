import fc from "fast-check";

/** Unicode characters. The surrogates between 0xd7ff and 0xe000 are none. */
const codePoints = fc.oneof(
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0xffff }),
  fc.integer({ min: 0x10000, max: 0x10ffff }),
);

/** `fc.string({ unit: "binary" })` takes a second of each process to list all code points. */
export function anyText(limits: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  return fc.array(codePoints, limits).map((points) => String.fromCodePoint(...points));
}
