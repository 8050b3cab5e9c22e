import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestServer } from "./fixture.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId?: string;
            readonly description?: string;
            readonly "x-postrider-extension"?: boolean;
            readonly parameters?: readonly object[];
            readonly responses: Readonly<Record<string, object>>;
          }
        >
      >
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

test("the API description needs no API key, is valid OpenAPI 3.1 and matches the committed snapshot", async () => {
  expect(document.openapi).toBe("3.1.0");
  await expect(`${JSON.stringify(document, undefined, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL("../openapi.json", import.meta.url)),
  );
});

/** The operations of the contract with the scopes that they need. */
const CONTRACT: readonly (readonly [operation: string, scope: string])[] = [
  ["GET /accounts", "accounts:read"],
  ["DELETE /accounts/{id}", "accounts:write"],
  ["GET /platforms", "accounts:read"],
  ["POST /posts/validate", "posts:read"],
  ["POST /posts", "posts:write"],
  ["GET /posts", "posts:read"],
  ["GET /posts/{id}", "posts:read"],
  ["PATCH /posts/{id}", "posts:write"],
  ["DELETE /posts/{id}", "posts:write"],
  ["POST /posts/{id}/metrics/refresh", "posts:read"],
  ["POST /posts/{id}/publish", "posts:write"],
  ["POST /posts/{id}/retry", "posts:write"],
  ["POST /media/presign", "posts:write"],
  ["POST /media/{id}/complete", "posts:write"],
  ["POST /media/from-url", "posts:write"],
  ["DELETE /media/{id}", "posts:write"],
  ["GET /quota", "posts:read"],
  ["GET /queue-slots", "posts:read"],
  ["POST /queue-slots", "posts:write"],
  ["PATCH /queue-slots/{id}", "posts:write"],
  ["DELETE /queue-slots/{id}", "posts:write"],
  ["GET /webhooks", "webhooks:read"],
  ["POST /webhooks", "webhooks:write"],
  ["PATCH /webhooks/{id}", "webhooks:write"],
  ["DELETE /webhooks/{id}", "webhooks:write"],
  ["GET /webhooks/{id}/deliveries", "webhooks:read"],
  ["POST /webhooks/{id}/deliveries/{deliveryId}/retry", "webhooks:write"],
  ["GET /automations/partner-dm-backfills/preview", "automations:read"],
  ["GET /automations/partner-dm-backfills", "automations:read"],
  ["POST /automations/partner-dm-backfills", "automations:write"],
  ["GET /automations/partner-dm-backfills/{id}", "automations:read"],
  ["PATCH /automations/partner-dm-backfills/{id}", "automations:write"],
  ["GET /automations/partner-dm-rules", "automations:read"],
  ["POST /automations/partner-dm-rules", "automations:write"],
  ["GET /automations/partner-dm-runs", "automations:read"],
  ["PATCH /automations/partner-dm-rules/{id}", "automations:write"],
  ["GET /accounts/{id}/media/{mediaId}/comments", "comments:read"],
  ["POST /accounts/{id}/media/{mediaId}/comments/{commentId}/actions", "comments:write"],
  ["GET /comment-actions/{id}", "comments:read"],
];

test("the API description contains the 39 operations of the contract with their scopes, and every further operation is marked as an extension", () => {
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path.replace("/api/v1", "")}`,
      scope: /Requires the scope `([a-z:]+)`/.exec(operation.description ?? "")?.[1],
      isExtension: operation["x-postrider-extension"] === true,
    })),
  );
  const ofContract = described.filter(({ isExtension }) => !isExtension);

  expect(CONTRACT).toHaveLength(39);
  expect(new Map(ofContract.map(({ name, scope }) => [name, scope]))).toEqual(new Map(CONTRACT));
});

test("every operation of the API description has an id of its own, describes its errors and refers to named schemas", () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const ids = operations.map(({ operationId = "" }) => operationId);
  expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(operations.length);
  for (const { parameters, responses } of operations) {
    expect(parameters).toContainEqual(
      expect.objectContaining({ in: "header", name: "X-Workspace-Id", required: false }),
    );
    expect(responses).toHaveProperty(["429", "headers", "Retry-After", "schema", "minimum"], 1);
    for (const answer of Object.values(responses))
      expect(answer).toHaveProperty(["headers", "X-Request-Id"]);
    expect(responses).toHaveProperty("default");
  }
  expect(Object.keys(document.components.schemas)).toContain("PostDetail");
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
  for (const [, reference = ""] of references) {
    expect(document.components.schemas).toHaveProperty([
      reference.replace("#/components/schemas/", ""),
    ]);
  }
});

/** Every route as "GET /path", from fastify's printed tree, in which a level is indented by four characters. */
function servedRoutes(): readonly string[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", part = "", methods = ""] = /^(.*?)── (\S+) \((.+)\)/.exec(line) ?? [];
      const depth = (indent.length - 1) / 4;
      parents.splice(depth, Infinity, part);
      const path = parents.join("").replace(/:(\w+)/g, "{$1}");
      return methods.split(", ").map((method) => `${method} ${path}`);
    });
}

test("every route of the API is described, and every described route is served", () => {
  const served = servedRoutes().filter((route) => /^(?!HEAD).* \/api\/v1/.test(route));
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(new Set(served)).toEqual(new Set([...described, "GET /api/v1/openapi.json"]));
});

test("the API description marks an optional request body as not required and not nullable", () => {
  expect(document.paths["/api/v1/posts/{id}/publish"]?.["post"]).toMatchObject({
    requestBody: { required: false },
  });
  expect(document.paths["/api/v1/posts"]?.["post"]).toMatchObject({
    requestBody: { required: true },
  });
  expect(document.components.schemas["PublishPost"]).toMatchObject({ type: "object" });
});

test("the docs page loads nothing from other hosts", async () => {
  const page = await app.inject({ url: "/docs/" });
  expect(page.statusCode).toBe(200);
  const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, source]) => source ?? "",
  );
  for (const source of sources) expect(source).not.toMatch(/^(https?:)?\/\//);
});

test("the content security policy of the docs page allows only the page's own scripts, whatever host name the client sends", async () => {
  const page = await app.inject({ url: "/docs/", headers: { host: "[" } });
  expect(page.statusCode).toBe(200);
  const policy = String(page.headers["content-security-policy"]);
  const rule = policy.split("; ").find((each) => each.startsWith("script-src"));
  expect(rule).toMatch(/^script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='$/);
  expect(policy).toContain("default-src 'none'");
  const script = await app.inject({ url: "/docs/js/scalar.js" });
  expect([script.statusCode, script.headers["content-type"]]).toEqual([
    200,
    "application/javascript; charset=utf-8",
  ]);
  expect(script.rawPayload.length).toBeGreaterThan(1_000_000);
  const redirect = await app.inject({ url: "/docs", headers: { host: "evil.example" } });
  expect([redirect.statusCode, redirect.headers.location]).toEqual([302, "/docs/"]);
});
