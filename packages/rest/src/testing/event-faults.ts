import { Ajv, type ErrorObject } from "ajv";
import { Account } from "#src/accounts/schemas.ts";
import { AutomationRun } from "#src/automations/schemas.ts";
import { COMMENT_ACTION_SCHEMAS } from "#src/comments/schemas.ts";
import { ReadyMedia } from "#src/media/schemas.ts";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { Metrics, PostSummary, PostTarget, TargetError } from "#src/posts/schemas.ts";
import { DailyQuota, MonthlyQuota } from "#src/quota/schemas.ts";
import { EVENT_SCHEMAS, WEBHOOK_EVENTS } from "#src/webhooks/events.ts";
import { Webhook } from "#src/webhooks/schemas.ts";

const SCHEMAS = [
  PlatformIdSchema,
  Account,
  ReadyMedia,
  PostSummary,
  PostTarget,
  Metrics,
  TargetError,
  MonthlyQuota,
  DailyQuota,
  Webhook,
  ...COMMENT_ACTION_SCHEMAS,
  AutomationRun,
  ...EVENT_SCHEMAS,
];

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const ajv = new Ajv({ allErrors: true, strictTypes: false });
ajv.addKeyword("x-postrider-extension");
ajv.addFormat("uuid", true);
ajv.addFormat("uri", (text: string) => URL.parse(text) !== null);
ajv.addFormat("date-time", (text: string) => INSTANT.test(text));
for (const schema of SCHEMAS) ajv.addSchema(schema);

/**
 * Returns the errors in the body of a webhook event by the JSON Schema of its type; none for a
 * valid body.
 */
export function findEventFaults(body: { readonly type: string }): readonly ErrorObject[] {
  const event = WEBHOOK_EVENTS.find(({ type }) => type === body.type);
  if (event === undefined) throw new Error(`the event type ${body.type} has no schema`);
  const validate = ajv.getSchema(event.schema.$id);
  if (validate === undefined) throw new Error(`the schema ${event.schema.$id} is not known`);
  void validate(body);
  return validate.errors ?? [];
}
