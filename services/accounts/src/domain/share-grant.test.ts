import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyForMs, shareGrant } from "#src/domain/share-grant.ts";

const wants = fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 20 });

test("shareGrant divides all requests that a workspace was granted among the API key checks of a batch if any of these checks wants requests", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2000 }), wants, (granted, asked) => {
      const shares = shareGrant(granted, asked);
      const sum = shares.reduce((total, share) => total + share, 0);
      expect(shares).toHaveLength(asked.length);
      expect(sum).toBe(asked.some((want) => want > 0) ? granted : 0);
    }),
  );
});

test("shareGrant grants requests in advance only after every API key check of a batch has received the requests that it wants", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2000 }), wants, (granted, asked) => {
      const shares = shareGrant(granted, asked);
      const isPrepaid = shares.some((share, index) => share > (asked[index] ?? 0));
      const isShort = shares.some((share, index) => share < (asked[index] ?? 0));
      expect(isPrepaid && isShort).toBe(false);
    }),
  );
});

test("shareGrant gives nothing to an API key check that wants no requests", () => {
  expect(shareGrant(16, [0, 1, 0, 1])).toEqual([0, 8, 0, 8]);
});

test("shareGrant serves API key checks in the order of their batch when too few requests were granted for all of them", () => {
  expect(shareGrant(3, [2, 2, 2])).toEqual([2, 1, 0]);
});

test("emptyForMs returns the milliseconds until a token bucket allows one more request", () => {
  expect(emptyForMs(0, 600)).toBe(100);
  expect(emptyForMs(0.5, 60)).toBe(500);
  expect(emptyForMs(0.999_999, 600)).toBe(1);
  expect(emptyForMs(1, 600)).toBe(0);
});
