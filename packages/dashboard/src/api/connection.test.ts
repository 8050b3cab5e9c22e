import { expect, test, vi } from "vitest";
import { changeSettings } from "../settings/settings.ts";
import { afterAnswer, type Connection, watchedFetch } from "./connection.ts";

const FINE: Connection = {
  lostSince: undefined,
  unavailable: undefined,
  limitedUntil: undefined,
  sessionEnded: false,
  otherWorkspace: false,
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

test("a session of another workspace is known by the code of the refusal, until an answer says otherwise", () => {
  expect(afterAnswer(FINE, answer(403), 0, "insufficient_scope")).toEqual(FINE);
  const other = afterAnswer({ ...FINE, sessionEnded: true }, answer(403), 0, "workspace_forbidden");
  expect(other).toEqual({ ...FINE, otherWorkspace: true });
  expect(afterAnswer(other, answer(429), 0).otherWorkspace).toBe(true);
  expect(afterAnswer(other, answer(200), 0)).toEqual(FINE);
});

test("a request asks for the language of the page, also after that has been changed, and keeps its other headers", async () => {
  const asked: (string | null)[] = [];
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("requestAnimationFrame", () => 0);
  vi.stubGlobal("fetch", (_url: string, { headers }: { readonly headers: Headers }) => {
    asked.push(headers.get("accept-language"), headers.get("if-match"));
    return Promise.resolve(answer(200));
  });
  for (const language of ["ko", "en"] as const) {
    changeSettings({ language });
    await watchedFetch("/api", { headers: { "if-match": "1" } });
  }
  expect(asked).toEqual(["ko", "1", "en", "1"]);
  vi.unstubAllGlobals();
});
