import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
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
            readonly "x-postrider-scope"?: string;
            readonly "x-postrider-phase"?: number;
            readonly parameters?: readonly object[];
            readonly requestBody?: object;
            readonly responses: Readonly<Record<string, object>>;
          }
        >
      >
    >
  >;
  readonly security: readonly object[];
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly examples: Readonly<Record<string, unknown>>;
  };
}

const app = await createTestServer({}, () => ({ kind: "unavailable", retryAfterSeconds: 1 }));
const document = (await app.inject({ url: "/api/v1/openapi.json" })).json<Document>();
afterAll(() => app.close());

test("the API description needs no API key, is valid OpenAPI 3.1 and matches the committed snapshot", async () => {
  expect(document.openapi).toBe("3.1.0");
  await expect(`${JSON.stringify(document, undefined, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL("../openapi.json", import.meta.url)),
  );
});

/**
 * Returns the paths of the API without the path of uploads, which is not below `/api/v1` and needs
 * no API key.
 */
function apiPaths() {
  return Object.entries(document.paths).filter(([path]) => path.startsWith("/api/v1/"));
}

/** The operations of the API contract with the scopes that they need. */
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
  const described = apiPaths().flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path.replace("/api/v1", "")}`,
      scope: operation["x-postrider-scope"],
      sentence: operation.description?.endsWith(
        `Requires the scope \`${operation["x-postrider-scope"]}\`.`,
      ),
      isExtension: operation["x-postrider-extension"] === true,
    })),
  );
  const ofContract = described.filter(({ isExtension }) => !isExtension);

  expect(CONTRACT).toHaveLength(39);
  expect(new Map(ofContract.map(({ name, scope }) => [name, scope]))).toEqual(new Map(CONTRACT));
  expect(described.filter(({ sentence }) => sentence !== true)).toEqual([]);
});

test("every operation of the API description has an id of its own, describes its errors and refers to named schemas", () => {
  const operations = apiPaths().flatMap(([, path]) => Object.values(path));
  const ids = operations.map(({ operationId = "" }) => operationId);
  expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(operations.length);
  for (const { parameters, responses } of operations) {
    expect(parameters).toContainEqual(
      expect.objectContaining({ in: "header", name: "X-Workspace-Id", required: false }),
    );
    for (const status of ["429", "503"])
      expect(responses).toHaveProperty([status, "headers", "Retry-After"], {
        $ref: "#/components/headers/Retry-After",
      });
    for (const answer of Object.values(responses))
      expect(answer).toHaveProperty(["headers", "X-Request-Id"]);
    expect(responses).toHaveProperty("default");
  }
  expect(Object.keys(document.components.schemas)).toContain("PostDetail");
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
  for (const [, reference = ""] of references)
    expect(document).toHaveProperty(reference.replace("#/", "").split("/"));
});

/**
 * Every route as "GET /path", from fastify's printed tree, in which a level is indented by four
 * characters.
 */
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
  expect(servedRoutes()).toContain("PUT /uploads/{uploadPath}");
  const described = apiPaths().flatMap(([path, operations]) =>
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

/** The names that the API contract gives to the resources and results of the API. */
const RECORDS = [
  "Account",
  "Platform",
  "PlatformId",
  "PostSummary",
  "PostDetail",
  "PostCreatedResult",
  "PostUpdateResult",
  "PostWriteResult",
  "DeleteTarget",
  "ReadyMedia",
  "MonthlyQuota",
  "DailyQuota",
  "QueueSlotRule",
];
/**
 * Fields with fixed values whose schema needs a name in the API description, because clients use
 * the name for a type.
 */
const VALUES = [
  "PostStatus",
  "TargetStatus",
  "CreatedVia",
  "Weekday",
  "WebhookStatus",
  "DeliveryStatus",
  "WebhookSigning",
  "RunStatus",
  "RuleStatus",
  "RuleMatch",
  "BackfillStatus",
  "CommentActionType",
  "EventType",
  "ErrorCode",
  "DetailCode",
  "TargetErrorCode",
];

test("the API description gives a name to the schema of each resource, error and field with fixed values", () => {
  const { schemas } = document.components;
  const others = ["ApiError", "ErrorDetail", "PostTargetSummary", "Metrics", "WebhookTestData"];
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining([...RECORDS, ...VALUES, ...others]));
  for (const name of VALUES) expect(schemas, name).toHaveProperty([name, "enum"]);
  for (const name of ["ErrorCode", "DetailCode", "TargetErrorCode", "EventType"])
    expect(schemas).toHaveProperty([name, "description"], expect.stringContaining("may be added"));
  expect(schemas).toHaveProperty(
    ["PostTarget", "properties", "metrics", "anyOf"],
    [{ type: "null" }, { $ref: "#/components/schemas/Metrics" }],
  );
  expect(document.paths["/api/v1/posts"]?.["get"]?.parameters).toContainEqual(
    expect.objectContaining({
      name: "platform",
      schema: expect.objectContaining({ $ref: "#/components/schemas/PlatformId" }) as object,
    }),
  );
});

/**
 * Returns the HTTP statuses of errors with which the API contract says that an operation with these
 * parameters and this body can answer.
 */
function expectedErrors(
  name: string,
  { parameters = [], requestBody }: Document["paths"][string][string],
): readonly string[] {
  const headers = JSON.stringify(parameters);
  return [
    "400",
    "401",
    "403",
    "429",
    "500",
    "503",
    "504",
    ...(name.includes("{") ? ["404"] : []),
    ...(requestBody === undefined ? [] : ["413", "415"]),
    ...(headers.includes("Idempotency-Key") ? ["409", "422"] : []),
    ...(headers.includes("If-Match") ? ["412"] : []),
  ];
}

test("every operation describes each status with which it can answer, with the codes of that status", () => {
  for (const [path, operations] of apiPaths())
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      expect(Object.keys(operation.responses), name).toEqual(
        expect.arrayContaining([...expectedErrors(name, operation)]),
      );
    }
  const codes = (path: string, method: string, status: string) =>
    document.paths[`/api/v1${path}`]?.[method]?.responses[status];
  expect(codes("/posts", "post", "409")).toMatchObject({
    description: "Error code `idempotency_conflict`, `duplicate_content`, `no_queue_slot`.",
  });
  expect(codes("/posts/{id}/retry", "post", "409")).toMatchObject({
    description: "Error code `nothing_to_retry`.",
  });
  expect(codes("/posts", "get", "400")).toMatchObject({
    description: "Error code `invalid_request`, `workspace_required`, `invalid_cursor`.",
  });
  expect(codes("/posts", "post", "403")).toMatchObject({
    description: "Error code `insufficient_scope`, `workspace_forbidden`, `verification_required`.",
  });
});

test("the API description names the phase (1 or 2) of the API contract to which an operation belongs, and requires an API key by default", () => {
  const operations = apiPaths().flatMap(([, path]) => Object.values(path));
  for (const operation of operations)
    expect([1, 2, undefined]).toContain(operation["x-postrider-phase"]);
  expect(document.security).toEqual([{ bearerApiKey: [] }]);
  expect(document.paths["/api/v1/webhooks"]?.["get"]).toMatchObject({ "x-postrider-phase": 2 });
  expect(document.paths["/api/v1/posts"]?.["get"]).toMatchObject({ "x-postrider-phase": 1 });
});

test("the docs page loads nothing from other hosts", async () => {
  const page = await app.inject({ url: "/docs/" });
  expect(page.statusCode).toBe(200);
  const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, source]) => source ?? "",
  );
  for (const source of sources) expect(source).not.toMatch(/^(https?:)?\/\//);
});

test("the content security policy of the docs page allows only scripts of this server, whatever host name the client sends", async () => {
  const page = await app.inject({ url: "/docs/", headers: { host: "[" } });
  expect(page.statusCode).toBe(200);
  const policy = String(page.headers["content-security-policy"]);
  expect(policy.split("; ")).toContain("script-src 'self'");
  expect(policy).toContain("default-src 'none'");
  expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|style=/);
  const script = await app.inject({ url: "/docs/js/scalar.js" });
  expect([script.statusCode, script.headers["content-type"]]).toEqual([
    200,
    "text/javascript; charset=utf-8",
  ]);
  expect(script.rawPayload.length).toBeGreaterThan(1_000_000);
  const redirect = await app.inject({ url: "/docs", headers: { host: "evil.example" } });
  expect([redirect.statusCode, redirect.headers.location]).toEqual([302, "/docs/"]);
});

test("browsers load the script and the style of the docs page again after a release", async () => {
  for (const [path, type] of [
    ["js/page.js", "text/javascript"],
    ["page.css", "text/css"],
  ]) {
    const { statusCode, headers } = await app.inject({ url: `/docs/${path}` });
    expect([statusCode, headers["content-type"], headers["cache-control"]]).toEqual([
      200,
      `${type}; charset=utf-8`,
      "no-cache",
    ]);
  }
});

test("the examples on the docs page have the dates of the current UTC day", async () => {
  onTestFinished(() => void vi.useRealTimers());
  // These days are in the past, because new ids never go back in time: after a day in the future,
  // all further ids of this process would be of that day, also those of other test files.
  for (const [now, scheduledAt] of [
    ["2026-11-24T23:59:59Z", "2026-11-25T18:00:00+09:00"],
    ["2026-11-25T00:00:00Z", "2026-11-26T18:00:00+09:00"],
  ]) {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(now ?? "") });
    const answer = await app.inject({ url: "/docs/document.json" });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.json<Document>().paths["/api/v1/posts"]?.["post"]).toMatchObject({
      requestBody: {
        content: { "application/json": { examples: { schedule: { value: { scheduledAt } } } } },
      },
    });
  }
});

/**
 * The fields of records that `decisions.md` 3 and 7 list. Every other field of them is an
 * extension.
 */
const DECIDED: Readonly<Record<string, string>> = {
  Account:
    "id platform externalId username displayName avatarUrl status connectedAt tokenExpiresAt",
  Platform: "id name available unavailableReason rules",
  PostTarget:
    "id accountId platform username status externalId permalink publishedAt error attemptCount nextAttemptAt metrics",
  TargetError: "code message retryable",
  PostSummary:
    "id status content scheduledAt startedAt publishedAt createdVia createdAt updatedAt mediaIds targets",
  PostDetail:
    "id status content scheduledAt startedAt publishedAt createdVia createdAt updatedAt mediaIds targets options queueSlotRuleId media attempts",
  PostTargetSummary: "accountId platform status permalink errorCode",
  DeleteTarget: "accountId platform status error",
  ReadyMedia:
    "id status kind contentType bytes width height durationMs sha256 fileName url createdAt",
  MonthlyQuota: "period limit used reserved remaining resetsAt",
  DailyQuota: "platform accountId scope limit used reserved remaining resetsAt",
  QueueSlotRule:
    "id name weekdays times timezone startsOn endsOn status nextSlots createdAt updatedAt",
  Webhook:
    "id url description events status disabledReason signing publicKey maxPerSecond createdAt updatedAt",
  WebhookDelivery:
    "id eventId eventType status attemptCount nextAttemptAt createdAt payload attempts",
  WebhookAttempt:
    "number startedAt durationMs statusCode error requestHeaders responseHeaders responseBody",
  Metrics: "views impressions reach likes comments shares saves refreshedAt",
};

test("the API description marks exactly those fields of records as extensions that the interface does not have", () => {
  for (const [name, decided] of Object.entries(DECIDED)) {
    const { properties } = document.components.schemas[name] as {
      readonly properties: Readonly<Record<string, object>>;
    };
    const fields = Object.entries(properties);
    const own = fields.filter(([, schema]) => !("x-postrider-extension" in schema));
    expect(own.map(([field]) => field).sort(), name).toEqual(decided.split(" ").sort());
  }
});

function everyObject(part: unknown): readonly object[] {
  if (typeof part !== "object" || part === null) return [];
  return [part, ...Object.values(part).flatMap(everyObject)];
}

test("the API description gives every id the format uuid and the pattern of lower case, also in paths and headers", () => {
  const ids = everyObject(document).filter((each) => "format" in each && each.format === "uuid");
  const patterns = ids.map((each) => ("pattern" in each ? each.pattern : undefined));
  expect(ids.length).toBeGreaterThan(100);
  expect(new Set(patterns)).toEqual(
    new Set(["^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"]),
  );
  for (const [, operations] of apiPaths())
    for (const { parameters } of Object.values(operations))
      expect(parameters).toContainEqual(
        expect.objectContaining({
          name: "X-Workspace-Id",
          schema: expect.objectContaining({ format: "uuid" }) as object,
        }),
      );
});

test("every error status of every operation lists its codes for programs, and uploads describe the status 400", () => {
  const codes = new Set<string>();
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { responses }] of Object.entries(operations))
      for (const [status, answer] of Object.entries(responses)) {
        if (!/^[45]/.test(status)) continue;
        const found = "x-postrider-codes" in answer ? answer["x-postrider-codes"] : [];
        expect(found, `${method} ${path} ${status}`).not.toEqual([]);
        for (const code of found as readonly string[]) codes.add(code);
      }
  expect(document.components.schemas["ErrorCode"]).toMatchObject({
    enum: expect.arrayContaining([...codes]) as readonly string[],
  });
  expect(document.paths["/uploads/{uploadPath}"]?.["put"]?.responses["400"]).toMatchObject({
    "x-postrider-codes": ["invalid_request"],
  });
});

test("every field of answers with fixed values says that it may get more values, except weekdays", () => {
  const { schemas } = document.components;
  for (const name of VALUES.filter((each) => each !== "Weekday"))
    expect(schemas[name], name).toMatchObject({
      description: expect.stringContaining("may be added") as string,
      "x-postrider-may-grow": true,
    });
  expect(schemas["Weekday"]).not.toHaveProperty("x-postrider-may-grow");
});
