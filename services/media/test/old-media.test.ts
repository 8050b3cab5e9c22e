import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeEach, expect, test } from "vitest";
import { insertReadyMedia, insertUpload } from "#src/db/media.ts";
import { deleteOldRejected } from "#src/db/old-media.ts";
import { startMedia } from "./media-fixture.ts";

interface KnownPost {
  readonly workspaceId: string;
  readonly version: bigint;
  readonly mediaIds: string[];
  readonly endedAt?: Date;
}

const posts = {
  known: new Map<string, KnownPost>(),
  isUp: true,
  onAsk: async (): Promise<unknown> => undefined,
};
const service = await startMedia({
  posts: (router) =>
    router.service(MediaUseService, {
      batchGetMediaNeeds: async ({ postIds }) => {
        if (!posts.isUp) throw unavailable();
        const answer = postIds.flatMap((postId) => {
          const known = posts.known.get(postId);
          if (known === undefined) return [];
          const { endedAt, ...post } = known;
          const ended = endedAt === undefined ? {} : { endedAt: timestampFromDate(endedAt) };
          return [{ postId, ...post, ...ended }];
        });
        await posts.onAsk();
        return { posts: answer };
      },
    }),
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  posts.known.clear();
  posts.isUp = true;
  posts.onAsk = async () => undefined;
  await service.sql`delete from media`;
});

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

/** Media that a platform was given some days ago; null: never. */
async function media(preparedDays: number | null = 40) {
  const { sql } = service;
  const [id, workspaceId, objectKey] = [newId(), newId(), `objects/${newId()}`];
  await service.store.put(
    objectKey,
    (async function* () {
      yield Buffer.from("bytes");
    })(),
  );
  const found = {
    kind: "image",
    contentType: "image/png",
    bytes: 5,
    sha256: "ab",
    frames: 1,
  } as const;
  const checked = {
    ...found,
    width: 1,
    height: 2,
    durationMs: null,
    delivery: { kind: "same" },
  } as const;
  const keys = { objectKey, deliveryKey: null };
  await sql.begin((tx) =>
    insertReadyMedia(tx, { id, workspaceId, fileName: "a.png" }, checked, keys),
  );
  if (preparedDays !== null)
    await sql`update media set prepared_at = ${daysAgo(preparedDays)} where id = ${id}`;
  return {
    id,
    workspaceId,
    /** Records the use by a post; `endedDays` undefined: a draft or scheduled post. */
    use: async (endedDays?: number, change: Partial<KnownPost> = {}) => {
      const postId = newId();
      const claim = { postId, postVersion: 1n, claimId: newId() };
      const { media: answer } = await service.media.useMedia({ workspaceId, ids: [id], ...claim });
      await sql`update media_usages set noted_at = noted_at - interval '20 minutes' where post_id = ${postId}`;
      const ended = endedDays === undefined ? {} : { endedAt: daysAgo(endedDays) };
      posts.known.set(postId, { workspaceId, version: 1n, mediaIds: [id], ...ended, ...change });
      return answer.map(({ status }) => status);
    },
    status: async () => {
      const [row] = await sql<{ status: string }[]>`select status from media where id = ${id}`;
      return row?.status;
    },
  };
}

test("media of a post whose last publication is over 30 days ago are removed with their files, and younger ones stay", async () => {
  const [old, young] = [await media(), await media()];
  await old.use(31);
  await young.use(29);
  expect(await service.retention.getRetention({})).toMatchObject({
    days: 30,
    removable: 1,
    bytes: 5n,
  });

  await service.removeOldMedia();

  expect([await old.status(), await young.status()]).toEqual(["deleting", "ready"]);
  await service.removeObjects();
  expect(await old.status()).toBeUndefined();
});

test("media that a draft, a scheduled post or a post with an open target uses, beside a post that ended long ago, stay", async () => {
  const kept = await media();
  await kept.use(300);
  await kept.use();
  await service.removeOldMedia();
  expect(await kept.status()).toBe("ready");
});

test("media that were never published stay, however old they are and whatever ended", async () => {
  const kept = await media(null);
  await kept.use(300);
  await service.removeOldMedia();
  expect(await kept.status()).toBe("ready");
});

test("media whose posts are removed, or no longer use them, are removed", async () => {
  const [gone, edited] = [await media(), await media()];
  await gone.use(31);
  posts.known.clear();
  await edited.use(undefined, { mediaIds: [] });
  await service.removeOldMedia();
  expect([await gone.status(), await edited.status()]).toEqual(["deleting", "deleting"]);
});

test("while the posts service knows none of the posts that used media last, because its data is older, no media are removed", async () => {
  const kept = await media();
  await kept.use(31);
  await kept.use();
  posts.known.clear();
  await service.removeOldMedia();
  expect(await kept.status()).toBe("ready");
});

test("imported media with ids from the future do not hide that the data of the posts service is older", async () => {
  const kept = await media();
  await kept.use(31);
  await kept.use();
  posts.known.clear();
  await service.sql`
    insert into media (id, workspace_id, status, file_name, kind, content_type, bytes)
    select ('ffffffff-ffff-7fff-8000-' || lpad(n::text, 12, '0'))::uuid, ${newId()}, 'pending', 'a.png', 'image', 'image/png', 5
    from generate_series(1, 1000) as n`;
  await service.removeOldMedia();
  expect(await kept.status()).toBe("ready");
});

test("media of a workspace that is being imported stay, because the uses by its posts may not be there yet", async () => {
  const { workspaceId, status } = await media();
  await service.rows.prepareRowImport({ workspaceId });
  await service.removeOldMedia();
  expect(await status()).toBe("ready");
  await service.rows.releaseRowImport({ workspaceId });
  await service.removeOldMedia();
  expect(await status()).toBe("deleting");
});

test("with 0 days no media are removed", async () => {
  const kept = await media(4_000);
  await kept.use(4_000);
  await service.removeOldMedia(0);
  expect(await kept.status()).toBe("ready");
});

test("while the posts service does not answer, no media are removed", async () => {
  const kept = await media();
  await kept.use(31);
  posts.isUp = false;
  await expect(service.removeOldMedia()).rejects.toThrow("unavailable");
  expect(await kept.status()).toBe("ready");
});

test("a post that begins to use media while the job asks about them keeps them", async () => {
  const kept = await media();
  await kept.use(31);
  posts.onAsk = async () => {
    posts.onAsk = async () => undefined;
    expect(await kept.use()).toEqual(["ready"]);
  };
  await service.removeOldMedia();
  expect(await kept.status()).toBe("ready");
});

test("a post that wants to use media which the job has marked finds them deleted, so that it is refused, and its use is not recorded", async () => {
  const old = await media();
  await old.use(31);
  await service.removeOldMedia();
  expect(await old.use()).toEqual(["deleting"]);
  const usages = await service.sql`select from media_usages where media_id = ${old.id}`;
  expect(usages).toHaveLength(1);
});

test("media that were rejected over 30 days ago are forgotten, unless a draft names them or their file is still there", async () => {
  const { sql } = service;
  const insert = async (days: number, objectKey: string | null = null) => {
    const [id, workspaceId] = [newId(), newId()];
    const image = { kind: "image", contentType: "image/png", bytes: 5, fileName: "a.png" } as const;
    await sql.begin((tx) => insertUpload(tx, { id, workspaceId, ...image }));
    await sql`
      update media
      set status = 'rejected', rejection = '{}', object_key = ${objectKey}, created_at = ${daysAgo(days)}
      where id = ${id}`;
    return { id, workspaceId };
  };
  await insert(31);
  const [young, named, stored] = [
    await insert(29),
    await insert(31),
    await insert(31, "objects/1"),
  ];
  await sql`
    insert into media_usages (workspace_id, media_id, post_id, post_version)
    values (${named.workspaceId}, ${named.id}, ${newId()}, 1)`;
  expect(await deleteOldRejected(sql, 100)).toBe(1);
  const left = await sql<{ id: string }[]>`select id from media order by id`;
  expect(left.map(({ id }) => id)).toEqual([young.id, named.id, stored.id]);
});
