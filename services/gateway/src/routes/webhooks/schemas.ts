import { enumeration, Id, Instant, named, nullable, ref } from "@postrider/rest/schemas";
import { EventFilter, EventType } from "@postrider/rest/webhooks/events";
import { MaxPerSecond, Signing, WEBHOOK, Webhook } from "@postrider/rest/webhooks/schemas";
import { Type } from "typebox";
import { HTTP_URL } from "#src/routes/schemas.ts";

const MAX_URL_LENGTH = 2048;

const Url = Type.String({
  format: "uri",
  pattern: HTTP_URL,
  maxLength: MAX_URL_LENGTH,
  examples: ["https://example.com/hook"],
  description: "http or https, at a public address, on any port.",
});
const Description = Type.String({ maxLength: 500 });
const Events = Type.Array(EventFilter, {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  description: "Full event types such as `post.published`, groups such as `post.*`, or `*`.",
});
/** A webhook subscription in the answer to a request that made a signing secret. */
export const WebhookWithSecret = Type.Object(
  {
    ...WEBHOOK,
    secret: Type.Optional(
      Type.String({
        description:
          "`whsec_…`. Present in the answer to a creation with `signing: hmac-sha256` (the default) and to a change with `rotateSecret`, and in no other answer.",
      }),
    ),
  },
  { $id: "WebhookWithSecret" },
);

export const WebhookList = Type.Object(
  { webhooks: Type.Array(ref(Webhook)), nextCursor: nullable(Type.String()) },
  { $id: "WebhookList" },
);

export const CreateWebhook = Type.Object(
  {
    url: Url,
    description: Type.Optional(Description),
    events: Events,
    signing: Type.Optional(Signing),
    maxPerSecond: Type.Optional(MaxPerSecond),
  },
  { $id: "CreateWebhook", additionalProperties: false },
);

export const UpdateWebhook = Type.Object(
  {
    url: Type.Optional(Url),
    description: Type.Optional(Description),
    events: Type.Optional(Events),
    status: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["active", "paused"] })),
    maxPerSecond: Type.Optional(MaxPerSecond),
    rotateSecret: Type.Optional(
      named(
        "RotateSecret",
        Type.Object(
          {
            graceHours: Type.Integer({
              minimum: 0,
              maximum: 168,
              description: "For how long older secrets still sign; 0 ends them now.",
            }),
          },
          {
            additionalProperties: false,
            description: "Not for a subscription with Ed25519, which has no secret.",
          },
        ),
      ),
    ),
  },
  { $id: "UpdateWebhook", additionalProperties: false, minProperties: 1 },
);

const Headers = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string" },
});

const WebhookAttempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    startedAt: Instant,
    durationMs: Type.Integer(),
    statusCode: nullable(Type.Integer()),
    error: nullable(
      enumeration(
        "WebhookAttemptError",
        [
          "timeout",
          "connection_failed",
          "tls_failed",
          "dns_failed",
          "address_not_allowed",
          "redirect_refused",
          "http_error",
          "body_timeout",
          "too_large_headers",
        ],
        "Why the attempt failed. `dns_failed`: the host name has no public address. More codes may be added.",
      ),
    ),
    requestHeaders: Headers,
    responseHeaders: Headers,
    responseBody: nullable(
      Type.String({ description: "At most 16 KiB; of a 2xx response, at most 2 KiB." }),
    ),
  },
  { $id: "WebhookAttempt" },
);

const DeliveryStatus = enumeration("DeliveryStatus", [
  "pending",
  "delivering",
  "succeeded",
  "failed",
  "cancelled",
]);

export const WebhookDelivery = Type.Object(
  {
    id: Id,
    eventId: Type.String({ format: "uuid", description: "The header `webhook-id`." }),
    eventType: EventType,
    status: DeliveryStatus,
    attemptCount: Type.Integer(),
    nextAttemptAt: nullable(Instant),
    error: nullable(
      named(
        "WebhookDeliveryError",
        Type.Unsafe<string>({
          type: "string",
          enum: ["backlog_full"],
          description:
            "Why the delivery failed without an attempt. `backlog_full`: too many deliveries of the workspace or to the host waited; retry it when fewer do. More codes may be added.",
          "x-postrider-extension": true,
        }),
      ),
    ),
    createdAt: Instant,
    payload: Type.Unsafe<object | null>({
      type: ["object", "null"],
      additionalProperties: true,
      description: "The JSON that is sent; null until it is written, which takes moments.",
    }),
    attempts: Type.Array(ref(WebhookAttempt), {
      description: "The newest 50, oldest first. `attemptCount` counts all.",
    }),
  },
  { $id: "WebhookDelivery" },
);

export const WebhookDeliveryList = Type.Object(
  {
    deliveries: Type.Array(ref(WebhookDelivery)),
    nextCursor: nullable(
      Type.String({
        description:
          "Cursor of the next page, null on the last page. A page with a cursor may have fewer deliveries than `limit`.",
      }),
    ),
  },
  { $id: "WebhookDeliveryList" },
);

const PAGE = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: "1 to 100, default 20." }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "nextCursor of the previous page; leave it out for the first page.",
    }),
  ),
};

export const ListWebhooksQuery = Type.Object(PAGE, { additionalProperties: false });

export const ListDeliveriesQuery = Type.Object(
  {
    ...PAGE,
    status: Type.Optional(DeliveryStatus),
    eventType: Type.Optional(EventType),
  },
  { additionalProperties: false },
);

export const DeliveryParams = Type.Object({
  id: Type.String({ format: "uuid" }),
  deliveryId: Type.String({ format: "uuid" }),
});

/** Schemas of webhook operations that the API description lists by name. */
export const WEBHOOK_SCHEMAS = [
  Webhook,
  WebhookWithSecret,
  WebhookList,
  CreateWebhook,
  UpdateWebhook,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryList,
];
