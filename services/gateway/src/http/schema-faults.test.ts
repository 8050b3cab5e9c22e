import fastify from "fastify";
import { expect, test } from "vitest";
import { toSchemaViolations, type RequestViolation } from "#src/http/schema-faults.ts";

interface Request {
  readonly body?: unknown;
  readonly query?: string;
}

/**
 * Returns the schema errors that fastify's own ajv finds, so that these tests fail when the output
 * of ajv changes.
 */
async function faultsOf(
  schema: object,
  { body, query = "" }: Request,
): Promise<RequestViolation[]> {
  const found: RequestViolation[] = [];
  await using app = fastify({
    ajv: {
      customOptions: {
        allErrors: true,
        verbose: true,
        coerceTypes: false,
        removeAdditional: false,
      },
    },
  });
  app.post("/", { schema }, () => "fits");
  app.setErrorHandler<{ validation?: []; validationContext?: string }>((error, request) => {
    const { validation = [], validationContext } = error;
    const value = validationContext === "querystring" ? request.query : request.body;
    found.push(...toSchemaViolations(validation, validationContext, value));
    return "";
  });
  await app.inject({
    method: "POST",
    url: `/${query}`,
    headers: { "content-type": "application/json" },
    payload: JSON.stringify(body ?? {}),
  });
  return found;
}

const faultsOfBody = async (schema: object, body: unknown) =>
  await faultsOf({ body: schema }, { body });

/** Returns the mistakes in a request without the advice about valid values. */
function withoutAdvice(faults: readonly RequestViolation[]) {
  return faults.map(({ expected: _expected, found: _found, allowed: _allowed, ...fault }) => fault);
}

const text = { type: "string" };
const post = {
  type: "object",
  required: ["content", "accountIds"],
  additionalProperties: false,
  properties: {
    content: { ...text, minLength: 1, maxLength: 3 },
    accountIds: {
      type: "array",
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      items: { ...text, format: "uuid", pattern: "^[^A-F]+$" },
    },
    options: {
      type: "object",
      maxProperties: 1,
      additionalProperties: {
        type: "object",
        additionalProperties: false,
        properties: { privacy: { ...text, enum: ["public", "private"] } },
      },
    },
    force: { const: true },
    bytes: { type: "integer", minimum: 1, maximum: 10 },
  },
};
const ID = "0198b2a0-0000-7000-8000-000000000001";
const valid = { content: "abc", accountIds: [ID] };

test("no mistake is reported for a body that matches its schema", async () => {
  expect(await faultsOfBody(post, valid)).toEqual([]);
});

test("every mistake in a body is reported with its path", async () => {
  const body = {
    content: 5,
    accountIds: [],
    options: { "a/b~": { privacy: "secret", extra: 1 }, x: {} },
    force: false,
    bytes: 0,
    surprise: 1,
  };
  const faults = await faultsOfBody(post, body);
  const sorted = withoutAdvice(faults).sort((a, b) => (a.path ?? "").localeCompare(b.path ?? ""));
  expect(sorted).toEqual([
    { code: "min_items", path: "/accountIds", limit: 1, actual: 0 },
    { code: "too_small", path: "/bytes", limit: 1, actual: 0 },
    { code: "type", path: "/content" },
    { code: "not_allowed", path: "/force" },
    { code: "max_properties", path: "/options", limit: 1, actual: 2 },
    { code: "additional_property", path: "/options/a~1b~0/extra" },
    { code: "not_allowed", path: "/options/a~1b~0/privacy" },
    { code: "additional_property", path: "/surprise" },
  ]);
});

test.each([
  [{}, "required", "/content"],
  [[], "type", ""],
  [{ ...valid, accountIds: [ID, "nonsense"] }, "format", "/accountIds/1"],
  [{ ...valid, accountIds: [ID.toUpperCase()] }, "format", "/accountIds/0"],
  [{ ...valid, accountIds: [ID, ID] }, "unique", "/accountIds/1"],
  [{ ...valid, content: "😀😀😀é" }, "too_long", "/content"],
  [{ ...valid, content: "" }, "too_short", "/content"],
  [{ ...valid, bytes: 11 }, "too_large", "/bytes"],
  [{ ...valid, bytes: 1.5 }, "type", "/bytes"],
  [{ ...valid, options: null }, "type", "/options"],
  [{ ...valid, accountIds: [ID, ID, ID] }, "max_items", "/accountIds"],
])("for the request body %j, the gateway finds the mistake %s at %j", async (body, code, path) => {
  expect(await faultsOfBody(post, body)).toContainEqual(expect.objectContaining({ code, path }));
});

test.each([
  [
    { ...valid, content: 5 },
    { expected: "a string", found: "5" },
  ],
  [
    { ...valid, content: null },
    { expected: "a string", found: "null" },
  ],
  [{ accountIds: [ID] }, { expected: "a string" }],
  [{ content: "a" }, { expected: expect.stringMatching(/^a list, each a UUID/) as string }],
  [
    { ...valid, accountIds: ["x"] },
    { expected: expect.stringMatching(/^a UUID in lower case/) as string, found: '"x"' },
  ],
  [
    { ...valid, options: { x: { privacy: "secret" } } },
    { allowed: ["public", "private"], found: '"secret"' },
  ],
  [
    { ...valid, force: false },
    { allowed: ["true"], found: "false" },
  ],
  [{ ...valid, options: { x: { title: "a" } } }, { allowed: ["privacy"] }],
])(
  "for the first mistake in the request body %j, the gateway says which values would be valid",
  async (body, advice) => {
    expect((await faultsOfBody(post, body))[0]).toMatchObject(advice);
  },
);

test("an error detail does not repeat a long value of the client", async () => {
  const [fault] = await faultsOfBody(post, { ...valid, accountIds: ["x".repeat(200)] });
  expect(fault).not.toHaveProperty("found");
});

test("the length of a text is counted in code points, as in the schema", async () => {
  expect(await faultsOfBody(post, { ...valid, content: "😀😀😀é" })).toEqual([
    { code: "too_long", path: "/content", limit: 3, actual: 4 },
  ]);
});

test("two schema errors with the same path and code are reported as one mistake", async () => {
  expect(withoutAdvice(await faultsOfBody(post, { ...valid, accountIds: ["ABC"] }))).toEqual([
    { code: "format", path: "/accountIds/0" },
  ]);
});

test("a value of the wrong type is reported as one mistake", async () => {
  const body = { ...valid, options: { x: { privacy: 5 } }, force: "yes" };
  const typed = {
    ...post,
    properties: { ...post.properties, force: { type: "boolean", const: true } },
  };
  expect(withoutAdvice(await faultsOfBody(typed, body))).toEqual([
    { code: "type", path: "/options/x/privacy" },
    { code: "type", path: "/force" },
  ]);
});

test("a repeated query parameter is reported as one mistake", async () => {
  const querystring = { type: "object", properties: { status: { ...text, enum: ["draft"] } } };
  expect(await faultsOf({ querystring }, { query: "?status=draft&status=draft" })).toEqual([
    { code: "repeated_parameter", path: "/status" },
  ]);
});

test("at most 100 mistakes in a body are reported", async () => {
  const body = { ...valid, accountIds: Array.from({ length: 200 }, (_, index) => `${index}`) };
  expect((await faultsOfBody(post, body)).length).toBe(100);
});

test("a schema error in a union is reported for the branch with the matching type", async () => {
  const nullable = {
    type: "object",
    properties: { at: { anyOf: [{ ...text, format: "date" }, { type: "null" }] } },
  };
  expect(withoutAdvice(await faultsOfBody(nullable, { at: "soon" }))).toEqual([
    { code: "format", path: "/at" },
  ]);
  expect(withoutAdvice(await faultsOfBody(nullable, { at: 5 }))).toEqual([
    { code: "type", path: "/at" },
  ]);
  expect(await faultsOfBody(nullable, { at: null })).toEqual([]);
});

test("a value that differs from every constant of a schema union is reported as a value that is not allowed", async () => {
  const choice = {
    anyOf: [
      { ...text, const: "a" },
      { ...text, const: "b" },
    ],
  };
  expect(await faultsOfBody(choice, "c")).toEqual([
    { code: "not_allowed", path: "", allowed: ["a", "b"], found: '"c"' },
  ]);
});

test("a property name that the schema refuses is reported with its path", async () => {
  const schema = { type: "object", propertyNames: { pattern: "^[a-z]+$" } };
  expect(withoutAdvice(await faultsOfBody(schema, { A: 1 }))).toEqual([
    { code: "additional_property", path: "/A" },
  ]);
});

test("unknown and repeated query parameters have different codes", async () => {
  const querystring = {
    type: "object",
    additionalProperties: false,
    properties: { limit: { ...text, pattern: "^\\d+$" } },
  };
  expect(await faultsOf({ querystring }, { query: "?limit=1&limit=2" })).toEqual([
    { code: "repeated_parameter", path: "/limit" },
  ]);
  expect(withoutAdvice(await faultsOf({ querystring }, { query: "?limit=x&other=1" }))).toEqual([
    { code: "additional_property", path: "/other" },
    { code: "format", path: "/limit" },
  ]);
});

test("a query parameter that is out of range is reported with the limit and its value", () => {
  const error = {
    keyword: "minimum",
    instancePath: "/limit",
    schemaPath: "#/properties/limit/minimum",
    params: { limit: 1 },
  };
  expect(toSchemaViolations([error], "querystring", { limit: 0 })).toEqual([
    { code: "too_small", path: "/limit", limit: 1, actual: 0 },
  ]);
});

test("a mistake against a schema keyword that has no error code of its own gets the error code `invalid`", () => {
  const error = { keyword: "contains", instancePath: "/a", schemaPath: "#/a", params: {} };
  expect(toSchemaViolations([error])).toEqual([{ code: "invalid", path: "/a" }]);
});
