import { createHostileTexts, measureCpuMs } from "@postrider/shared/testing/hostile-texts";
import { afterAll, expect, test } from "vitest";
import { ACCOUNT_ID, admitted, createTestServer, POST_ID } from "./fixture.ts";

/**
 * The scopes that the requests of these tests need. Without them, a request would be refused before
 * its body is checked.
 */
const SCOPES = new Set(["posts:read", "posts:write", "comments:write", "automations:write"]);

const app = await createTestServer({}, () => admitted({ scopes: SCOPES }));
afterAll(() => app.close());

const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Size in bytes of the hostile texts, each of which these tests send as the value of a header. A
 * query parameter contains the first 1,000 characters of such a text.
 */
const MAX_HEADER_BYTES = 12 * 1024;

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const keyed = <T>(count: number, item: T) =>
  Object.fromEntries(times(count, item).map((each, index) => [`key ${index}`, each]));

async function measure(method: "POST" | "PATCH", path: string, body: unknown): Promise<number> {
  const headers = { "content-type": "application/json" };
  const payload = JSON.stringify(body);
  expect(payload.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
  return await measureCpuMs(() =>
    app.inject({ method, url: `/api/v1${path}`, headers, payload }).then(() => undefined),
  );
}

const ROUTES = [
  ["POST", "/posts"],
  ["POST", "/posts/validate"],
  ["PATCH", `/posts/${POST_ID}`],
  ["POST", "/queue-slots"],
  ["PATCH", `/queue-slots/${POST_ID}`],
  ["POST", "/media/presign"],
  ["POST", "/media/from-url"],
  ["POST", `/accounts/${ACCOUNT_ID}/media/a/comments/b/actions`],
  ["POST", "/automations/partner-dm-rules"],
  ["PATCH", `/automations/partner-dm-rules/${POST_ID}`],
  ["POST", "/automations/partner-dm-backfills"],
] as const;

/**
 * Large values for fields of a request body, with as many mistakes as possible: one value for each
 * kind of check that a body needs.
 */
const VALUES: readonly (readonly [string, unknown])[] = [
  ["a list of numbers", times(1000, 1)],
  ["a list of equal ids", times(1000, ACCOUNT_ID)],
  ["a list of long texts", times(100, "a".repeat(9000))],
  ["an object with unknown fields", keyed(1000, null)],
  ["options with faults in every field", keyed(100, { content: 1, tags: times(100, 1), more: 1 })],
  ["deeply nested lists", Array.from({ length: 62 }).reduce((inner) => [inner], 1)],
  ["wide nested lists", times(10, times(1000, []))],
];
const FIELDS = [
  "content",
  "accountIds",
  "mediaIds",
  "options",
  "scheduledAt",
  "name",
  "weekdays",
  "times",
  "timezone",
  "startsOn",
  "url",
  "fileName",
  "contentType",
  "bytes",
  "text",
  "keywords",
  "excludeKeywords",
  "message",
  "mediaId",
  "unknown",
];

test.each(VALUES)(
  "the gateway checks a request body with %s in any field in less than a second of processor time",
  async (_name, value) => {
    for (const [method, path] of ROUTES)
      for (const field of FIELDS)
        expect(await measure(method, path, { [field]: value }), `${path} ${field}`).toBeLessThan(
          1000,
        );
  },
);

test.each(ROUTES)(
  "the gateway checks the body of %s %s with a long text in every field in less than a second of processor time",
  async (method, path) => {
    for (const text of createHostileTexts(18_000, { mixtures: 10 })) {
      const texts = Object.fromEntries(FIELDS.map((field) => [field, text]));
      const body = { ...texts, accountIds: [text], options: { [text]: { content: text } } };
      expect(await measure(method, path, body), text.slice(0, 40)).toBeLessThan(1000);
    }
  },
);

const HEADERS = [
  "if-match",
  "if-none-match",
  "accept-language",
  "range",
  "idempotency-key",
  "x-request-id",
  "x-workspace-id",
  "authorization",
  "content-type",
  "origin",
  "forwarded",
];
const PARAMETERS = ["cursor", "status", "from", "to", "limit", "platform", "unknown"];

test("a request with long headers and query parameters takes less than 200 ms of processor time", async () => {
  for (const text of createHostileTexts(MAX_HEADER_BYTES, { mixtures: 20 })) {
    // Node reads the bytes of a header as Latin-1. A header must not contain control characters.
    const value = Buffer.from(text)
      .toString("latin1")
      .replaceAll(/\p{Cc}/gu, "");
    const headers = Object.fromEntries(HEADERS.map((name) => [name, value]));
    const query = Object.fromEntries(PARAMETERS.map((name) => [name, text.slice(0, 1000)]));
    const cpuMs = await measureCpuMs(async () => {
      await app.inject({ method: "GET", url: "/api/v1/posts", headers, query });
      await app.inject({
        method: "PATCH",
        url: `/api/v1/posts/${POST_ID}`,
        headers,
        payload: "{}",
      });
    });
    expect(cpuMs, text.slice(0, 40)).toBeLessThan(200);
  }
});
