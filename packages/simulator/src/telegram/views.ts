import type { Bot } from "#src/telegram/bots.ts";
import type { InputMedia } from "#src/telegram/input-media.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post } from "#src/world/posts.ts";

export function botView(bot: Bot): Record<string, unknown> {
  return { id: bot.id, is_bot: true, first_name: "Simulated bot", username: bot.username };
}

export function chatView(chat: Account): Record<string, unknown> {
  const { externalId, displayName, username } = chat;
  return { id: Number(externalId), title: displayName, username, type: "channel" };
}

/** A Telegram message as the methods that send or edit it return it. */
export function messageView(chat: Account, post: Post, editedAt?: number): Record<string, unknown> {
  const channel = chatView(chat);
  return {
    message_id: Number(post.id),
    sender_chat: channel,
    chat: channel,
    date: Math.floor(post.createdAt / 1000),
    ...(editedAt === undefined ? {} : { edit_date: Math.floor(editedAt / 1000) }),
    text: post.text.trim(),
  };
}

/** A file as Telegram messages show it. The simulator does not serve files by the ids in it. */
function fileView({ received, width, height }: InputMedia): Record<string, unknown> {
  const { sha256, bytes } = received;
  const id = sha256.slice(0, 16);
  return { file_id: `simulated-${id}`, file_unique_id: id, file_size: bytes, width, height };
}

function contentView(media: InputMedia): Record<string, unknown> {
  const file = fileView(media);
  if (media.kind === "photo") {
    return { photo: [file] };
  }
  const video = { ...file, duration: media.duration, mime_type: media.received.contentType };
  return media.kind === "video" ? { video } : { animation: video, document: file };
}

/** A Telegram message with a file, as the methods that send it return it. */
export function mediaMessageView(
  chat: Account,
  message: {
    readonly id: number;
    readonly createdAt: number;
    readonly media: InputMedia;
    /** Id of the Telegram album; absent when the message is not part of an album. */
    readonly groupId?: string;
  },
): Record<string, unknown> {
  const { id, createdAt, media, groupId } = message;
  const channel = chatView(chat);
  return {
    message_id: id,
    sender_chat: channel,
    chat: channel,
    date: Math.floor(createdAt / 1000),
    media_group_id: groupId,
    caption: media.caption === "" ? undefined : media.caption.trim(),
    ...contentView(media),
  };
}

/** A Telegram bot in a list of the channel's administrators. */
export function administratorView(bot: Bot): Record<string, unknown> {
  return {
    user: botView(bot),
    status: "administrator",
    can_be_edited: false,
    is_anonymous: false,
    can_manage_chat: true,
    can_delete_messages: true,
    can_manage_video_chats: false,
    can_restrict_members: false,
    can_promote_members: false,
    can_change_info: false,
    can_invite_users: false,
    can_post_messages: true,
    can_edit_messages: true,
    can_post_stories: false,
    can_edit_stories: false,
    can_delete_stories: false,
  };
}
