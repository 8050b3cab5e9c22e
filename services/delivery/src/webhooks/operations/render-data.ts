import { create } from "@bufbuild/protobuf";
import { WebhookSchema } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { toAccount } from "@postrider/rest/accounts/mapping";
import type { Locale } from "@postrider/rest/locale";
import type { MediaLinks } from "@postrider/rest/media/links";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import { toPostSummary, toTarget } from "@postrider/rest/posts/mapping";
import { targetMessageFor } from "@postrider/rest/posts/target-messages";
import { toWebhook } from "@postrider/rest/webhooks/mapping";
import type { EventSource, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import type { SourceObject } from "#src/webhooks/operations/read-objects.ts";
import { toWebhook as toWebhookMessage } from "#src/webhooks/operations/to-webhook.ts";

interface RenderOptions {
  readonly links: Pick<MediaLinks, "urlOf">;
  readonly locale: Locale;
}

type TargetSource = Extract<EventSource, { readonly kind: "target" }>;

/**
 * Returns the `data` of an event: the object in the form of the REST API. The object may be newer than the event; the status and
 * everything else that the event itself says replaces the object's own, so that `data` always contains what happened.
 *
 * @param object Undefined if the object no longer exists; then `data` contains the ids and what the event says.
 */
export function renderData(
  event: WebhookEvent,
  object: SourceObject | undefined,
  options: RenderOptions,
): object {
  const { source } = event;
  switch (source.kind) {
    case "quota":
      return source.quota;
    case "test":
      return { webhookId: source.webhookId };
    case "deleted_post":
      return { id: source.postId };
    case "target":
      return renderTarget(source, object?.kind === "post" ? object.post : undefined, options);
    case "post":
      if (object?.kind !== "post") return { id: source.postId };
      return { ...toPostSummary(object.post), status: statusIn(event.type) };
    case "account":
      return {
        ...(object?.kind === "account"
          ? toAccount(object.account)
          : { id: source.accountId, platform: source.platform }),
        status: ACCOUNT_STATUS[event.type],
      };
    case "media":
      if (object?.kind !== "media") return { id: source.mediaId };
      return toReadyMedia(event.workspaceId, object.media, options.links);
    case "webhook":
      if (object?.kind !== "webhook") return { id: source.webhookId };
      return {
        ...toWebhook(create(WebhookSchema, toWebhookMessage(object.webhook))),
        status: "disabled",
        disabledReason: source.disabledReason,
      };
  }
}

/** Returns what is sent when the payload of an event cannot be written: only ids, and what the event itself says. */
export function renderWithoutObject(event: WebhookEvent, options: RenderOptions): object {
  return renderData(event, undefined, options);
}

/** Returns the status that the type of an event names: `published` of `post.published`. */
function statusIn(type: string): string {
  return type.slice(type.indexOf(".") + 1);
}

const ACCOUNT_STATUS: Readonly<Record<string, string>> = {
  "account.connected": "active",
  "account.disconnected": "disconnected",
  "account.reconnect_required": "reconnect_required",
};

function renderTarget(source: TargetSource, post: Post | undefined, { locale }: RenderOptions) {
  const { targetId, postId, reported } = source;
  const target = post?.targets.find(({ id }) => id === targetId);
  return {
    ...(target === undefined ? { id: targetId } : toTarget(target, locale)),
    ...reported,
    ...(reported.error === undefined ? {} : { error: withMessage(reported.error, locale) }),
    nextAttemptAt: null,
    postId,
  };
}

type TargetError = NonNullable<TargetSource["reported"]["error"]>;

/** Adds our message for the code to an error of which the platform said nothing. */
function withMessage(error: TargetError | null, locale: Locale): TargetError | null {
  if (error === null || error.message !== "") return error;
  return { ...error, message: targetMessageFor(locale, error.code) };
}
