import { type TSchema, Type } from "typebox";
import { Account } from "#src/accounts/schemas.ts";
import { AutomationRun } from "#src/automations/schemas.ts";
import { CommentAction } from "#src/comments/schemas.ts";
import { ReadyMedia } from "#src/media/schemas.ts";
import { PostSummary, PostTarget } from "#src/posts/schemas.ts";
import { DailyQuota, MonthlyQuota } from "#src/quota/schemas.ts";
import { enumeration, Id, Instant, named, ref } from "#src/schemas.ts";
import { EXAMPLE_DATA } from "#src/webhooks/event-examples.ts";
import { Webhook } from "#src/webhooks/schemas.ts";

/** What a webhook event says about a resource that no longer existed when the event was written. */
const ResourceReference = Type.Object(
  { id: Id },
  {
    $id: "ResourceReference",
    additionalProperties: false,
    description: "A resource that no longer exists.",
  },
);

const { id, status: _, error, nextAttemptAt, ...ofTarget } = PostTarget.properties;

/** The `data` of webhook events about targets. */
const WebhookTarget = Type.Object(
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
const WebhookAccount = Type.Object(
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
const EVENT_DATA = {
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

/** Webhook event types whose payload is documented. */
export type DocumentedEventType = keyof typeof EXAMPLE_DATA;

interface EventDescription {
  readonly description: string;
  readonly data: TSchema;
}

/** The `data` and the meaning of each webhook event, in the order of the documentation. */
const EVENTS: Readonly<Record<DocumentedEventType, EventDescription>> = {
  "post.scheduled": {
    description: "A post is scheduled, or was moved to another time.",
    data: EVENT_DATA.post,
  },
  "post.publishing": {
    description: "Publishing a post has begun, also again after a retry.",
    data: EVENT_DATA.post,
  },
  "post.published": { description: "Every target is published.", data: EVENT_DATA.post },
  "post.partial": {
    description: "Some targets are published, the others failed.",
    data: EVENT_DATA.post,
  },
  "post.failed": { description: "Every target failed.", data: EVENT_DATA.post },
  "post.cancelled": {
    description: "A post was deleted after its publishing had begun.",
    data: EVENT_DATA.post,
  },
  "post.deleted": {
    description: "A draft or scheduled post was deleted, and no record of it remains.",
    data: EVENT_DATA.deletedPost,
  },
  "target.published": {
    description: "A post is published on one account.",
    data: EVENT_DATA.target,
  },
  "target.updated": {
    description:
      "After `target.published`, the platform has told the id or the address of the published post, or another one, or that readers do not see the post (`error`).",
    data: EVENT_DATA.target,
  },
  "target.failed": {
    description: "Publishing a post on one account failed.",
    data: EVENT_DATA.target,
  },
  "target.deleted": {
    description: "A published post was deleted on the platform of one account.",
    data: EVENT_DATA.target,
  },
  "account.connected": {
    description: "An account was connected, or connected again.",
    data: EVENT_DATA.account,
  },
  "account.disconnected": { description: "An account was disconnected.", data: EVENT_DATA.account },
  "account.reconnect_required": {
    description: "The platform refuses the account's access; a person has to connect it again.",
    data: EVENT_DATA.account,
  },
  "media.ready": {
    description: "An uploaded or imported file was checked and can be used in posts.",
    data: EVENT_DATA.media,
  },
  "comment_action.completed": {
    description: "An action on a comment that a client requested succeeded or failed.",
    data: EVENT_DATA.commentAction,
  },
  "automation_run.completed": {
    description:
      "What becomes of a comment under an automation rule is decided: the private reply was sent, or it is not sent.",
    data: EVENT_DATA.automationRun,
  },
  "quota.exhausted": {
    description:
      "Nothing is left of the workspace's monthly quota or of one of its daily limits; once per period.",
    data: EVENT_DATA.quota,
  },
  "webhook.disabled": {
    description:
      "Another subscription of the workspace was disabled, because its receiver is gone or keeps failing.",
    data: EVENT_DATA.webhook,
  },
  "webhook.test": {
    description: "Sent to a new subscription, and to one whose address changed.",
    data: EVENT_DATA.test,
  },
};

const EXAMPLE = {
  id: "01a1a1c2-0f3a-7b4c-8d5e-6f708192a3b4",
  timestamp: "2026-11-21T09:00:01.402Z",
  workspaceId: "01a17000-aaaa-7bbb-8ccc-ddddeeeeffff",
  sequence: 4,
};

/**
 * A webhook event as a subscription receives it: its meaning, the schema of the whole body, and an
 * example of it.
 */
export interface DocumentedEvent {
  readonly type: DocumentedEventType;
  readonly description: string;
  readonly schema: TSchema & { readonly $id: string };
  readonly example: object;
}

function describeEvent([type, { description, data }]: [string, EventDescription]): DocumentedEvent {
  const $id = `${type.split(/[._]/).map(capitalize).join("")}Event`;
  const body = Type.Object(
    {
      id: Type.String({
        ...Id,
        description: "The header `webhook-id`; the same at every attempt.",
      }),
      type: Type.Unsafe<string>({ type: "string", const: type }),
      timestamp: Type.String({ ...Instant, description: "When it happened." }),
      workspaceId: Id,
      sequence: Type.Integer({
        minimum: 0,
        description: "Version of the resource when it happened: higher is newer.",
      }),
      data,
    },
    { $id, description },
  );
  const { id, ...rest } = EXAMPLE;
  const known = type as DocumentedEventType;
  const example = { id, type, ...rest, data: EXAMPLE_DATA[known] };
  return { type: known, description, schema: { ...body, $id }, example };
}

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Every webhook event whose payload is documented. */
export const WEBHOOK_EVENTS: readonly DocumentedEvent[] = Object.entries(EVENTS).map(describeEvent);

const TYPES = WEBHOOK_EVENTS.map(({ type }) => type);

export const EventType = enumeration(
  "EventType",
  TYPES,
  "What happened. More types may be added; a subscription to `*` or to a group receives them.",
);

const GROUPS = new Set(TYPES.map((type) => `${type.split(".", 1)[0]}.*`));

/** What a subscription receives: events of a type, of a group of types, or all. */
export const EventFilter = enumeration(
  "EventFilter",
  ["*", ...GROUPS, ...TYPES],
  "A type of events, a group of types such as `post.*`, or `*`. More values may be added.",
);

/** Schemas of webhook events that the API description lists by name. */
export const EVENT_SCHEMAS: readonly (TSchema & { readonly $id?: string })[] = [
  ResourceReference,
  WebhookTarget,
  WebhookAccount,
  ...WEBHOOK_EVENTS.map(({ schema }) => schema),
];
