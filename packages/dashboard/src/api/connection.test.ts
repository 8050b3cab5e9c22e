import { expect, test } from "vitest";
import { afterAnswer, type Connection } from "./connection.ts";

const FINE: Connection = {
  lostSince: undefined,
  unavailable: undefined,
  limitedUntil: undefined,
  sessionEnded: false,
};
const answer = (status: number, headers: Record<string, string> = {}) =>
  new Response(status === 204 ? null : "{}", { status, headers });

test("an answer ends the note about a lost connection", () => {
  expect(afterAnswer({ ...FINE, lostSince: 5 }, answer(200), 9)).toEqual(FINE);
});

test("a limited request goes on when the answer says so", () => {
  const after = afterAnswer(FINE, answer(429, { "retry-after": "4" }), 1_000);
  expect(after.limitedUntil).toBe(5_000);
});

test("an unavailable server is named with the id of the request", () => {
  const after = afterAnswer(FINE, answer(503, { "x-request-id": "r1" }), 1_000);
  expect(after.unavailable).toEqual({ until: 3_000, requestId: "r1" });
});

test("an ended session stays ended until a request is answered with success", () => {
  const ended = afterAnswer(FINE, answer(401), 0);
  expect(ended.sessionEnded).toBe(true);
  expect(afterAnswer(ended, answer(404), 0).sessionEnded).toBe(true);
  expect(afterAnswer(ended, answer(201), 0).sessionEnded).toBe(false);
});
