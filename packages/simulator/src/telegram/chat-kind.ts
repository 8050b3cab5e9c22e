import { refuse } from "#src/telegram/errors.ts";
import { idOf, type Parameters } from "#src/telegram/parameters.ts";
import type { Account } from "#src/world/accounts.ts";

/** Ids of the topics that every simulated Telegram group with topics has. */
const TOPIC_IDS: ReadonlySet<number> = new Set([2, 3]);

/** The errors of topics that every simulated Telegram group with topics once had, by their ids (telegram-bot-api Client.cpp). */
const GONE_TOPICS: Readonly<Record<number, string>> = { 4: "TOPIC_CLOSED", 5: "TOPIC_DELETED" };

/**
 * The kind of a simulated Telegram chat. A username that begins with `group` means a group, one that begins with `forum` a
 * group with topics, any other a channel. Bots are administrators of channels and plain members of groups.
 */
export function kindOf({ username }: Account): "channel" | "group" | "forum" {
  if (username.startsWith("group")) return "group";

  return username.startsWith("forum") ? "forum" : "channel";
}

/**
 * The id of the supergroup that a simulated group has become; undefined for other chats. A username that begins with
 * `groupold` means such a group. Calls to its old id are refused.
 */
export function supergroupIdOf({ username, externalId }: Account): string | undefined {
  return username.startsWith("groupold") ? externalId.replace(/^-100/, "-1009") : undefined;
}

/** Refuses to send to a simulated chat whose username begins with `grouprestricted`, as Telegram does to restricted chats. */
export function checkIsOpen({ username }: Account): void {
  if (username.startsWith("grouprestricted")) refuse("CHAT_RESTRICTED");
}

/** The topic that a sending call names; undefined when it names none. Refuses a topic that the chat does not have. */
export function topicOf(chat: Account, parameters: Parameters): number | undefined {
  const given = parameters.get("message_thread_id");
  if (given === undefined) return undefined;

  const id = idOf(given);
  const isForum = kindOf(chat) === "forum" && id !== undefined;
  const fault = isForum ? GONE_TOPICS[id] : undefined;
  if (fault !== undefined) return refuse(fault);

  return isForum && TOPIC_IDS.has(id) ? id : refuse("message thread not found");
}
