import { create } from "@bufbuild/protobuf";
import { ListMediaRequestSchema } from "@postrider/contracts/media/v1/media_service_pb";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { afterAll, expect, test } from "vitest";
import { listLibrary } from "#src/db/media-library.ts";
import { insertReadyMedia } from "#src/db/media.ts";
import { MIN_FILE_BYTES } from "#src/db/storage.ts";
import { listMedia } from "#src/rpc/media-service.ts";
import { CURSOR_KEYS, startMedia } from "./media-fixture.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());

async function addImage(workspaceId: string): Promise<string> {
  const id = newId();
  await service.sql.begin((tx) =>
    insertReadyMedia(
      tx,
      { id, workspaceId, fileName: `${id}.png` },
      {
        kind: "image",
        contentType: "image/png",
        bytes: 1_000,
        sha256: "ab",
        width: 640,
        height: 480,
        durationMs: null,
        frames: 1,
        delivery: { kind: "same" },
      },
      { objectKey: `objects/${id}`, deliveryKey: null },
    ),
  );
  return id;
}

const use = (workspaceId: string, mediaId: string) => service.sql`
  insert into media_usages (workspace_id, media_id, post_id, post_version)
  values (${workspaceId}, ${mediaId}, ${newId()}, 1)`;

async function list(workspaceId: string, more = {}) {
  const answer = await service.media.listMedia({ workspaceId, limit: 2, ...more });
  return {
    ids: answer.media.map(({ media }) => media?.id),
    posts: answer.media.map(({ posts }) => posts),
    next: answer.nextCursor,
    storage: answer.storage,
  };
}

test("the media of a workspace are listed newest first, with their use and the storage", async () => {
  const workspaceId = newId();
  const [first, second, third] = [
    await addImage(workspaceId),
    await addImage(workspaceId),
    await addImage(workspaceId),
  ];
  await addImage(newId());
  await use(workspaceId, second);
  await use(workspaceId, second);

  const page = await list(workspaceId);
  expect(page).toMatchObject({ ids: [third, second], posts: [0, 2] });
  expect(page.storage).toMatchObject({ usedBytes: BigInt(3 * MIN_FILE_BYTES), reservedBytes: 0n });
  expect(await list(workspaceId, { cursor: page.next })).toMatchObject({
    ids: [first],
    next: undefined,
  });
});

test("listed media say whether a platform may have received them, and which files were made of them for platforms", async () => {
  const workspaceId = newId();
  const [unsent, sent] = [await addImage(workspaceId), await addImage(workspaceId)];
  await service.sql`update media set prepared_at = now() where id = ${sent}`;
  const insert = (plan: string, status: string, bytes: number) => service.sql`
    insert into media_renditions (
      id, workspace_id, media_id, plan, status, object_key, content_type, bytes, sha256, width, height
    )
    values (
      ${newId()}, ${workspaceId}, ${sent}, ${plan}, ${status}, ${newId()}, 'image/jpeg', ${bytes}, 'ab', 320, 240
    )`;
  await insert("image/jpeg 320x240 scale 8000000", "made", 700);
  await insert("image/jpeg 320x240 scale 1000000", "making", 600);
  // The small picture of the dashboard is sent to no platform.
  await insert("image/jpeg 480x360 scale 60000", "made", 500);

  const { media } = await service.media.listMedia({ workspaceId, limit: 2 });
  expect(media).toMatchObject([
    {
      media: { id: sent },
      isPrepared: true,
      converted: [{ contentType: "image/jpeg", width: 320, height: 240, bytes: 700n }],
    },
    { media: { id: unsent }, isPrepared: false, converted: [] },
  ]);
});

test("media can be listed that no post uses, that have no description, and of one kind", async () => {
  const workspaceId = newId();
  const [used, described] = [await addImage(workspaceId), await addImage(workspaceId)];
  await use(workspaceId, used);
  await service.sql`update media set alt_text = 'a bike' where id = ${described}`;
  await service.sql`update media set status = 'deleting' where id = ${await addImage(workspaceId)}`;

  expect((await list(workspaceId)).ids).toEqual([described, used]);
  expect((await list(workspaceId, { unused: true })).ids).toEqual([described]);
  expect((await list(workspaceId, { withoutAltText: true })).ids).toEqual([used]);
  expect((await list(workspaceId, { kind: "video" })).ids).toEqual([]);
});

test("a filter that few media pass ends a page after 1,000 media, with a cursor for the rest", async () => {
  const workspaceId = newId();
  const oldest = await addImage(workspaceId);
  await service.sql`
    insert into media (id, workspace_id, status, file_name, kind, content_type, bytes)
    select ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${workspaceId}, 'pending', 'a', 'image', 'image/png', 1
    from generate_series(1, 1000) as n`;
  const page = await list(workspaceId);
  expect(page.ids).toEqual([]);
  expect((await list(workspaceId, { cursor: page.next })).ids).toEqual([oldest]);
});

test("a cursor is valid only for the list that it came from: its workspace, and its filters", async () => {
  const [own, other] = [newId(), newId()];
  for (const workspaceId of [own, other, own, other]) await addImage(workspaceId);
  const cursorOf = async (workspaceId: string, more = {}) =>
    (await list(workspaceId, { limit: 1, ...more })).next;
  const refused = [
    "x",
    (await list(own)).ids[0],
    await cursorOf(other),
    await cursorOf(own, { kind: "image" }),
    await cursorOf(own, { unused: true }),
    await cursorOf(own, { withoutAltText: true }),
  ];
  for (const cursor of refused)
    await expect(list(own, { cursor }), cursor).rejects.toMatchObject({ reason: "invalid_cursor" });
});

test("a filtered page reads only the newest files of its workspace, however many others are stored", async () => {
  const { sql } = service;
  const workspaceId = newId();
  for (const workspace of [workspaceId, newId()])
    await sql`
      insert into media (id, workspace_id, status, file_name, object_key, kind, content_type, bytes, sha256,
        delivery_bytes, delivery_sha256, delivery_content_type, ready_at)
      select gen_random_uuid(), ${workspace}, 'ready', 'a.png', gen_random_uuid(), 'image', 'image/png', 1, 'a', 1, 'a',
        'image/png', now()
      from generate_series(1, 20000)`;
  await sql`
    insert into media_usages (workspace_id, media_id, post_id, post_version)
    select workspace_id, id, gen_random_uuid(), 1
    from media`;
  await service.database.ownerSql`analyze media.media, media.media_usages`;
  for (const filter of [{ kind: "video" }, { isUnused: true }, { isWithoutAltText: true }]) {
    const all = { kind: undefined, isUnused: false, isWithoutAltText: false, ...filter };
    const read = await sql.begin(async (tx) => {
      await listLibrary(tx, workspaceId, {
        ...all,
        limit: 50,
        before: undefined,
        previewPlans: "",
      });
      return await tx<{ rows: number }[]>`
        select sum(seq_tup_read + idx_tup_fetch)::int as rows
        from pg_stat_xact_user_tables
        where relname in ('media', 'media_usages')`;
    });
    expect(read[0]?.rows, JSON.stringify(filter)).toBeLessThan(4_000);
  }
});

test("the storage of a workspace is added up in turns, also for the list of its media", async () => {
  const storageTurns = new Semaphore({ total: 1 });
  using _turn = await storageTurns.acquire();
  const request = create(ListMediaRequestSchema, { workspaceId: newId(), limit: 1 });
  const listed = listMedia(
    { sql: service.sql, storageBytes: 1, storageTurns, cursorKeys: CURSOR_KEYS },
    request,
  );
  await expect(listed).rejects.toMatchObject({ kind: "unavailable" });
});
