import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { WEBHOOK_EVENTS } from "@postrider/rest/webhooks/events";
import { EXAMPLE_IDS, type OperationExamples } from "./example.ts";

const WEBHOOK = { ...EXAMPLE_DATA["webhook.disabled"], status: "active", disabledReason: null };
const WITH_SECRET = { ...WEBHOOK, secret: "whsec_RVhBTVBMRQ==" };
const EVENT = WEBHOOK_EVENTS.find(({ type }) => type === "post.published")?.example ?? {};

const DELIVERY = {
  id: EXAMPLE_IDS.delivery,
  eventId: "01a1a1c2-0f3a-7b4c-8d5e-6f708192a3b4",
  eventType: "post.published",
  status: "failed",
  attemptCount: 1,
  nextAttemptAt: null,
  error: null,
  createdAt: "2026-11-21T09:00:01.500Z",
  payload: EVENT,
  attempts: [
    {
      number: 1,
      startedAt: "2026-11-21T09:00:01.600Z",
      durationMs: 48,
      statusCode: 410,
      error: "http_error",
      requestHeaders: { "content-type": "application/json" },
      responseHeaders: { "content-length": "0" },
      responseBody: "",
    },
  ],
};

export const WEBHOOK_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listWebhooks: { answers: { 200: { webhooks: [WEBHOOK], nextCursor: null } } },
  createWebhook: {
    requests: {
      results: {
        summary: "Receive the results of posts",
        value: {
          url: "https://example.com/postrider",
          description: "Publishing results",
          events: ["post.*", "target.failed"],
        },
      },
      signedWithEd25519: {
        summary: "Receive everything, signed with Ed25519, at most 5 events per second",
        value: {
          url: "https://example.com/postrider",
          events: ["*"],
          signing: "ed25519",
          maxPerSecond: 5,
        },
      },
    },
    answers: { 201: WITH_SECRET },
  },
  updateWebhook: {
    requests: {
      pause: { summary: "Pause the subscription", value: { status: "paused" } },
      rotate: {
        summary: "Make a new secret; the old one signs for one more day",
        value: { rotateSecret: { graceHours: 24 } },
      },
    },
    answers: { 200: WITH_SECRET },
  },
  listWebhookDeliveries: { answers: { 200: { deliveries: [DELIVERY], nextCursor: null } } },
  retryWebhookDelivery: {
    answers: {
      202: { ...DELIVERY, status: "pending", nextAttemptAt: "2026-11-21T10:00:00.000Z" },
    },
  },
};
