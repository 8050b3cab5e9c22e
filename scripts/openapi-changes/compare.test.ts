import { expect, test } from "vitest";
import { listBreakingChanges } from "./compare.ts";
import type { Description, Operation, Schema } from "./document.ts";

const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
const Thing: Schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

/** An API description with one operation, `POST /things`. */
function describe(operation: Partial<Operation>, schemas = {}): Description {
  return {
    paths: { "/things": { post: { responses: {}, ...operation } } },
    components: { schemas: { Thing, ...schemas } },
  };
}

const query = (name: string, schema: Schema, required = false) => ({
  parameters: [{ name, in: "query", required, schema }],
});
const body = (schema: Schema) => ({ requestBody: { ...json(schema), required: true } });
const answer = (schema: Schema) => ({ responses: { 200: json(schema) } });
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: "object",
  properties,
  required,
});
const text: Schema = { type: "string" };
const values = (...all: string[]): Schema => ({ type: "string", enum: all });

const changes = (before: Partial<Operation>, after: Partial<Operation>) =>
  listBreakingChanges(describe(before), describe(after));

test.each([
  ["a parameter that is gone", query("a", text), {}, "a is gone"],
  ["a new required parameter", {}, query("a", text, true), "a is required"],
  ["a parameter that becomes required", query("a", text), query("a", text, true), "a is required"],
  [
    "a value that a parameter no longer accepts",
    query("a", values("x", "y")),
    query("a", values("x")),
    'a: the value "y" is no longer accepted',
  ],
  [
    "a lower maximum of a parameter",
    query("a", { type: "integer", maximum: 100 }),
    query("a", { type: "integer", maximum: 50 }),
    "a: maximum is narrower",
  ],
  ["a body that becomes required", {}, body(text), "body: a body is required"],
  [
    "a field of a request that is gone",
    body(object({ a: text, b: text })),
    body(object({ a: text })),
    "body: b is gone",
  ],
  [
    "a field of a request that becomes required",
    body(object({ a: text })),
    body(object({ a: text }, ["a"])),
    "body: a is required",
  ],
  [
    "null that a field of a request no longer accepts",
    body(object({ a: { type: ["string", "null"] } })),
    body(object({ a: text })),
    "body: a: the type null is no longer accepted",
  ],
  [
    "a pattern that a field of a request must match",
    body(object({ a: text })),
    body(object({ a: { ...text, pattern: "^a" } })),
    "body: a: pattern is narrower",
  ],
  ["a successful answer that is gone", answer(text), { responses: {} }, "200 is gone"],
  [
    "a header that is gone",
    { responses: { 200: { headers: { ETag: {} } } } },
    { responses: { 200: {} } },
    "200: the header ETag is gone",
  ],
  [
    "a field of an answer that is gone",
    answer(object({ a: text })),
    answer(object({})),
    "200: a is gone",
  ],
  [
    "a field of an answer that may be absent",
    answer(object({ a: text }, ["a"])),
    answer(object({ a: text })),
    "200: a may be absent",
  ],
  [
    "a field of an answer that may be null",
    answer(object({ a: { $ref: "#/components/schemas/Thing" } })),
    answer(object({ a: { anyOf: [{ $ref: "#/components/schemas/Thing" }, { type: "null" }] } })),
    "200: a: the type null is possible now",
  ],
  [
    "a change deep in a list of named records",
    answer(object({ a: { type: "array", items: { $ref: "#/components/schemas/Thing" } } })),
    answer(object({ a: { type: "array", items: object({ id: { type: "integer" } }, ["id"]) } })),
    "200: a: each item: id: the type integer is possible now",
  ],
  [
    "another scope",
    { description: "Requires the scope `posts:read`." },
    { description: "Requires the scope `posts:write`." },
    "the scope is posts:write",
  ],
] as const)("the check of API changes reports %s", (_, before, after, change) => {
  expect(changes(before as Partial<Operation>, after as Partial<Operation>)).toEqual([
    `POST /things: ${change}`,
  ]);
});

test.each([
  ["a new optional parameter", {}, query("a", text)],
  ["a further value that a request accepts", query("a", values("x")), query("a", values("x", "y"))],
  ["a further field of a request", body(object({ a: text })), body(object({ a: text, b: text }))],
  ["a further field of an answer", answer(object({})), answer(object({ a: text }))],
  ["a further value in an answer", answer(values("x")), answer(values("x", "y"))],
  [
    "a further status of an error",
    answer(text),
    { responses: { ...answer(text).responses, 422: json(text) } },
  ],
  [
    "a name for a schema that was written inline",
    answer(object({ a: Thing })),
    answer(object({ a: { allOf: [{ $ref: "#/components/schemas/Thing" }] } })),
  ],
  [
    "a name for a value that may be null",
    answer(object({ a: { type: ["string", "null"] } })),
    answer(object({ a: { anyOf: [values("x"), { type: "null" }] } })),
  ],
] as const)("the check of API changes does not report %s", (_, before, after) => {
  expect(changes(before as Partial<Operation>, after as Partial<Operation>)).toEqual([]);
});

test("the check of API changes reports a removed operation, a removed event and a removed field of an event", () => {
  const released: Description = {
    ...describe({}),
    webhooks: {
      "thing.made": { post: { ...body(object({ a: text })), responses: {} } },
      "thing.gone": { post: { responses: {} } },
    },
  };
  const current: Description = {
    ...released,
    paths: {},
    webhooks: { "thing.made": { post: { ...body(object({})), responses: {} } } },
  };
  expect(listBreakingChanges(released, current)).toEqual([
    "POST /things is gone",
    "event thing.made: a is gone",
    "event thing.gone is gone",
  ]);
});
