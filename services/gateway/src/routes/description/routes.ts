import swagger from "@fastify/swagger";
import { Account } from "@postrider/rest/accounts/schemas";
import { PlatformIdSchema } from "@postrider/rest/platform-id";
import { EVENT_SCHEMAS, WEBHOOK_EVENTS } from "@postrider/rest/webhooks/events";
import type { FastifyInstance } from "fastify";
import { ACCOUNT_SETTINGS_SCHEMAS, AccountList } from "#src/routes/accounts/schemas.ts";
import { API_PATH, VERSION } from "#src/routes/api-paths.ts";
import { AUTOMATION_SCHEMAS } from "#src/routes/automations/schemas.ts";
import { COMMENT_SCHEMAS } from "#src/routes/comments/schemas.ts";
import { completeDescription } from "#src/routes/description/complete.ts";
import { TAGS } from "#src/routes/description/tags.ts";
import { ApiError } from "#src/routes/error-schemas.ts";
import { MEDIA_SCHEMAS } from "#src/routes/media/schemas.ts";
import { Platform, PlatformList } from "#src/routes/platforms/schemas.ts";
import { METRICS_SCHEMAS } from "#src/routes/posts/metrics-schemas.ts";
import { POST_REQUEST_SCHEMAS } from "#src/routes/posts/request-schemas.ts";
import { POST_SCHEMAS } from "#src/routes/posts/schemas.ts";
import { QUEUE_SLOT_SCHEMAS } from "#src/routes/queue-slots/schemas.ts";
import { QUOTA_SCHEMAS } from "#src/routes/quota/routes.ts";
import { HIDDEN } from "#src/routes/schemas.ts";
import { WEBHOOK_SCHEMAS } from "#src/routes/webhooks/schemas.ts";

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

/** By event type, as OpenAPI 3.1 has them. */
function describeWebhooks(): Record<string, object> {
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

const SCHEMAS = [
  ApiError,
  PlatformIdSchema,
  Platform,
  PlatformList,
  Account,
  AccountList,
  ...ACCOUNT_SETTINGS_SCHEMAS,
  ...MEDIA_SCHEMAS,
  ...POST_SCHEMAS,
  ...POST_REQUEST_SCHEMAS,
  ...METRICS_SCHEMAS,
  ...QUOTA_SCHEMAS,
  ...QUEUE_SLOT_SCHEMAS,
  ...WEBHOOK_SCHEMAS,
  ...COMMENT_SCHEMAS,
  ...AUTOMATION_SCHEMAS,
  ...EVENT_SCHEMAS,
];

const INTRODUCTION = `Publish the same content to several social accounts and read the result for each account.

Every request needs a workspace API key as a bearer token. Errors carry a stable \`code\`; quote the \`X-Request-Id\` of the answer when you report a problem.`;

const SECURITY_SCHEMES = {
  bearerApiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "A workspace API key, `pr_live_…`. The operator makes it with `npm run -s postrider -- key create`.",
  },
  uploadToken: {
    type: "http",
    scheme: "bearer",
    description: "`uploadToken` of an upload grant; only for `PUT /uploads/{uploadPath}`.",
  },
} as const;

/** It is generated from the schemas of the routes and needs no API key. */
export async function registerDescription(app: FastifyInstance): Promise<void> {
  for (const schema of SCHEMAS) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Postrider",
        version: VERSION,
        description: INTRODUCTION,
        contact: { name: "The operator of this installation" },
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "The server of this description." }],
      webhooks: describeWebhooks(),
      tags: TAGS,
      security: [{ bearerApiKey: [] }],
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    transformObject: completeDescription,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) =>
        typeof json.$id === "string" ? json.$id : `schema-${index}`,
    },
  });
  // The description is written as text once, because anybody may request it and writing it takes
  // several milliseconds.
  let json: string | undefined;
  const options = { schema: HIDDEN, config: { openLimit: "documents" as const } };
  app.get(`${API_PATH}/openapi.json`, options, async (_request, reply) => {
    json ??= JSON.stringify(app.swagger());
    return await reply.type("application/json; charset=utf-8").send(json);
  });
}
