import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyForMs, shareGrant } from "#src/domain/share-grant.ts";

const wants = fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 20 });

test("exactly what was granted is shared out, while somebody wants something", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2000 }), wants, (granted, asked) => {
      const shares = shareGrant(granted, asked);
      const sum = shares.reduce((total, share) => total + share, 0);
      expect(shares).toHaveLength(asked.length);
      expect(sum).toBe(asked.some((want) => want > 0) ? granted : 0);
    }),
  );
});

test("nobody prepays before everybody has what they wait for", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2000 }), wants, (granted, asked) => {
      const shares = shareGrant(granted, asked);
      const isPrepaid = shares.some((share, index) => share > (asked[index] ?? 0));
      const isShort = shares.some((share, index) => share < (asked[index] ?? 0));
      expect(isPrepaid && isShort).toBe(false);
    }),
  );
});

test("who only asks for the key gets nothing", () => {
  expect(shareGrant(16, [0, 1, 0, 1])).toEqual([0, 8, 0, 8]);
});

test("the first in the batch come first when there is too little", () => {
  expect(shareGrant(3, [2, 2, 2])).toEqual([2, 1, 0]);
});

test("an empty bucket says when the next request is there", () => {
  expect(emptyForMs(0, 600)).toBe(100);
  expect(emptyForMs(0.5, 60)).toBe(500);
  expect(emptyForMs(0.999_999, 600)).toBe(1);
  expect(emptyForMs(1, 600)).toBe(0);
});
