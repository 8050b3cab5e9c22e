import { albumId } from "#src/telegram/albums.ts";
import { topicOf } from "#src/telegram/chat-kind.ts";
import {
  groupMedia,
  type InputKind,
  type InputMedia,
  singleMedia,
} from "#src/telegram/input-media.ts";
import { nextMessageId, spend } from "#src/telegram/messages.ts";
import { type BotCall, requireRight, type TelegramNetwork } from "#src/telegram/network.ts";
import { postOptions } from "#src/telegram/post-options.ts";
import { mediaMessageView } from "#src/telegram/views.ts";
import type { Account } from "#src/world/accounts.ts";
import { toPosted } from "#src/world/received-media.ts";

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
    deletedAt: null,
    createCalls: 1,
    ...postOptions(parameters),
  });
}

function captionOf(media: readonly InputMedia[]): string {
  return media.map(({ caption }) => caption).find((caption) => caption !== "") ?? "";
}

function sendOne(network: TelegramNetwork, call: BotCall, kind: InputKind): unknown {
  const { parameters, now, bot } = call;
  const chat = requireRight(network, call, "canPostMessages");
  const topicId = topicOf(chat, parameters);
  const media = singleMedia(parameters, kind);
  spend(network, chat, 1, now);
  const id = nextMessageId(network, chat);
  addPost(network, { chat, id: String(id), media: [media] }, call);
  return mediaMessageView({ chat, bot, topicId }, { id, createdAt: now, media });
}

export function sendPhoto(network: TelegramNetwork, call: BotCall): unknown {
  return sendOne(network, call, "photo");
}

export function sendVideo(network: TelegramNetwork, call: BotCall): unknown {
  return sendOne(network, call, "video");
}

export function sendAnimation(network: TelegramNetwork, call: BotCall): unknown {
  return sendOne(network, call, "animation");
}

/** As a whole or not at all. An album counts against the rate limit once per message. */
export function sendMediaGroup(network: TelegramNetwork, call: BotCall): unknown {
  const { parameters, now, bot } = call;
  const chat = requireRight(network, call, "canPostMessages");
  const topicId = topicOf(chat, parameters);
  const media = groupMedia(parameters);
  spend(network, chat, media.length, now);
  const ids = media.map(() => nextMessageId(network, chat));
  const [first = 0] = ids;
  const parts = media.map(({ caption: text, received }) => ({ text, media: toPosted(received) }));
  network.albums.add(chat, parts, first);
  addPost(network, { chat, id: albumId(ids), media }, call);
  const groupId = `${chat.externalId.slice(-10)}${first}`;
  return media.map((one, index) =>
    mediaMessageView(
      { chat, bot, topicId },
      { id: first + index, createdAt: now, media: one, groupId },
    ),
  );
}
