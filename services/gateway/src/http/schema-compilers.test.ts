import SerializerSelector from "@fastify/fast-json-stringify-compiler";
import { expect, test } from "vitest";
import { buildSerializers, buildValidators } from "./schema-compilers.ts";

const SHARED = {
  Post: {
    $id: "Post",
    type: "object",
    properties: { id: { type: "string" }, targets: { type: "array", items: { $ref: "Target#" } } },
  },
  Target: {
    $id: "Target",
    type: "object",
    properties: { status: { type: "string" }, parent: { $ref: "Post#" } },
  },
};
const ROUTE = { method: "GET", url: "/posts", httpStatus: "200" };
const LIST = { type: "object", properties: { data: { type: "array", items: { $ref: "Post#" } } } };
const ANSWER = {
  data: [{ id: "a", hidden: 1, targets: [{ status: "queued", parent: { id: "b", hidden: 2 } }] }],
};

test("an answer with nested references to shared schemas is written as fastify's own serializer writes it", () => {
  const own = buildSerializers(SHARED, {})({ ...ROUTE, schema: LIST });
  const usual = SerializerSelector()(SHARED, {})({ ...ROUTE, schema: LIST });

  expect(JSON.parse(own(ANSWER))).toEqual({
    data: [{ id: "a", targets: [{ status: "queued", parent: { id: "b" } }] }],
  });
  expect(own(ANSWER)).toBe(usual(ANSWER));
});

test("routes with equal answer schemas share one serializer, and each different schema has a serializer of its own", () => {
  const serializerOf = buildSerializers(SHARED, {});
  const first = serializerOf({ ...ROUTE, schema: { $ref: "Post#" } });

  expect(serializerOf({ ...ROUTE, httpStatus: "201", schema: { $ref: "Post#" } })).toBe(first);
  expect(serializerOf({ ...ROUTE, schema: { $ref: "Target#" } })).not.toBe(first);
});

test("a shared schema to which a route's schema does not refer is not compiled with the route's schema", () => {
  const invalid = { $id: "Invalid", type: "no type" };
  const serializer = buildSerializers(
    { ...SHARED, Invalid: invalid },
    {},
  )({
    ...ROUTE,
    schema: { $ref: "Target#" },
  });

  expect(serializer({ status: "queued" })).toBe('{"status":"queued"}');
});

test("servers with the same shared schemas share the compiled checks of requests, and those of headers name them in lower case", () => {
  const headers = { type: "object", properties: { "If-Match": { type: "string", minLength: 3 } } };
  const part = { method: "GET", url: "/posts", httpPart: "headers", schema: headers } as const;
  const check = buildValidators({}, { customOptions: {} })(part as never) as (
    it: object,
  ) => boolean;
  expect(buildValidators({}, { customOptions: {} })(part as never)).toBe(check);
  expect([check({ "if-match": "x" }), check({ "if-match": '"3"' })]).toEqual([false, true]);
});
