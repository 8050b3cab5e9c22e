import { describe, expect, test } from "vitest";
import type { Publication } from "#src/publishing/publication.ts";
import { createTelegramAuthorizationConnector } from "#src/telegram/authorization.ts";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { PUBLISHED, refused } from "../results.ts";
import { pngMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("telegram");
const authorization = createTelegramAuthorizationConnector({ baseUrl: platform.url });
const telegram = createTelegramPublishingConnector({ baseUrl: platform.url });

let groups = 0;
/**
 * Creates a Telegram chat with a bot in it. The prefix of the username decides whether the chat is
 * a channel, a group or a group with topics.
 */
async function createChat(kind: "group" | "groupold" | "grouprestricted" | "forum" | "channel") {
  const { username, credentials } = await platform.createAccount({
    username: `${kind}_${++groups}`,
  });
  return { username, botToken: credentials.botToken ?? "", chatId: credentials.chatId ?? "" };
}

async function connect(chat: { readonly botToken: string; readonly chatId: string }) {
  const { botToken, chatId } = chat;
  return await authorization.connect({ botToken, chatId }, signal);
}

async function publicationOf(externalId: string, botToken: string): Promise<Publication> {
  const made = await platform.createPublication([], "Ahoy", () => botToken);
  return { ...made, externalId };
}

describe("Telegram groups", () => {
  test("a Telegram group in which the bot is a plain member is connected, because only channels have the right `can_post_messages`", async () => {
    const chat = await createChat("group");
    expect(await connect(chat)).toMatchObject({
      kind: "connected",
      connection: { externalId: chat.chatId, username: chat.username },
    });
  });

  test("a topic of a Telegram group is connected as a separate account", async () => {
    const chat = await createChat("forum");
    expect(await connect({ ...chat, chatId: `@${chat.username}/3` })).toMatchObject({
      kind: "connected",
      connection: { externalId: `${chat.chatId}/3` },
    });
  });

  test("connecting a topic of a Telegram chat without topics is refused with a remedy", async () => {
    const chat = await createChat("group");
    expect(await connect({ ...chat, chatId: `${chat.chatId}/3` })).toEqual({
      kind: "refused",
      message: "the group has no topics: leave out the number after the /",
    });
  });

  test("a message, a photo and an album are sent to a Telegram topic, and their permalinks lead to the topic", async () => {
    const chat = await createChat("forum");
    const publication = await publicationOf(`${chat.chatId}/2`, chat.botToken);
    const photos = [pngMedia(1), pngMedia(2)];
    for (const media of [[], photos.slice(0, 1), photos]) {
      const outcome = await telegram.publish({ ...publication, media }, {}, guard);
      expect(outcome).toMatchObject(PUBLISHED);
      const permalink = outcome.kind === "published" ? outcome.permalink : "";
      expect(permalink).toMatch(new RegExp(`^https://t\\.me/${chat.username}/2/\\d+$`));
    }
    expect(await platform.visible()).toHaveLength(3);
  });

  test("a post in a Telegram topic is deleted", async () => {
    const chat = await createChat("forum");
    const publication = await publicationOf(`${chat.chatId}/2`, chat.botToken);
    const outcome = await telegram.publish(publication, {}, guard);
    const id = outcome.kind === "published" ? (outcome.externalId ?? "") : "";
    expect(await telegram.delete(publication, id, signal)).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
  });

  test("a post to a Telegram group that has become a supergroup is sent to the supergroup, and is deleted there", async () => {
    const chat = await createChat("groupold");
    const publication = await publicationOf(chat.chatId, chat.botToken);
    const first = await telegram.publish(publication, {}, guard);
    expect(first).toMatchObject({ kind: "retryable", retryAfterMs: 0 });
    expect(await platform.visible()).toEqual([]);
    const handles = first.kind === "retryable" ? (first.handles ?? {}) : {};
    expect(handles["chatId"]).not.toBe(chat.chatId);
    const outcome = await telegram.publish(publication, handles, guard);
    expect(outcome).toMatchObject(PUBLISHED);
    expect(await platform.visible()).toHaveLength(1);
    const { externalId: id = "", permalink = null } = outcome.kind === "published" ? outcome : {};
    const earlier = `https://t.me/c/${chat.chatId}/${id}`;
    for (const sentBefore of [earlier, `https://t.me/c/1234567890/${id}`, null])
      expect(await telegram.delete(publication, id ?? "", signal, sentBefore)).toMatchObject(
        refused("permission_missing"),
      );
    expect(await platform.visible()).toHaveLength(1);
    const deleted = await telegram.delete(publication, id ?? "", signal, permalink);
    expect(deleted).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
  });

  test("a message is deleted only in the account's own Telegram chat, whatever chat of the bot its permalink names", async () => {
    const chat = await createChat("channel");
    const publication = await publicationOf(chat.chatId, chat.botToken);
    for (const elsewhere of ["https://t.me/c/1234567890/57", "https://t.me/c/-4711/57"])
      expect(await telegram.delete(publication, "57", signal, elsewhere)).toMatchObject(
        refused("permission_missing"),
      );
    expect(await platform.calls()).toEqual([]);
  });

  test.each([
    ["no longer exists", 99],
    ["is closed", 4],
    ["was deleted", 5],
  ])(
    "a target fails with `account_action_needed` when its Telegram topic %s",
    async (_state, topic) => {
      const chat = await createChat("forum");
      const publication = await publicationOf(`${chat.chatId}/${topic}`, chat.botToken);
      for (const media of [[], [pngMedia(1)]])
        expect(await telegram.publish({ ...publication, media }, {}, guard)).toMatchObject(
          refused("account_action_needed"),
        );
    },
  );

  test("a target fails with `permission_missing` when Telegram has restricted the chat", async () => {
    const chat = await createChat("grouprestricted");
    const publication = await publicationOf(chat.chatId, chat.botToken);
    for (const media of [[], [pngMedia(1)], [pngMedia(1), pngMedia(2)]])
      expect(await telegram.publish({ ...publication, media }, {}, guard)).toMatchObject({
        kind: "refused",
        code: "permission_missing",
        message: expect.stringContaining("CHAT_RESTRICTED") as string,
      });
    expect(await platform.visible()).toEqual([]);
  });
});
