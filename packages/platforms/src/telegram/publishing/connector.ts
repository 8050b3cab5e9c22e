import {
  describeStatus,
  type JsonObject,
  list,
  object,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { parseChatAddress } from "#src/telegram/chat-address.ts";
import { deletePost } from "./delete-post.ts";
import { toFailure } from "./failures.ts";
import { toExternalId } from "./message-ids.ts";
import { toMessageRequest } from "./message-request.ts";

export interface TelegramSettings {
  readonly baseUrl: string;
}

function toPermalink(message: JsonObject, externalId: string, messageId: number): string {
  const { chatId, topicId } = parseChatAddress(externalId);
  const username = text(object(message, "chat"), "username");
  const chat = username ?? `c/${chatId.replace(/^-100/, "")}`;
  const topic = topicId === undefined ? "" : `/${topicId}`;
  return `https://t.me/${chat}${topic}/${messageId}`;
}

function toMessages(answer: PlatformAnswer): readonly JsonObject[] {
  const message = object(answer.json, "result");
  if (message !== undefined) return [message];
  return list(answer.json, "result").flatMap<JsonObject>((one) => object({ one }, "one") ?? []);
}

function toOutcome(answer: PlatformAnswer, accountId: string): Outcome {
  if (answer.json?.ok === false && answer.status < 500) return toFailure(answer);
  const messages = toMessages(answer);
  const ids = messages.map(({ message_id: id }) => id).filter((id) => typeof id === "number");
  const [message] = messages;
  const [first] = ids;
  const isWhole = answer.json?.ok === true && ids.length === messages.length;
  if (!isWhole || message === undefined || first === undefined)
    return { kind: "unknown", message: describeStatus(answer) };
  return {
    kind: "published",
    externalId: toExternalId(ids),
    permalink: toPermalink(message, accountId, first),
  };
}

async function publish(
  baseUrl: string,
  given: Publication,
  { chatId = given.externalId }: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const publication = { ...given, externalId: chatId };
  const { accessToken, externalId } = publication;
  const { method, body } = toMessageRequest(publication);
  const url = `${baseUrl}/bot${accessToken}/${method}`;
  const sent = await sendOnce({ method: "POST", url, body, secrets: [accessToken] }, guard);
  return sent.kind === "answer" ? toOutcome(sent, externalId) : toUnanswered(sent);
}

/**
 * Telegram's publishing connector. The Bot API has no idempotency key, no list and no search, and a
 * bot does not receive its own messages. So a message is sent at most once per command, with all
 * its media in one call, and an unknown outcome stays unknown until a person decides.
 */
export function createTelegramPublishingConnector({
  baseUrl,
}: TelegramSettings): PublishingConnector {
  return {
    platform: "telegram",
    maxResends: 0,
    steps: () => [],
    visibleParts: ({ media }) => media.map((one) => ({ media: one, start: 0, length: one.bytes })),
    publish: (publication, handles, guard) => publish(baseUrl, publication, handles, guard),
    reconcile: () =>
      Promise.resolve({ kind: "cannot_tell", message: "a bot cannot read Telegram chats" }),
    canDelete: true,
    delete: (account, externalId, signal, permalink = null) =>
      deletePost(baseUrl, account, { externalId, permalink }, signal),
  };
}
