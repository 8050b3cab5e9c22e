import { conflict, notFound, unprocessable } from "@postrider/shared/errors";
import { afterAll, expect, test } from "vitest";
import { faults, summary, type ErrorBody } from "./error-body.ts";
import { WORKSPACE_ID } from "./fixture.ts";
import { AT, createRecordingServer, INSTANT, withoutScope } from "./recording-server.ts";

const WEBHOOK_ID = "01936a5e-7d2b-7000-8000-00000000000c";
const DELIVERY_ID = "01936a5e-7d2b-7000-8000-00000000000d";
const PATH = `/api/v1/webhooks/${WEBHOOK_ID}`;
const WEBHOOK = {
  id: WEBHOOK_ID,
  url: "https://example.com/hook",
  description: "Mine",
  events: ["post.*"],
  status: "active",
  signing: "hmac-sha256",
  createdAt: AT,
  updatedAt: AT,
};
const RECORD = {
  ...WEBHOOK,
  disabledReason: null,
  publicKey: null,
  maxPerSecond: null,
  createdAt: INSTANT,
  updatedAt: INSTANT,
};
const DELIVERY = {
  id: DELIVERY_ID,
  eventId: DELIVERY_ID,
  eventType: "post.published",
  status: "failed",
  attemptCount: 1,
  error: "backlog_full",
  createdAt: AT,
  payload: '{"id":"a","data":{"b":[1]}}',
  attempts: [
    {
      number: 1,
      startedAt: AT,
      durationMs: 12,
      error: "timeout",
      requestHeaders: { "webhook-id": "a" },
      responseHeaders: {},
    },
  ],
};
const DELIVERY_RECORD = {
  ...DELIVERY,
  nextAttemptAt: null,
  createdAt: INSTANT,
  payload: { id: "a", data: { b: [1] } },
  attempts: [
    {
      number: 1,
      startedAt: INSTANT,
      durationMs: 12,
      statusCode: null,
      error: "timeout",
      requestHeaders: { "webhook-id": "a" },
      responseHeaders: {},
      responseBody: null,
    },
  ],
};
const BODY = { url: "https://example.com/hook", events: ["post.*"] };

const server = await createRecordingServer((answer) => ({
  webhooks: {
    listWebhooks: (request) => answer(request, { webhooks: [WEBHOOK], nextCursor: "next" }),
    createWebhook: (request) => answer(request, { webhook: WEBHOOK, secret: "whsec_a" }),
    updateWebhook: (request) => answer(request, { webhook: WEBHOOK }),
    revokeWebhook: (request) => answer(request, {}),
    listWebhookDeliveries: (request) => answer(request, { deliveries: [DELIVERY] }),
    retryWebhookDelivery: (request) => answer(request, { delivery: DELIVERY }),
  },
}));
afterAll(() => server[Symbol.asyncDispose]());

test("a list of webhook subscriptions is returned as one page with the cursor of the next page, without secrets", async () => {
  const answer = await server.send({
    method: "GET",
    url: "/api/v1/webhooks?limit=1",
  });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ webhooks: [RECORD], nextCursor: "next" });
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, limit: 1, cursor: "" }]);
});

test("POST /webhooks answers 201 with the location and the secret of the subscription, and sends the defaults to the delivery service", async () => {
  const answer = await server.send({
    method: "POST",
    url: "/api/v1/webhooks",
    headers: { "idempotency-key": "a key that is ignored" },
    payload: BODY,
  });

  expect(answer.statusCode).toBe(201);
  expect(answer.headers.location).toBe(PATH);
  expect(answer.json()).toEqual({ ...RECORD, secret: "whsec_a" });
  expect(server.seen()).toMatchObject([
    { url: BODY.url, events: ["post.*"], description: "", signing: "hmac-sha256" },
  ]);
});

test.each([
  [{}, ["required /events", "required /url"]],
  [{ ...BODY, events: [] }, ["min_items /events"]],
  [{ ...BODY, events: ["post.*", "post.exploded"] }, ["not_allowed /events/1"]],
  [{ ...BODY, url: "ftp://example.com/hook" }, ["format /url"]],
  [{ ...BODY, secret: "mine" }, ["additional_property /secret"]],
  [{ ...BODY, signing: "rsa" }, ["not_allowed /signing"]],
  [{ ...BODY, maxPerSecond: 0 }, ["too_small /maxPerSecond"]],
])(
  "a request to create a webhook subscription with the body %j is refused, and the error lists everything that is wrong",
  async (payload, expected) => {
    const answer = await server.send({ method: "POST", url: "/api/v1/webhooks", payload });

    expect(answer.statusCode).toBe(400);
    expect(faults(answer)).toEqual(expected);
    expect(server.seen()).toEqual([]);
  },
);

test("a change of a webhook subscription sends only the fields that the client sent, and null removes the maximum rate", async () => {
  const answer = await server.send({
    method: "PATCH",
    url: PATH,
    payload: { maxPerSecond: null, rotateSecret: { graceHours: 0 } },
  });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual(RECORD);
  expect(server.seen()).toMatchObject([
    { id: WEBHOOK_ID, maxPerSecond: 0, rotateSecret: { graceHours: 0 }, events: [] },
  ]);
  expect(server.seen()[0]).not.toHaveProperty("url");
});

test("revoking a webhook subscription is answered with 204 and no body", async () => {
  const answer = await server.send({ method: "DELETE", url: PATH });

  expect([answer.statusCode, answer.body]).toEqual([204, ""]);
  expect(server.seen()).toMatchObject([{ id: WEBHOOK_ID }]);
});

test("the history of a webhook subscription shows payloads as JSON, and null for the fields that an attempt does not have", async () => {
  const answer = await server.send({
    method: "GET",
    url: `${PATH}/deliveries?status=failed&eventType=post.published`,
  });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ deliveries: [DELIVERY_RECORD], nextCursor: null });
  expect(server.seen()).toMatchObject([
    { webhookId: WEBHOOK_ID, status: "failed", eventType: "post.published" },
  ]);
});

test("a retry of a webhook delivery is answered with 202 and the delivery", async () => {
  const url = `${PATH}/deliveries/${DELIVERY_ID}/retry`;
  const answer = await server.send({ method: "POST", url });

  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toEqual(DELIVERY_RECORD);
});

test.each([
  [conflict("delivery_not_failed"), 409],
  [conflict("invalid_transition"), 409],
  [unprocessable("validation_failed", [{ code: "too_many_waiting_deliveries", limit: 10 }]), 422],
  [notFound(), 404],
])(
  "the gateway passes on the refusal %s of a retry of a webhook delivery",
  async (error, expected) => {
    const url = `${PATH}/deliveries/${DELIVERY_ID}/retry`;
    const answer = await server.send({ method: "POST", url }, { error });

    expect(summary(answer)).toEqual([expected, error.reason]);
  },
);

test.each([
  ["GET", "/api/v1/webhooks", "webhooks:read"],
  ["POST", "/api/v1/webhooks", "webhooks:write"],
  ["PATCH", PATH, "webhooks:write"],
  ["DELETE", PATH, "webhooks:write"],
  ["GET", `${PATH}/deliveries`, "webhooks:read"],
  ["POST", `${PATH}/deliveries/${DELIVERY_ID}/retry`, "webhooks:write"],
] as const)("the request %s %s needs the scope %s", async (method, url, scope) => {
  const answer = await server.send({ method, url }, { scopes: withoutScope(scope) });

  expect(summary(answer)).toEqual([403, "insufficient_scope"]);
});

test.each(["nonsense", "0", "01936A5E-7D2B-7000-8000-00000000000C"])(
  "the id %s of a webhook subscription or a webhook delivery is answered as not found",
  async (id) => {
    for (const url of [`/api/v1/webhooks/${id}/deliveries`])
      expect((await server.send({ method: "GET", url })).statusCode).toBe(404);

    const retry = `${PATH}/deliveries/${id}/retry`;
    expect((await server.send({ method: "POST", url: retry })).statusCode).toBe(404);
    expect(server.seen()).toEqual([]);
  },
);

test("a subscription to localhost is refused with the reason, and with the ways to receive webhooks in development", async () => {
  const error = unprocessable("address_not_allowed", [
    { code: "webhook_not_public", path: "/url" },
  ]);
  const payload = { ...BODY, url: "http://localhost:3000/hook" };
  const answer = await server.send({ method: "POST", url: "/api/v1/webhooks", payload }, { error });
  const body = answer.json<ErrorBody>();

  expect(body.error.code).toBe("address_not_allowed");
  expect(body.error.message).toContain("public addresses only");
  expect(body.error.message).toContain("OUTBOUND_ALLOW=127.0.0.1:3000");
  expect(body.error.message).toContain("tunnel");
  expect(body.error.message).not.toContain("/media/presign");
});
