import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestServer } from "./fixture.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly operationId?: string; readonly responses?: object }>>
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

let app: FastifyInstance;
let document: Document;
beforeAll(async () => {
  app = await createTestServer({}, () => ({ kind: "unavailable", retryAfterSeconds: 1 }));
  document = (await app.inject({ url: "/api/v1/openapi.json" })).json<Document>();
});
afterAll(() => app.close());

test("the description needs no key, is OpenAPI 3.1 and changes only on purpose", async () => {
  expect(document.openapi).toBe("3.1.0");
  await expect(`${JSON.stringify(document, undefined, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL("../openapi.json", import.meta.url)),
  );
});

test("every operation has an id, names its errors and refers to named schemas", () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(
    operations.map(({ operationId = "" }) => operationId).toSorted((a, b) => a.localeCompare(b)),
  ).toEqual([
    "createPost",
    "createQueueSlotRule",
    "deletePost",
    "deleteQueueSlotRule",
    "getPost",
    "getQuota",
    "listAccounts",
    "listPlatforms",
    "listPosts",
    "listQueueSlotRules",
    "publishPost",
    "retryPost",
    "updatePost",
    "updateQueueSlotRule",
    "validatePost",
  ]);
  for (const { responses } of operations) expect(responses).toHaveProperty("default");
  expect(Object.keys(document.components.schemas)).toContain("PostDetail");
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
  for (const [, reference = ""] of references) {
    expect(document.components.schemas).toHaveProperty([
      reference.replace("#/components/schemas/", ""),
    ]);
  }
});

test("a body that may be left out is described as such, and without null", () => {
  expect(document.paths["/api/v1/posts/{id}/publish"]?.["post"]).toMatchObject({
    requestBody: { required: false },
  });
  expect(document.paths["/api/v1/posts"]?.["post"]).toMatchObject({
    requestBody: { required: true },
  });
  expect(document.components.schemas["PublishPost"]).toMatchObject({ type: "object" });
});

test("the docs page loads nothing from elsewhere", async () => {
  const page = await app.inject({ url: "/docs/" });
  expect(page.statusCode).toBe(200);
  const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, source]) => source ?? "",
  );
  for (const source of sources) expect(source).not.toMatch(/^(https?:)?\/\//);
});
