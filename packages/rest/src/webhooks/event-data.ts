import { Type, type TSchema } from "typebox";
import { Account } from "#src/accounts/schemas.ts";
import { AutomationRun } from "#src/automations/schemas.ts";
import { CommentAction } from "#src/comments/schemas.ts";
import { ReadyMedia } from "#src/media/schemas.ts";
import { PostSummary, PostTarget } from "#src/posts/schemas.ts";
import { DailyQuota, MonthlyQuota } from "#src/quota/schemas.ts";
import { enumeration, Id, named, ref } from "#src/schemas.ts";
import { Webhook } from "#src/webhooks/schemas.ts";

/** What a webhook event says about a resource that no longer existed when the event was written. */
export const ResourceReference = Type.Object(
  { id: Id },
  {
    $id: "ResourceReference",
    additionalProperties: false,
    description: "A resource that no longer exists.",
  },
);

const { id, status: _, error, nextAttemptAt, ...ofTarget } = PostTarget.properties;

/** The `data` of webhook events about targets. */
export const WebhookTarget = Type.Object(
  {
    id,
    postId: Id,
    status: enumeration("WebhookTargetStatus", ["published", "failed", "deleted"]),
    error,
    nextAttemptAt,
    ...Type.Partial(Type.Object(ofTarget)).properties,
  },
  {
    $id: "WebhookTarget",
    description:
      "A target as the event reports it. If the post no longer exists, only what the event says is present.",
  },
);

const { id: accountId, platform, status: __, ...ofAccount } = Account.properties;

/** The `data` of webhook events about accounts. */
export const WebhookAccount = Type.Object(
  {
    id: accountId,
    platform,
    status: enumeration("WebhookAccountStatus", ["active", "reconnect_required", "disconnected"]),
    ...Type.Partial(Type.Object(ofAccount)).properties,
  },
  {
    $id: "WebhookAccount",
    description: "An account with the status that the event reports.",
  },
);

function orGone(schema: TSchema) {
  return Type.Unsafe<object>({ anyOf: [ref(schema), ref(ResourceReference)] });
}

/** Schemas of the `data` of webhook events, by kind of resource. */
export const EVENT_DATA = {
  post: orGone(PostSummary),
  deletedPost: ref(ResourceReference),
  target: ref(WebhookTarget),
  account: ref(WebhookAccount),
  media: orGone(ReadyMedia),
  commentAction: orGone(CommentAction),
  automationRun: orGone(AutomationRun),
  quota: Type.Unsafe<object>({ anyOf: [ref(MonthlyQuota), ref(DailyQuota)] }),
  webhook: orGone(Webhook),
  test: named("WebhookTestData", Type.Object({ webhookId: Id })),
};
