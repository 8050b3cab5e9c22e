import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildRequest } from "./build-request.ts";
import { createChooser } from "./choices.ts";
import { listOperations, type ApiDocument } from "./document.ts";
import { createPools } from "./pools.ts";
import { createRandom } from "./random.ts";
import type { Workbench } from "./request.ts";
import { createSchemaJudge } from "./schema-judge.ts";

const FILE = join(import.meta.dirname, "../../../services/gateway/openapi.json");
const document = JSON.parse(readFileSync(FILE, "utf8")) as ApiDocument;
const judge = createSchemaJudge(document, "requests");
const operations = listOperations(document);

function openBench(seed: number): Workbench {
  const random = createRandom(seed);
  const pools = createPools();
  const foreign = createPools();
  foreign.add("post", { id: "theirs" });
  const chooser = createChooser({ pools, random, outsideUrl: "http://127.0.0.1:1" });
  const keys = { full: "pr_live_a", limited: "pr_live_b" };
  const nowMs = Date.parse("2026-11-23T00:00:00Z");
  return { document, judge, seed, random, pools, foreign, chooser, nowMs, keys };
}

function generate(seed: number, perOperation: number) {
  const bench = openBench(seed);
  return operations.flatMap((operation) =>
    Array.from({ length: perOperation }, () => buildRequest(operation, bench)),
  );
}

test("the request generator makes the same requests for the same seed, and different requests for another seed", () => {
  const written = (seed: number) => JSON.stringify(generate(seed, 5));
  expect(written(7)).toBe(written(7));
  expect(written(7)).not.toBe(written(8));
});

test("a generated request that is labelled valid fits the schema of its body, and one that is labelled invalid violates this schema", () => {
  const changed = generate(1, 150).flatMap(({ operation, body, expectation, label }) => {
    const isJudged = label === "valid" || (/ at \//.test(label) && !label.startsWith("a refused"));
    if (operation.body === undefined || body === undefined || !isJudged) return [];
    const faults = judge.faultsOf(operation.body.schema, JSON.parse(body.toString()));
    return [{ expectation, label, isFitting: faults.length === 0 }];
  });
  const wrong = changed.filter(({ expectation, isFitting }) =>
    isFitting ? expectation === "invalid" : expectation !== "invalid",
  );
  expect(changed.length).toBeGreaterThan(1_000);
  expect(wrong).toEqual([]);
});

test("the request generator makes valid requests for every operation, and invalid bodies for every operation with a body", () => {
  const requests = generate(2, 100);
  const count = (id: string, expectation: string) =>
    requests.filter((each) => each.operation.id === id && each.expectation === expectation).length;
  const withoutValid = operations.filter(({ id }) => count(id, "valid") < 20);
  const withoutInvalid = operations.filter(({ id, body }) => body && count(id, "invalid") < 10);
  expect(withoutValid.map(({ id }) => id)).toEqual([]);
  expect(withoutInvalid.map(({ id }) => id)).toEqual([]);
});

test("generated requests have boundary values, hostile texts, unknown fields, wrong content types and ids of another workspace", () => {
  const labels = generate(3, 200).map(({ label }) => label);
  const wanted = [
    /^a length above the maximum/,
    /^a number below the minimum/,
    /^an unknown field/,
    /^a missing field/,
    /^a refused text/,
    /^deep nesting/,
    /^every field twice/,
    /^the headers .*text\/plain/,
    /^the header If-Match/,
    /^the header Idempotency-Key/,
    /^the query parameter cursor/,
    /^an unknown query parameter/,
    /^the id .* in the path/,
    /^ids of another workspace/,
    /^a key without scopes/,
  ];
  const missing = wanted.filter((pattern) => !labels.some((label) => pattern.test(label)));
  expect(missing).toEqual([]);
});

test("a generated request with ids of another workspace in its path is labelled as not found", () => {
  const foreign = generate(4, 200).filter(({ label }) => label.startsWith("ids of another"));
  expect(foreign.length).toBeGreaterThan(10);
  for (const { path, expectation } of foreign)
    expect([path, expectation]).toEqual([{ id: "theirs" }, "not found"]);
});
