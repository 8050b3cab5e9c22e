import { callPlatform } from "#src/http/call-platform.ts";
import {
  describeStatus,
  type JsonObject,
  list,
  object,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import {
  type DeletionOutcome,
  type Outcome,
  refused,
  toUnanswered,
} from "#src/publishing/outcome.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import { parseChatAddress } from "#src/telegram/chat-address.ts";
import { migratedChatId, toFailure, toSendFailure } from "./failures.ts";
import { toMessageRequest } from "./message-request.ts";

/**
 * The ids of all messages of an album, separated by commas: every id is needed to delete it, and
 * they need not be consecutive.
 */
function toExternalId(messageIds: readonly number[]): string {
  return messageIds.join(",");
}

function toMessageIds(externalId: string): readonly number[] {
  return externalId.split(",").map(Number);
}

const GONE = /message to delete not found/i;
const NOT_DELETABLE = /message can't be deleted/i;

function toDeletionOutcome(answer: PlatformAnswer): DeletionOutcome {
  if (answer.json?.ok === true && answer.json.result === true) return { kind: "deleted" };
  if (answer.json?.ok !== false || answer.status >= 500)
    return { kind: "unknown", message: describeStatus(answer) };
  const message = shorten(text(answer.json, "description"));
  if (GONE.test(message)) return { kind: "deleted" };
  if (NOT_DELETABLE.test(message)) return refused("permission_missing", message);
  return toFailure(answer);
}

/** Other permalinks name the username of the chat, which can change. */
const CHAT_ID = /^https:\/\/t\.me\/c\/(-?\d+)\//;

function toChatId(permalink: string | null): string | undefined {
  const [, id] = CHAT_ID.exec(permalink ?? "") ?? [];
  return id === undefined || id.startsWith("-") ? id : `-100${id}`;
}

/** Supergroups and channels have these ids, and become nothing else (Bot API, `Chat`). */
const FIRST_SUPERGROUP_ID = -1_000_000_000_000;

function isBasicGroup(chatId: string): boolean {
  return Number(chatId) > FIRST_SUPERGROUP_ID;
}

/** The refusal of a deletion of a message in another chat than the account's. */
const OTHER_CHAT = refused(
  "permission_missing",
  "the message is not in the account's chat, for example because it was sent before the group became a supergroup: delete it in Telegram",
);

type DeleteIn = (chatId: string) => ReturnType<typeof callPlatform>;

/** `deleteMessages` skips messages that no longer exist. */
function createDeletion(
  baseUrl: string,
  { accessToken }: AccountAccess,
  externalId: string,
  signal: AbortSignal,
): DeleteIn {
  const ids = toMessageIds(externalId);
  const isAlbum = ids.length > 1;
  const url = `${baseUrl}/bot${accessToken}/${isAlbum ? "deleteMessages" : "deleteMessage"}`;
  const which = isAlbum ? { message_ids: ids } : { message_id: ids[0] };
  return (chatId) => {
    const body = jsonBody({ chat_id: chatId, ...which });
    return callPlatform({ method: "POST", url, body, secrets: [accessToken] }, signal);
  };
}

/**
 * Only the account's own chat is called, or the supergroup that it has become: a permalink comes
 * also from exports, which may name any chat of the bot. A supergroup counts message ids anew, so
 * the messages must be in the called chat.
 */
async function deletePost(
  deleteIn: DeleteIn,
  account: AccountAccess,
  permalink: string | null,
): Promise<DeletionOutcome> {
  const own = parseChatAddress(account.externalId).chatId;
  const sentTo = toChatId(permalink);
  if (sentTo !== undefined && sentTo !== own && !isBasicGroup(own)) return OTHER_CHAT;
  const first = await deleteIn(own);
  const chatId = first.kind === "answer" ? migratedChatId(first) : undefined;
  // Only supergroups have usernames: a post whose permalink has one was sent in the supergroup.
  const isInSupergroup = sentTo === undefined ? permalink !== null : sentTo === chatId;
  if (chatId !== undefined && !isInSupergroup) return OTHER_CHAT;
  const answer = chatId === undefined ? first : await deleteIn(chatId);
  return answer.kind === "answer"
    ? toDeletionOutcome(answer)
    : { kind: "unknown", message: answer.message };
}

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

/**
 * In place of the id of a message that Telegram sends by itself later, for example a video to a
 * large chat (Bot API, `Message`). A bot never learns the id.
 */
const SENT_LATER = 0;

function toOutcome(answer: PlatformAnswer, accountId: string): Outcome {
  if (answer.json?.ok === false && answer.status < 500) return toSendFailure(answer);
  const messages = toMessages(answer);
  const ids = messages.map(({ message_id: id }) => id).filter((id) => typeof id === "number");
  const [message] = messages;
  const [first] = ids;
  const isWhole = answer.json?.ok === true && ids.length === messages.length;
  if (!isWhole || message === undefined || first === undefined)
    return { kind: "unknown", message: describeStatus(answer) };
  if (ids.includes(SENT_LATER)) return { kind: "published", externalId: null, permalink: null };
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
      deletePost(createDeletion(baseUrl, account, externalId, signal), account, permalink),
  };
}
