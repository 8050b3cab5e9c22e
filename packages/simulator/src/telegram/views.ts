import type { Bot } from "#src/telegram/bots.ts";
import type { InputMedia } from "#src/telegram/input-media.ts";
import { kindOf } from "#src/telegram/network.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post } from "#src/world/posts.ts";

export function botView(bot: Bot): Record<string, unknown> {
  return { id: bot.id, is_bot: true, first_name: "Simulated bot", username: bot.username };
}

export function chatView(chat: Account): Record<string, unknown> {
  const { externalId, displayName, username } = chat;
  const common = { id: Number(externalId), title: displayName, username };
  const kind = kindOf(chat);
  if (kind === "channel") return { ...common, type: "channel" };
  return { ...common, type: "supergroup", ...(kind === "forum" ? { is_forum: true } : {}) };
}

function senderView(chat: Account, bot: Bot): Record<string, unknown> {
  return kindOf(chat) === "channel" ? { sender_chat: chatView(chat) } : { from: botView(bot) };
}

export interface Sent {
  readonly chat: Account;
  readonly bot: Bot;
  readonly topicId: number | undefined;
}

function placeView({ chat, bot, topicId }: Sent): Record<string, unknown> {
  const topic = topicId === undefined ? {} : { message_thread_id: topicId, is_topic_message: true };
  return { ...senderView(chat, bot), chat: chatView(chat), ...topic };
}

export function messageView(sent: Sent, post: Post, editedAt?: number): Record<string, unknown> {
  return {
    message_id: Number(post.id),
    ...placeView(sent),
    date: Math.floor(post.createdAt / 1000),
    ...(editedAt === undefined ? {} : { edit_date: Math.floor(editedAt / 1000) }),
    text: post.text.trim(),
  };
}

/** The simulator does not serve files by these ids. */
function fileView({ received, width, height }: InputMedia): Record<string, unknown> {
  const { sha256, bytes } = received;
  const id = sha256.slice(0, 16);
  return { file_id: `simulated-${id}`, file_unique_id: id, file_size: bytes, width, height };
}

function contentView(media: InputMedia): Record<string, unknown> {
  const file = fileView(media);
  if (media.kind === "photo") return { photo: [file] };
  const video = { ...file, duration: media.duration, mime_type: media.received.contentType };
  return media.kind === "video" ? { video } : { animation: video, document: file };
}

export function mediaMessageView(
  sent: Sent,
  message: {
    readonly id: number;
    readonly createdAt: number;
    readonly media: InputMedia;
    readonly groupId?: string;
  },
): Record<string, unknown> {
  const { id, createdAt, media, groupId } = message;
  return {
    message_id: id,
    ...placeView(sent),
    date: Math.floor(createdAt / 1000),
    media_group_id: groupId,
    caption: media.caption === "" ? undefined : media.caption.trim(),
    ...contentView(media),
  };
}

export function memberView(bot: Bot): Record<string, unknown> {
  return { user: botView(bot), status: "member" };
}

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
