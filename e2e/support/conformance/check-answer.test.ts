import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createChecker } from "./check-answer.ts";
import { findOperation, type ApiDocument } from "./document.ts";
import { createSchemaJudge } from "./schema-judge.ts";
import type { RawAnswer } from "./transport.ts";

const FILE = join(import.meta.dirname, "../../../services/gateway/openapi.json");
const document = JSON.parse(readFileSync(FILE, "utf8")) as ApiDocument;
const checker = createChecker(document, createSchemaJudge(document));

const listWebhooks = findOperation(document, "listWebhooks");
const WEBHOOK = {
  id: "01936a5e-0000-7000-8000-000000000000",
  url: "https://example.com/hook",
  description: "",
  events: ["*"],
  signing: "hmac-sha256",
  status: "active",
};
const HEADERS = { "content-type": "application/json; charset=utf-8", "x-request-id": "a" };

function answer(status: number, body: unknown, headers: RawAnswer["headers"] = {}): RawAnswer {
  return { status, headers: { ...HEADERS, ...headers }, body: Buffer.from(JSON.stringify(body)) };
}

const EMPTY = { webhooks: [], nextCursor: null };
const refused = (code: string, ...details: string[]) => ({
  error: { code, message: "No.", details: details.map((each) => ({ code: each, message: "No." })) },
});
type Sent = Parameters<typeof checker.problemsOf>[0];
const valid: Sent = { operation: listWebhooks, expectation: "valid" };
const refusable: Sent = { operation: listWebhooks, expectation: "refused" };

test("the conformance check reports no problem for an answer that fits the API description", () => {
  expect(checker.problemsOf(valid, answer(200, EMPTY))).toEqual([]);
  expect(checker.problemsOf(refusable, answer(400, refused("invalid_request", "type")))).toEqual(
    [],
  );
  const later = answer(503, refused("unavailable"), { "retry-after": "1" });
  expect(checker.problemsOf(valid, later)).toEqual([]);
});

test.each<[string, Sent, RawAnswer, string]>([
  [
    "a field that is not described",
    valid,
    answer(200, { ...EMPTY, total: 1 }),
    '200 does not fit its schema: additionalProperties "total" must NOT have additional properties',
  ],
  [
    "a missing field",
    valid,
    answer(200, { webhooks: [] }),
    "200 does not fit its schema: required must have required property 'nextCursor'",
  ],
  [
    "a field of another type in an item",
    valid,
    answer(200, { ...EMPTY, webhooks: [{ ...WEBHOOK, url: 1 }] }),
    "200 does not fit its schema: /webhooks/*/url type must be string",
  ],
  ["a status that is not described", valid, answer(418, {}), "418 is not described"],
  [
    "a fault of the server",
    valid,
    answer(500, refused("internal")),
    "500 is a fault of the server",
  ],
  [
    "a 503 without Retry-After",
    valid,
    answer(503, refused("unavailable")),
    "503 lacks the header retry-after",
  ],
  [
    "an error code of another status",
    refusable,
    answer(400, refused("not_found")),
    "400 has the error code not_found, not described for this status",
  ],
  [
    "an error code that no operation has",
    refusable,
    answer(400, refused("oops")),
    "400 has the error code oops, not described for this status",
  ],
  [
    "another content type",
    valid,
    answer(200, EMPTY, { "content-type": "text/html" }),
    "200 has the type text/html",
  ],
  [
    "a header that is not described",
    valid,
    answer(200, EMPTY, { "x-debug": "1" }),
    "200 has the header x-debug, not described",
  ],
  [
    "a body where none is described",
    { operation: findOperation(document, "revokeWebhook"), expectation: "valid" },
    answer(204, {}),
    "204 has a body, which is not described",
  ],
  [
    "an accepted request that does not fit",
    refusable,
    answer(200, EMPTY),
    "does not fit the description and was answered 200",
  ],
  [
    "a refused request that fits",
    valid,
    answer(400, refused("invalid_request", "format")),
    "fits the description and was answered 400 invalid_request format",
  ],
  [
    "an answer without a key",
    { operation: listWebhooks, expectation: "unauthenticated" },
    answer(200, EMPTY),
    "has no valid key and was answered 200",
  ],
])("the conformance check of an API answer reports %s", (_, sent, wrong, problem) => {
  expect(checker.problemsOf(sent, wrong)).toContain(problem);
});
