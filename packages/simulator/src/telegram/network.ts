import type { Moment } from "#src/http/call.ts";
import type { Table } from "#src/store/table.ts";
import { Albums } from "#src/telegram/albums.ts";
import { type Bot, Bots } from "#src/telegram/bots.ts";
import { checkIsOpen, supergroupIdOf } from "#src/telegram/chat-kind.ts";
import { forbid, refuse, refuseMigrated } from "#src/telegram/errors.ts";
import { type Parameters, textOf } from "#src/telegram/parameters.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export interface TelegramNetwork {
  readonly world: World;
  readonly bots: Bots;
  readonly albums: Albums;
  /** A reset keeps these ids, so that no message id is used twice. */
  readonly latestMessageIds: Table<number>;
}

export interface BotCall extends Moment {
  readonly bot: Bot;
  readonly parameters: Parameters;
}

export function createNetwork(world: World): TelegramNetwork {
  return {
    world,
    bots: new Bots(world.store, world.secrets),
    albums: new Albums(world.store),
    latestMessageIds: world.store.table<number>("telegram.message_ids", { keptOnReset: true }),
  };
}

/** By its id or as `@username`. Does not check the bot's rights. */
export function findChat({ world }: TelegramNetwork, parameters: Parameters): Account | undefined {
  const chatId = textOf(parameters, "chat_id");
  if (chatId.startsWith("@")) return world.accounts.byUsername("telegram", chatId.slice(1));

  const group = world.accounts.byId("telegram", chatId.replace(/^-1009/, "-100"));
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
