import { WEBHOOK_EVENTS } from "@postrider/rest/webhooks/events";

const HEADERS = [
  ["webhook-id", "Id of the event. Use it to recognise an event that was delivered before."],
  ["webhook-timestamp", "Time of the attempt in seconds since 1970."],
  [
    "webhook-signature",
    "Signatures over id, timestamp and body, separated by spaces: `v1,` HMAC-SHA256 or `v1a,` Ed25519.",
  ],
].map(([name, description]) => ({
  name,
  description,
  in: "header",
  required: true,
  schema: { type: "string" },
}));

/** Describes the requests that Postrider sends to webhook subscriptions, by event type, as OpenAPI 3.1 has them. */
export function describeWebhooks(): Record<string, object> {
  return Object.fromEntries(
    WEBHOOK_EVENTS.map(({ type, description, schema, example }) => [
      type,
      {
        post: {
          operationId: `on${schema.$id.replace(/Event$/, "")}`,
          summary: type,
          description,
          tags: ["webhook events"],
          parameters: HEADERS,
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: { $ref: `#/components/schemas/${schema.$id}` },
                example,
              },
            },
          },
          responses: {
            "2XX": { description: "The event is received." },
            "410": { description: "The receiver is gone: the subscription is disabled." },
            default: { description: "The event is sent again later, for up to four days." },
          },
        },
      },
    ]),
  );
}
