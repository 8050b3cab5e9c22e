import { create } from "@bufbuild/protobuf";
import { WebhookSchema } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { toAccount } from "@postrider/rest/accounts/mapping";
import { toAutomationRun } from "@postrider/rest/automations/mapping";
import { toCommentAction } from "@postrider/rest/comments/mapping";
import type { Locale } from "@postrider/rest/locale";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import { toPostSummary, toTargetError } from "@postrider/rest/posts/mapping";
import { toWebhook } from "@postrider/rest/webhooks/mapping";
import type { EventSource, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { toWebhook as toWebhookMessage } from "#src/webhooks/operations/to-webhook.ts";
import type { SourceObject } from "./read-objects.ts";

interface RenderOptions {
  readonly locale: Locale;
}

type SourceOf<K extends EventSource["kind"]> = Extract<EventSource, { readonly kind: K }>;

/**
 * Returns the `data` of a webhook event: the post, account or the like that it is about, in the
 * form of the REST API. The post may be newer than the event; the status and everything else that
 * the event itself says replaces the post's own, so that `data` always contains what happened.
 *
 * @param object Undefined if the post no longer exists; then `data` contains the ids and what the
 *   event says.
 */
export function renderData(
  event: WebhookEvent,
  object: SourceObject | undefined,
  options: RenderOptions,
): object {
  const { source } = event;
  if (source.kind === "quota") return source.quota;
  if (source.kind === "test") return { webhookId: source.webhookId };
  if (source.kind === "deleted_post") return { id: source.postId };
  return renderObject(source, object, { ...options, type: event.type });
}

/** An event whose payload shows data that has to be read. */
type ObjectSource = Exclude<EventSource, { readonly kind: "quota" | "test" | "deleted_post" }>;

function renderObject(
  source: ObjectSource,
  object: SourceObject | undefined,
  options: RenderOptions & Pick<WebhookEvent, "type">,
): object {
  switch (source.kind) {
    case "target":
      return renderTarget(source, object, options);
    case "post":
      return renderPost(source, options.type, object);
    case "account":
      return renderAccount(source, options.type, object);
    case "media":
      return renderMedia(source, object);
    case "comment_action":
      return renderCommentAction(source, object, options);
    case "automation_run":
      return renderAutomationRun(source, object);
    case "webhook":
      return renderWebhook(source, object);
  }
}

function renderPost({ postId }: SourceOf<"post">, type: string, object: SourceObject | undefined) {
  if (object?.kind !== "post") return { id: postId };
  // The type of the webhook event ends with the status: `published` in `post.published`.
  return { ...toPostSummary(object.value.post), status: type.slice(type.indexOf(".") + 1) };
}

const ACCOUNT_STATUS: Readonly<Record<string, string>> = {
  "account.connected": "active",
  "account.disconnected": "disconnected",
  "account.reconnect_required": "reconnect_required",
};

function renderAccount(
  { accountId: id, platform }: SourceOf<"account">,
  type: string,
  object: SourceObject | undefined,
) {
  const account = object?.kind === "account" ? toAccount(object.value) : { id, platform };
  return { ...account, status: ACCOUNT_STATUS[type] };
}

function renderMedia({ mediaId }: SourceOf<"media">, object: SourceObject | undefined) {
  if (object?.kind !== "media") return { id: mediaId };
  const { workspaceId, media, url } = object.value;
  return toReadyMedia(workspaceId, media, { urlOf: () => url });
}

function renderCommentAction(
  { actionId }: SourceOf<"comment_action">,
  object: SourceObject | undefined,
  { locale }: RenderOptions,
) {
  return object?.kind === "comment_action"
    ? toCommentAction(object.value, locale)
    : { id: actionId };
}

function renderAutomationRun(
  { runId }: SourceOf<"automation_run">,
  object: SourceObject | undefined,
) {
  return object?.kind === "automation_run" ? toAutomationRun(object.value) : { id: runId };
}

function renderWebhook(
  { webhookId, disabledReason }: SourceOf<"webhook">,
  object: SourceObject | undefined,
) {
  if (object?.kind !== "webhook") return { id: webhookId };
  const webhook = toWebhook(create(WebhookSchema, toWebhookMessage(object.value)));
  return { ...webhook, status: "disabled", disabledReason };
}

function renderTarget(
  { targetId, postId, reported }: SourceOf<"target">,
  object: SourceObject | undefined,
  { locale }: RenderOptions,
) {
  const post = object?.kind === "post" ? object.value.post : undefined;
  const target = post?.targets.find(({ id }) => id === targetId);
  const { error, status } = reported;
  const platform = target?.platform;
  const record = {
    work: "publication",
    status: status ?? "failed",
    ...(platform === undefined ? {} : { platform }),
  } as const;
  return {
    ...(target === undefined ? { id: targetId } : target),
    ...reported,
    ...(error === undefined ? {} : { error: toTargetError(error ?? undefined, record, locale) }),
    nextAttemptAt: null,
    postId,
  };
}
