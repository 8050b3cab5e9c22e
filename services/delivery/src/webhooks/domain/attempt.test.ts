import { expect, test } from "vitest";
import { type Attempt, parseRetryAfter, toOutcome } from "./attempt.ts";
import { scheduleRetry } from "./retry-schedule.ts";

const NOW = new Date("2026-11-23T12:00:00Z");
const DAY = 86_400_000;

test("a failed webhook delivery is sent again after 5 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 18 h and 24 h, and then no more", () => {
  const waits = Array.from({ length: 11 }, (_, index) => scheduleRetry(index + 1, () => 0.5));
  expect(waits.map((next) => (next.kind === "retry" ? next.delayMs / 1000 : next.kind))).toEqual([
    5,
    60,
    300,
    1_800,
    7_200,
    18_000,
    36_000,
    50_400,
    64_800,
    86_400,
    "exhausted",
  ]);
});

test("the waits before retries of webhook deliveries vary by 20 %", () => {
  expect(scheduleRetry(2, () => 0)).toEqual({ kind: "retry", delayMs: 48_000 });
  expect(scheduleRetry(2, () => 0.9999999)).toEqual({ kind: "retry", delayMs: 72_000 });
});

test.each([
  ["120", 120_000],
  [" 5 ", 5_000],
  ["0", 0],
  ["86401", DAY],
  ["9".repeat(400), DAY],
  ["Mon, 23 Nov 2026 12:00:30 GMT", 30_000],
  ["Mon, 23 Nov 2026 11:00:00 GMT", 0],
  ["Wed, 23 Nov 2226 11:00:00 GMT", DAY],
  ["Mon, 99 Nov 2026 12:00:30 GMT", 0],
  ["2026-11-23T12:00:30Z", 0],
  ["-5", 0],
  ["1.5", 0],
  ["soon", 0],
  ["", 0],
  [undefined, 0],
])(
  "the Retry-After header %j of a webhook receiver asks for a pause of %d ms",
  (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected);
  },
);

const ANSWERED: Attempt = {
  startedAt: NOW,
  durationMs: 1,
  statusCode: 200,
  error: null,
  requestHeaders: {},
  responseHeaders: { "retry-after": "60" },
  responseBody: "",
};

test.each([
  [{ statusCode: 200 }, { kind: "succeeded" }],
  [
    { statusCode: 200, error: "body_timeout" },
    { kind: "refused", pauseMs: 0 },
  ],
  [{ statusCode: 410, error: "http_error" }, { kind: "gone" }],
  [
    { statusCode: 429, error: "http_error" },
    { kind: "refused", pauseMs: 60_000 },
  ],
  [
    { statusCode: 503, error: "http_error" },
    { kind: "refused", pauseMs: 60_000 },
  ],
  [
    { statusCode: 500, error: "http_error" },
    { kind: "refused", pauseMs: 0 },
  ],
  [
    { statusCode: 302, error: "redirect_refused" },
    { kind: "refused", pauseMs: 0 },
  ],
  [{ statusCode: null, responseHeaders: null, error: "timeout" }, { kind: "unanswered" }],
] as const)("a webhook attempt that ended with %j has the outcome %j", (ended, outcome) => {
  expect(toOutcome({ ...ANSWERED, ...ended }, NOW)).toEqual(outcome);
});
