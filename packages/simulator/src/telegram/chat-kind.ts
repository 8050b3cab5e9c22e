import { refuse } from "#src/telegram/errors.ts";
import { idOf, type Parameters } from "#src/telegram/parameters.ts";
import type { Account } from "#src/world/accounts.ts";

const TOPIC_IDS: ReadonlySet<number> = new Set([2, 3]);

/**
 * The errors of topics that every simulated Telegram group with topics once had, by their ids
 * (telegram-bot-api Client.cpp).
 */
const GONE_TOPICS: Readonly<Record<number, string>> = { 4: "TOPIC_CLOSED", 5: "TOPIC_DELETED" };

/**
 * A username `group…` means a group, `forum…` a group with topics, any other a channel. Bots are
 * administrators of channels and plain members of groups.
 */
export function kindOf({ username }: Account): "channel" | "group" | "forum" {
  if (username.startsWith("group")) return "group";

  return username.startsWith("forum") ? "forum" : "channel";
}

/**
 * A username `groupold…` means a group that has become a supergroup. Calls to its old id are
 * refused.
 */
export function supergroupIdOf({ username, externalId }: Account): string | undefined {
  return username.startsWith("groupold") ? externalId.replace(/^-100/, "-1009") : undefined;
}

export function checkIsOpen({ username }: Account): void {
  if (username.startsWith("grouprestricted")) refuse("CHAT_RESTRICTED");
}

export function topicOf(chat: Account, parameters: Parameters): number | undefined {
  const given = parameters.get("message_thread_id");
  if (given === undefined) return undefined;

  const id = idOf(given);
  const isForum = kindOf(chat) === "forum" && id !== undefined;
  const fault = isForum ? GONE_TOPICS[id] : undefined;
  if (fault !== undefined) return refuse(fault);

  return isForum && TOPIC_IDS.has(id) ? id : refuse("message thread not found");
}
