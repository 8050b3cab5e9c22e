import { WEBHOOK_EVENTS } from "@postrider/rest/webhooks/events";
import { afterAll, expect, test } from "vitest";
import { createTestServer } from "./fixture.ts";

const app = await createTestServer({}, () => ({ kind: "unavailable", retryAfterSeconds: 1 }));
const answer = await app.inject({ url: "/api/v1/openapi.json" });
const { webhooks } = answer.json<{ webhooks: Readonly<Record<string, object>> }>();
afterAll(() => app.close());

const TYPES = WEBHOOK_EVENTS.map(({ type }) => type);

test("the API description has a webhook for each event type, with the schema and an example of its body", () => {
  expect(Object.keys(webhooks)).toEqual(TYPES);
  for (const { type, schema, example } of WEBHOOK_EVENTS)
    expect(webhooks[type]).toMatchObject({
      post: {
        requestBody: {
          content: {
            "application/json": { schema: { $ref: `#/components/schemas/${schema.$id}` }, example },
          },
        },
      },
    });
});
