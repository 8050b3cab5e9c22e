import { Refused } from "#src/http/call.ts";
import { albumId } from "#src/telegram/albums.ts";
import { reasonOf, refuse, tooManyRequests } from "#src/telegram/errors.ts";
import {
  groupMedia,
  type InputKind,
  type InputMedia,
  singleMedia,
} from "#src/telegram/input-media.ts";
import {
  type BotCall,
  requireRight,
  type TelegramNetwork,
  topicOf,
} from "#src/telegram/network.ts";
import { idOf, idsOf, messageText, postOptions } from "#src/telegram/parameters.ts";
import { mediaMessageView, messageView } from "#src/telegram/views.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post } from "#src/world/posts.ts";
import { toPosted } from "#src/world/received-media.ts";

const MAX_MESSAGES_PER_MINUTE = 20;
const MINUTE_MS = 60_000;
const CREATION_NOTICE_ID = 1;
const MAX_DELETED_AT_ONCE = 100;

function spend({ world }: TelegramNetwork, chat: Account, items: number, now: number): void {
  const key = `telegram:messages:${chat.externalId}`;
  const rule = { key, limit: MAX_MESSAGES_PER_MINUTE, windowMs: MINUTE_MS, cost: items };
  const { allowed, standings } = world.limits.spend([rule], now);
  if (!allowed) {
    const waitMs = (standings[0]?.resetAt ?? now) - now;
    throw new Refused(tooManyRequests(Math.max(1, Math.ceil(waitMs / 1000))));
  }
}

function nextMessageId({ latestMessageIds }: TelegramNetwork, chat: Account): number {
  const id = (latestMessageIds.get(chat.externalId) ?? CREATION_NOTICE_ID) + 1;
  latestMessageIds.put(chat.externalId, id);
  return id;
}

export function sendMessage(network: TelegramNetwork, call: BotCall): unknown {
  const { parameters, now, bot } = call;
  const chat = requireRight(network, call, "canPostMessages");
  const topicId = topicOf(chat, parameters);
  const text = messageText(parameters);
  const options = postOptions(parameters);
  spend(network, chat, 1, now);
  const post = network.world.posts.add({
    platform: "telegram",
    account: chat.externalId,
    id: String(nextMessageId(network, chat)),
    text,
    media: [],
    createdAt: now,
    options,
  });
  return messageView({ chat, bot, topicId }, post);
}

function findUndeleted(
  network: TelegramNetwork,
  chat: Account,
  id: number | undefined,
): Post | undefined {
  const post = id === undefined ? undefined : network.world.posts.get(chat, String(id));
  return post?.deletedAt === null ? post : undefined;
}

function remove(network: TelegramNetwork, chat: Account, id: number, now: number): boolean {
  const { posts } = network.world;
  const post = findUndeleted(network, chat, id);
  if (post !== undefined) {
    posts.change(post, { deletedAt: now });
    return true;
  }
  const rest = network.albums.has(chat, id) ? network.albums.delete(chat, id) : undefined;
  const album = rest === undefined ? undefined : posts.get(chat, rest.id);
  if (rest === undefined || album === undefined) return false;
  const { text, media } = rest;
  posts.change(album, media.length === 0 ? { deletedAt: now } : { text, media });
  return true;
}

export function deleteMessage(network: TelegramNetwork, call: BotCall): unknown {
  const chat = requireRight(network, call, "canDeleteMessages");
  const id =
    idOf(call.parameters.get("message_id")) ?? refuse("message identifier is not specified");
  return remove(network, chat, id, call.now) || refuse("message to delete not found");
}

/** Ignores unknown ids, as the Bot API does. */
export function deleteMessages(network: TelegramNetwork, call: BotCall): unknown {
  const chat = requireRight(network, call, "canDeleteMessages");
  const ids = idsOf(call.parameters, "message_ids");
  if (ids.length === 0) refuse("message identifiers are not specified");
  if (ids.length > MAX_DELETED_AT_ONCE) refuse("too many message identifiers specified");
  for (const id of ids) remove(network, chat, id, call.now);
  return true;
}

function addPost(
  { world }: TelegramNetwork,
  { chat, id, media }: { chat: Account; id: string; media: readonly InputMedia[] },
  { parameters, now }: BotCall,
): void {
  world.posts.add({
    platform: "telegram",
    account: chat.externalId,
    id,
    text: captionOf(media),
    media: media.map(({ received }) => toPosted(received)),
    createdAt: now,
    options: postOptions(parameters),
  });
}

function captionOf(media: readonly InputMedia[]): string {
  return media.map(({ caption }) => caption).find((caption) => caption !== "") ?? "";
}

export function sendOne(network: TelegramNetwork, call: BotCall, kind: InputKind): unknown {
  const { parameters, now, bot } = call;
  const chat = requireRight(network, call, "canPostMessages");
  const topicId = topicOf(chat, parameters);
  const media = singleMedia(parameters, kind);
  spend(network, chat, 1, now);
  const id = nextMessageId(network, chat);
  addPost(network, { chat, id: String(id), media: [media] }, call);
  return mediaMessageView({ chat, bot, topicId }, { id, createdAt: now, media });
}

/**
 * An album counts against the rate limit once per message. A file that cannot be processed keeps
 * none of the others from being sent, and the answer is only its error.
 */
export function sendMediaGroup(network: TelegramNetwork, call: BotCall): unknown {
  const { parameters, now, bot } = call;
  const chat = requireRight(network, call, "canPostMessages");
  const topicId = topicOf(chat, parameters);
  const files = groupMedia(parameters);
  spend(network, chat, files.length, now);
  const media = files.filter((file): file is InputMedia => !(file instanceof Refused));
  const ids = media.map(() => nextMessageId(network, chat));
  const [first = 0] = ids;
  if (media.length > 0) {
    const parts = media.map(({ caption: text, received }) => ({ text, media: toPosted(received) }));
    network.albums.add(chat, parts, first);
    addPost(network, { chat, id: albumId(ids), media }, call);
  }
  refuseOne(files);
  const groupId = `${chat.externalId.slice(-10)}${first}`;
  return media.map((one, index) =>
    mediaMessageView(
      { chat, bot, topicId },
      { id: first + index, createdAt: now, media: one, groupId },
    ),
  );
}

function refuseOne(files: readonly (InputMedia | Refused)[]): void {
  const place = files.findIndex((file) => file instanceof Refused);
  const fault = files[place];
  if (fault instanceof Refused)
    refuse(`failed to send message #${place + 1} with the error message "${reasonOf(fault)}"`);
}
