import { createTelegramPublishingConnector } from "@postrider/platforms/telegram/publishing/connector";
import { mp4Media } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createTiktokPublishingConnector } from "@postrider/platforms/tiktok/publishing/connector";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { addTargetOf } from "./add-target-of.ts";
import {
  type World,
  consume,
  lastDeletion,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  untilStatus,
  openStage,
} from "./fixture.ts";

const chats = await startTestPlatform("telegram");
const telegram = createTelegramPublishingConnector({ baseUrl: chats.url });
const videos = await startTestPlatform("tiktok");
const tiktok = createTiktokPublishingConnector({ baseUrl: videos.url });

/**
 * Adds a target of a Telegram group that has become a supergroup, which is connected with its old
 * id.
 */
async function addGroupTarget(world: World) {
  const { externalId, username, credentials } = await chats.createAccount({
    username: "groupold_sailors",
  });
  const publication = {
    ...(await chats.createPublication([], "first", () => credentials.botToken ?? "")),
    externalId,
    username,
  };
  return addTargetOf(world, publication, { platform: "telegram", media: [] });
}

const listSends = async () => (await chats.calls()).filter((call) => call.startsWith("POST send"));

test("after a Telegram group has become a supergroup, one post costs a refused call, and the next one is sent to the supergroup at once", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const first = await addGroupTarget(world);
  const oldId = world.account(first).externalId;
  await using _worker = startWorker(database, world, { connectors: { telegram } });
  await request(sql, first);
  await untilStatus(sql, first, "published");
  expect(await listSends()).toHaveLength(2);
  expect(world.account(first).externalId).not.toBe(oldId);

  const { accountId, workspaceId } = first;
  const second = world.addTarget({ accountId, workspaceId, platform: "telegram", text: "second" });
  await request(sql, second);
  await untilStatus(sql, second, "published");
  expect(await listSends()).toHaveLength(3);
  expect((await chats.visible()).map(({ text }) => text)).toEqual(["first", "second"]);
});

test("a post to a Telegram group that has become a supergroup is sent while the accounts service cannot be told its new id", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await addGroupTarget(world);
  const oldId = world.account(target).externalId;
  world.canMove = false;
  await using _worker = startWorker(database, world, { connectors: { telegram } });
  await request(sql, target);
  await untilStatus(sql, target, "published");
  expect(world.account(target).externalId).toBe(oldId);
});

test("a Telegram post that was sent before its group became a supergroup is not deleted, because another message of the supergroup has its id", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await addGroupTarget(world);
  await using _worker = startWorker(database, world, { connectors: { telegram } });
  await request(sql, target);
  await untilStatus(sql, target, "published");
  const { externalId } = await readTask(sql, target);
  // The permalink of a post that was sent to the group as long as it was one.
  await sql`
    update publish_tasks
    set permalink = ${`https://t.me/c/-4711/${externalId ?? ""}`}
    where target_id = ${target.targetId}`;
  await consume(sql, [toDeletionRecord(target, externalId ?? "")]);
  await eventually(async () =>
    expect(await lastDeletion(sql, target)).toMatchObject({ status: "delete_failed" }),
  );
  expect(await chats.visible()).toHaveLength(1);
});

test("a post in a supergroup is deleted although a post from the time of the group has the same message id", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const earlier = await addGroupTarget(world);
  await using _worker = startWorker(database, world, { connectors: { telegram } });
  await request(sql, earlier);
  await untilStatus(sql, earlier, "published");
  const { accountId, workspaceId } = earlier;
  const target = world.addTarget({ accountId, workspaceId, platform: "telegram", text: "second" });
  await request(sql, target);
  await untilStatus(sql, target, "published");
  const { externalId } = await readTask(sql, target);
  await sql`
    update publish_tasks
    set external_id = ${externalId},
      permalink = ${`https://t.me/c/-4711/${externalId ?? ""}`}
    where target_id = ${earlier.targetId}`;
  await consume(sql, [toDeletionRecord(target, externalId ?? "")]);
  await eventually(async () =>
    expect(await lastDeletion(sql, target)).toMatchObject({ status: "deleted" }),
  );
  expect((await chats.visible()).map(({ text }) => text)).toEqual(["first"]);
});

test("a refusal of what TikTok does not offer an account is reported to the accounts service, so that the next post is refused at once", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const media = [mp4Media(100_000)];
  const publication = {
    ...(await videos.createPublication(media, "Ahoy")),
    privacy: "unlisted",
    settings: { unlistedAs: "followers" },
  };
  const target = addTargetOf(world, publication, { platform: "tiktok", media });
  await using _worker = startWorker(database, world, { connectors: { tiktok } });
  await request(sql, target);
  await untilStatus(sql, target, "failed");
  expect(await readTask(sql, target)).toMatchObject({ errorCode: "content_rejected" });
  expect(world.offers).toMatchObject([
    [target.accountId, { audiences: ["public", "friends", "only_me"], allowStitch: false }],
  ]);
});
