import { forbid, refuse } from "#src/telegram/errors.ts";
import { requireChat } from "#src/telegram/network.ts";
import type { BotCall, TelegramNetwork } from "#src/telegram/network.ts";
import { idOf } from "#src/telegram/parameters.ts";
import { administratorView, botView, chatView } from "#src/telegram/views.ts";

export function getMe(_network: TelegramNetwork, { bot }: BotCall): unknown {
  return {
    ...botView(bot),
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  };
}

/** Returns a Telegram channel. Any bot can look up a public channel. */
export function getChat(network: TelegramNetwork, { parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  return { ...chatView(chat), active_usernames: [chat.username], accent_color_id: 0 };
}

export function getChatMember(network: TelegramNetwork, { bot, parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined) {
    forbid("bot is not a member of the channel chat");
  }
  const userId = idOf(parameters.get("user_id")) ?? refuse("invalid user_id specified");
  const member = network.bots.administrators(chat.externalId).find((one) => one.id === userId);
  return member === undefined ? refuse("user not found") : administratorView(member);
}

export function getChatAdministrators(
  network: TelegramNetwork,
  { bot, parameters }: BotCall,
): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined) {
    forbid("bot is not a member of the channel chat");
  }
  return network.bots.administrators(chat.externalId).map(administratorView);
}

export function leaveChat(network: TelegramNetwork, { bot, parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined) {
    forbid("bot is not a member of the channel chat");
  }
  network.bots.leave(bot, chat.externalId);
  return true;
}

/**
 * Returns the updates for a Telegram bot. Telegram sends a bot no updates about its own messages,
 * so the list is always empty.
 */
export function getUpdates(): unknown {
  return [];
}
