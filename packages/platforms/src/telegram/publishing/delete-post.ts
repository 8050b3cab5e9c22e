import { callPlatform } from "#src/http/call-platform.ts";
import { describeStatus, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { parseChatAddress } from "#src/telegram/chat-address.ts";
import { migratedChatId, toFailure } from "./failures.ts";
import { toMessageIds } from "./message-ids.ts";

const GONE = /message to delete not found/i;
const NOT_DELETABLE = /message can't be deleted/i;

function toDeletionOutcome(answer: PlatformAnswer): DeletionOutcome {
  if (answer.json?.ok === true && answer.json.result === true) return { kind: "deleted" };
  if (answer.json?.ok !== false || answer.status >= 500)
    return { kind: "unknown", message: describeStatus(answer) };
  const message = shorten(text(answer.json, "description"));
  if (GONE.test(message)) return { kind: "deleted" };
  if (NOT_DELETABLE.test(message)) return { kind: "refused", code: "permission_missing", message };
  return toFailure(answer);
}

/** Other permalinks name the username of the chat, which can change. */
const CHAT_ID = /^https:\/\/t\.me\/c\/(-?\d+)\//;

function toChatId(permalink: string | null): string | undefined {
  const [, id] = CHAT_ID.exec(permalink ?? "") ?? [];
  return id === undefined || id.startsWith("-") ? id : `-100${id}`;
}

/**
 * The refusal of a deletion in a group that has become a supergroup, where the same ids name other
 * messages.
 */
const SENT_BEFORE: DeletionOutcome = {
  kind: "refused",
  code: "permission_missing",
  message: "the message was sent before the group became a supergroup: delete it in Telegram",
};

/**
 * `deleteMessages` skips messages that no longer exist. A supergroup counts message ids anew: the
 * messages are deleted in the chat of the permalink, never in the supergroup that this chat has
 * become.
 */
export async function deletePost(
  baseUrl: string,
  account: AccountAccess,
  { externalId, permalink }: { readonly externalId: string; readonly permalink: string | null },
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const ids = toMessageIds(externalId);
  const isAlbum = ids.length > 1;
  const url = `${baseUrl}/bot${account.accessToken}/${isAlbum ? "deleteMessages" : "deleteMessage"}`;
  const which = isAlbum ? { message_ids: ids } : { message_id: ids[0] };
  const send = (chatId: string) => {
    const body = jsonBody({ chat_id: chatId, ...which });
    return callPlatform({ method: "POST", url, body, secrets: [account.accessToken] }, signal);
  };
  const sentTo = toChatId(permalink);
  const first = await send(sentTo ?? parseChatAddress(account.externalId).chatId);
  const chatId = first.kind === "answer" ? migratedChatId(first) : undefined;
  // Only supergroups have usernames: a post whose permalink has one was sent in the supergroup.
  if (chatId !== undefined && (permalink === null || sentTo !== undefined)) return SENT_BEFORE;
  const answer = chatId === undefined ? first : await send(chatId);
  return answer.kind === "answer"
    ? toDeletionOutcome(answer)
    : { kind: "unknown", message: answer.message };
}
