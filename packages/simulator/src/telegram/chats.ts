import { kindOf } from "#src/telegram/chat-kind.ts";
import { forbid, refuse } from "#src/telegram/errors.ts";
import { type BotCall, requireChat, type TelegramNetwork } from "#src/telegram/network.ts";
import { idOf } from "#src/telegram/parameters.ts";
import { administratorView, botView, chatView, memberView } from "#src/telegram/views.ts";

export function getMe(_network: TelegramNetwork, { bot }: BotCall): unknown {
  return {
    ...botView(bot),
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  };
}

const GROUP_PERMISSIONS = {
  can_send_messages: true,
  can_send_photos: true,
  can_send_videos: true,
  can_send_other_messages: true,
};

/** Any bot can look up a public chat. */
export function getChat(network: TelegramNetwork, { parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  const view = { ...chatView(chat), active_usernames: [chat.username], accent_color_id: 0 };
  return kindOf(chat) === "channel" ? view : { ...view, permissions: GROUP_PERMISSIONS };
}

export function getChatMember(network: TelegramNetwork, { bot, parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined)
    forbid("bot is not a member of the channel chat");

  const userId = idOf(parameters.get("user_id")) ?? refuse("invalid user_id specified");
  const member = network.bots.administrators(chat.externalId).find((one) => one.id === userId);
  if (member === undefined) return refuse("user not found");

  return kindOf(chat) === "channel" ? administratorView(member) : memberView(member);
}

export function getChatAdministrators(
  network: TelegramNetwork,
  { bot, parameters }: BotCall,
): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined)
    forbid("bot is not a member of the channel chat");

  return network.bots.administrators(chat.externalId).map(administratorView);
}

export function leaveChat(network: TelegramNetwork, { bot, parameters }: BotCall): unknown {
  const chat = requireChat(network, parameters);
  if (network.bots.membership(bot, chat.externalId) === undefined)
    forbid("bot is not a member of the channel chat");

  network.bots.leave(bot, chat.externalId);
  return true;
}

/** Telegram sends a bot no updates about its own messages. */
export function getUpdates(): unknown {
  return [];
}
