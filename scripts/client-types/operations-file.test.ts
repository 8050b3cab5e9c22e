import { expect, test } from "vitest";
import type { DescribedOperation, Schema } from "./description.ts";
import { toOperationsFile } from "./operations-file.ts";

const page: Schema = {
  properties: { things: { type: "array" }, nextCursor: { type: ["string", "null"] } },
};
const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
const cursor = { name: "cursor", in: "query" };

function fileOf(path: string, method: string, operation: Partial<DescribedOperation>): string {
  return toOperationsFile({
    paths: {
      [path]: {
        [method]: { operationId: "do", summary: "Do it", responses: {}, ...operation },
      },
    },
    components: { schemas: { ThingPage: page } },
  });
}

test("a generated client method takes the ids of the path, then the query or body, then options", () => {
  const file = fileOf("/api/v1/things/{id}/parts/{partId}", "patch", {
    operationId: "updatePart",
    description: "Requires nothing. */",
    requestBody: { required: true },
  });
  expect(file).toContain(
    `  /** Do it. Requires nothing. *\\/ */
  readonly updatePart: (id: string, partId: string, body: Body<"updatePart">, options?: RequestOptions) => Promise<Answer<"updatePart">>;`,
  );
  expect(file).toContain('  updatePart: "PATCH /things/{id}/parts/{partId}",');
});

test("a generated client method has an optional argument for a query or body that is optional", () => {
  const file = fileOf("/api/v1/things", "get", { operationId: "listThings" });
  expect(file).toContain('readonly listThings: (query?: Query<"listThings">');
});

test("the generated client has an iterator over the list in the answer of each operation that takes a cursor", () => {
  const file = fileOf("/api/v1/things", "get", {
    operationId: "listThings",
    parameters: [cursor, { name: "kind", in: "query", required: true }],
    responses: { 200: json({ $ref: "#/components/schemas/ThingPage" }) },
  });
  expect(file).toContain(
    'readonly iterateThings: (query: Omit<Query<"listThings">, "cursor">, options?: RequestOptions) => AsyncGenerator<Item<"listThings", "things">, void>;',
  );
  expect(file).toContain('  iterateThings: ["listThings", "things"],');
});

test("the generated client creates idempotency keys only for operations with the header Idempotency-Key", () => {
  const keyed = {
    operationId: "createThing",
    parameters: [{ name: "Idempotency-Key", in: "header" }],
  };
  expect(fileOf("/api/v1/things", "post", keyed)).toContain('= [\n  "createThing",\n];');
  expect(fileOf("/api/v1/things", "post", {})).toContain("= [\n\n];");
});

test.each([
  ["a method that the client does not offer", "put", {}, "the client has no PUT: do"],
  [
    "a body and a query",
    "post",
    { requestBody: {}, parameters: [cursor] },
    "do takes a body and a query",
  ],
  [
    "a cursor without a list",
    "get",
    { parameters: [cursor] },
    "do takes a cursor and answers with 0 lists",
  ],
] as const)(
  "the client generator fails for an operation with %s",
  (_, method, operation, message) => {
    expect(() => fileOf("/api/v1/things", method, operation)).toThrow(message);
  },
);
