import type { Moment } from "#src/http/call.ts";
import { Albums } from "#src/telegram/albums.ts";
import { type Bot, Bots } from "#src/telegram/bots.ts";
import { forbid, refuse, refuseMigrated } from "#src/telegram/errors.ts";
import { idOf, type Parameters, textOf } from "#src/telegram/parameters.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

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
function supergroupIdOf({ username, externalId }: Account): string | undefined {
  return username.startsWith("groupold") ? externalId.replace("-", "-1009") : undefined;
}

function checkIsOpen({ username }: Account): void {
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

export type TelegramNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  const { store } = world;
  return {
    world,
    bots: new Bots(store, world.secrets),
    albums: new Albums(store),
    /** A reset keeps these ids, so that no message id is used twice. */
    latestMessageIds: store.table<number>("telegram.message_ids", { keptOnReset: true }),
  };
}

export interface BotCall extends Moment {
  readonly bot: Bot;
  readonly parameters: Parameters;
}

/** By its id or as `@username`. Does not check the bot's rights. */
export function findChat({ world }: TelegramNetwork, parameters: Parameters): Account | undefined {
  const chatId = textOf(parameters, "chat_id");
  if (chatId.startsWith("@")) return world.accounts.byUsername("telegram", chatId.slice(1));
  const group = world.accounts.byId("telegram", chatId.replace(/^-1009/, "-"));
  return group !== undefined && supergroupIdOf(group) === chatId
    ? group
    : world.accounts.byId("telegram", chatId);
}

export function requireChat(network: TelegramNetwork, parameters: Parameters): Account {
  if (textOf(parameters, "chat_id") === "") refuse("chat_id is empty");
  const chat = findChat(network, parameters) ?? refuse("chat not found");
  const supergroup = supergroupIdOf(chat);
  return supergroup === undefined || textOf(parameters, "chat_id") !== chat.externalId
    ? chat
    : refuseMigrated(supergroup);
}

export function requireRight(
  network: TelegramNetwork,
  { bot, parameters }: BotCall,
  right: "canPostMessages" | "canDeleteMessages",
): Account {
  const chat = requireChat(network, parameters);
  const membership =
    network.bots.membership(bot, chat.externalId) ??
    forbid("bot is not a member of the channel chat");
  if (right === "canPostMessages") checkIsOpen(chat);
  return membership[right] ? chat : refuse("need administrator rights in the channel chat");
}
