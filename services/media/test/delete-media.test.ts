import { createHash } from "node:crypto";
import {
  MediaUseService,
  type BatchGetMediaUsesRequest,
} from "@postrider/contracts/posts/v1/media_use_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeEach, expect, test } from "vitest";
import { insertReadyMedia, insertUpload } from "#src/db/media.ts";
import { startMedia } from "./media-fixture.ts";

/** An in-memory posts service with the posts that exist, by id. */
const posts = {
  known: new Map<string, { uses: boolean; version: bigint }>(),
  asked: [] as BatchGetMediaUsesRequest[],
  isUp: true,
  /** Called while the media service waits for the answer of the posts service. */
  onAsk: async (): Promise<unknown> => undefined,
};

const service = await startMedia({
  posts: (router) =>
    router.service(MediaUseService, {
      batchGetMediaUses: async (request) => {
        if (!posts.isUp) throw unavailable();
        posts.asked.push(request);
        await posts.onAsk();
        const uses = request.postIds.flatMap((postId) => {
          const post = posts.known.get(postId);
          return post === undefined ? [] : [{ postId, ...post }];
        });
        return { uses };
      },
    }),
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  posts.asked = [];
  posts.isUp = true;
  posts.onAsk = async () => undefined;
});

/** Creates media in a new workspace, with functions that call the media service for them. */
async function someMedia(status: "ready" | "pending" | "rejected" = "ready") {
  const { sql, media, store } = service;
  const [id, workspaceId, objectKey] = [newId(), newId(), `objects/${newId()}`];
  await store.put(
    objectKey,
    (async function* () {
      yield Buffer.from("bytes");
    })(),
  );
  const image = { kind: "image", contentType: "image/png", bytes: 5 } as const;
  if (status === "ready") {
    const found = { ...image, sha256: "ab", width: 1, height: 2, durationMs: null, frames: 1 };
    const checked = { ...found, delivery: { kind: "same" } } as const;
    const keys = { objectKey, deliveryKey: null };
    await sql.begin((tx) =>
      insertReadyMedia(tx, { id, workspaceId, fileName: "a.png" }, checked, keys),
    );
  } else {
    await sql.begin((tx) => insertUpload(tx, { id, workspaceId, fileName: "a.png", ...image }));
    await sql`
      update media
      set status = ${status}, object_key = ${objectKey}, rejection = ${status === "rejected" ? "{}" : null}::jsonb
      where id = ${id}`;
  }
  const use = async (change: { postId?: string; postVersion?: bigint; claimId?: string } = {}) => {
    const request = { postId: newId(), postVersion: 1n, claimId: newId(), ...change };
    await media.useMedia({ workspaceId, ids: [id], ...request });
    return request;
  };
  return {
    id,
    workspaceId,
    use,
    /** Makes all recorded usages of media 10 minutes older. */
    age: () =>
      sql`update media_usages set noted_at = noted_at - interval '10 minutes' where media_id = ${id}`,
    delete: () => media.deleteMedia({ workspaceId, id }),
    release: (change: { postId: string; postVersion?: bigint; claimId?: string }) =>
      media.releaseMedia({ uses: [{ workspaceId, mediaId: id, ...change }] }),
    usages: async () =>
      (
        await sql<{ postId: string }[]>`select post_id from media_usages where media_id = ${id}`
      ).map(({ postId }) => postId),
    status: async () => {
      const [row] = await sql<{ status: string }[]>`select status from media where id = ${id}`;
      return row?.status;
    },
    isStored: async () => (await store.stat(objectKey)) !== undefined,
  };
}

const hash = (text: string): Buffer => createHash("md5").update(text).digest();

const inUse = { kind: "conflict", reason: "media_in_use" };

test("DeleteMedia marks unused media as deleting, and a job then deletes them", async () => {
  const media = await someMedia();
  expect(await media.delete()).toMatchObject({ gone: false });
  expect(await media.status()).toBe("deleting");
  expect(await media.delete()).toMatchObject({ gone: false });
  await service.removeObjects();
  expect(await media.isStored()).toBe(false);
  await expect(media.delete()).rejects.toMatchObject({ kind: "not_found" });
});

test("concurrent DeleteMedia calls for the same media all succeed", async () => {
  const media = await someMedia();
  const answers = await Promise.all(Array.from({ length: 8 }, () => media.delete()));
  expect(answers).toMatchObject(answers.map(() => ({ gone: false })));
  expect(await media.status()).toBe("deleting");
});

test.each(["pending", "rejected"] as const)(
  "DeleteMedia deletes %s media and their row at once",
  async (status) => {
    const media = await someMedia(status);
    await media.use();
    expect(await media.delete()).toMatchObject({ gone: true });
    expect(await media.isStored()).toBe(false);
    expect(await media.usages()).toEqual([]);
    await expect(media.delete()).rejects.toMatchObject({ kind: "not_found" });
  },
);

test("DeleteMedia returns not_found for media of another workspace", async () => {
  const media = await someMedia();
  const foreign = service.media.deleteMedia({ workspaceId: newId(), id: media.id });
  await expect(foreign).rejects.toMatchObject({ kind: "not_found" });
  const nonsense = service.media.deleteMedia({ workspaceId: media.workspaceId, id: "no id" });
  await expect(nonsense).rejects.toMatchObject({ kind: "not_found" });
  expect(await media.status()).toBe("ready");
});

test.each([
  {
    post: "uses the media",
    period: "always",
    known: { uses: true, version: 3n },
    young: true,
    old: true,
  },
  {
    post: "no longer uses the media",
    period: "at no time",
    known: { uses: false, version: 3n },
    young: false,
    old: false,
  },
  {
    post: "may still get a version with the media",
    period: "for 10 minutes only",
    known: { uses: false, version: 2n },
    young: true,
    old: false,
  },
  {
    post: "may still be created with the media",
    period: "for 10 minutes only",
    known: undefined,
    young: true,
    old: false,
  },
])(
  "the record that a post uses media blocks DeleteMedia $period if the post $post",
  async ({ known, young, old }) => {
    const results: boolean[] = [];
    for (const isOld of [false, true]) {
      const media = await someMedia();
      const { postId } = await media.use({ postVersion: 3n });
      if (known !== undefined) posts.known.set(postId, known);
      if (isOld) await media.age();
      const isBlocked = await media.delete().then(
        () => false,
        (error: { reason?: string }) => error.reason === "media_in_use",
      );
      results.push(isBlocked);
      expect(await media.usages()).toEqual(isBlocked ? [postId] : []);
      expect(await media.status()).toBe(isBlocked ? "ready" : "deleting");
    }
    expect(results).toEqual([young, old]);
  },
);

test("DeleteMedia returns unavailable for media that a post uses while the posts service does not answer", async () => {
  const media = await someMedia();
  await media.use();
  await media.age();
  posts.isUp = false;
  await expect(media.delete()).rejects.toMatchObject({ kind: "unavailable" });
  expect(await media.status()).toBe("ready");
  expect(await media.usages()).toHaveLength(1);
});

test("DeleteMedia asks the posts service about 1200 posts, at most 500 per call, and finds the single post that blocks the deletion of the media", async () => {
  const media = await someMedia();
  await service.sql`
      insert into media_usages (workspace_id, media_id, post_id, post_version, noted_at)
      select ${media.workspaceId}, ${media.id}, gen_random_uuid(), 1, now() - interval '1 hour'
      from generate_series(1, 1200)`;
  const { postId } = await media.use({ postId: "ffffffff-ffff-4fff-bfff-ffffffffffff" });
  posts.known.set(postId, { uses: true, version: 1n });
  await expect(media.delete()).rejects.toMatchObject(inUse);
  expect(posts.asked.map(({ postIds }) => postIds.length)).toEqual([500, 500, 201]);
  posts.known.delete(postId);
  await media.age();
  posts.asked = [];
  expect(await media.delete()).toMatchObject({ gone: false });
  expect(posts.asked.map(({ postIds }) => postIds.length)).toEqual([201]);
});

test("DeleteMedia calls the posts service again when another post starts to use the media during the first call to the posts service", async () => {
  const media = await someMedia();
  await media.use();
  await media.age();
  const late = newId();
  posts.onAsk = async () => {
    posts.onAsk = async () => undefined;
    await media.use({ postId: late });
  };
  await expect(media.delete()).rejects.toMatchObject(inUse);
  expect(posts.asked.map(({ postIds }) => postIds)).toMatchObject([[expect.any(String)], [late]]);
});

test("DeleteMedia calls the posts service again when the same post records its use of the media again during the first call to the posts service", async () => {
  const media = await someMedia();
  const { postId } = await media.use();
  await media.age();
  posts.onAsk = () => media.use({ postId });
  await expect(media.delete()).rejects.toMatchObject(inUse);
  expect(posts.asked).toHaveLength(2);
});

test("UseMedia records that a post uses media only for existing media of the caller's workspace", async () => {
  const [mine, theirs] = [await someMedia(), await someMedia()];
  const pending = await someMedia("pending");
  const use = { postId: newId(), postVersion: 1n, claimId: newId() };
  const { workspaceId } = mine;
  const ids = [mine.id, theirs.id, newId(), "no id"];
  const { media } = await service.media.useMedia({ workspaceId, ids, ...use });
  expect(media).toMatchObject([{ id: mine.id, status: "ready", sha256: "ab" }]);
  expect(await mine.usages()).toEqual([use.postId]);
  expect(await theirs.usages()).toEqual([]);
  // A draft may use media with the status pending.
  await pending.use(use);
  expect(await pending.usages()).toEqual([use.postId]);
});

test("UseMedia does not record that a post uses media that are being deleted", async () => {
  const media = await someMedia();
  await media.delete();
  const use = { postId: newId(), postVersion: 1n, claimId: newId() };
  const request = { workspaceId: media.workspaceId, ids: [media.id], ...use };
  expect((await service.media.useMedia(request)).media).toMatchObject([{ status: "deleting" }]);
  expect(await media.usages()).toEqual([]);
});

test("200 concurrent UseMedia and ReleaseMedia calls for the same media never deadlock", async () => {
  const { workspaceId } = await someMedia();
  const all = await Promise.all(Array.from({ length: 20 }, () => someMedia()));
  const ids = all.map(({ id }) => id);
  await service.sql`update media set workspace_id = ${workspaceId} where id = any(${ids}::uuid[])`;
  const postIds = [newId(), newId()];
  const shuffled = (turn: number) =>
    ids.toSorted((a, b) => hash(`${turn} ${a}`).compare(hash(`${turn} ${b}`)));
  const answers = await Promise.allSettled(
    Array.from({ length: 200 }, async (_, turn) => {
      const postId = postIds[turn % 2] ?? "";
      const claimId = newId();
      const request = { workspaceId, postId, claimId, postVersion: 1n, ids: shuffled(turn) };
      if (turn % 3 > 0) return await service.media.useMedia(request);
      const uses = shuffled(turn).map((mediaId) => ({ workspaceId, postId, mediaId }));
      return await service.media.releaseMedia({ uses });
    }),
  );
  expect(answers.filter(({ status }) => status === "rejected")).toEqual([]);
});

test("ReleaseMedia deletes the record that a post uses media and can be repeated", async () => {
  const media = await someMedia();
  const { postId } = await media.use();
  await media.release({ postId });
  await media.release({ postId });
  expect(await media.usages()).toEqual([]);
});

test("a late ReleaseMedia call for one post version keeps the record that a newer version uses the media", async () => {
  const media = await someMedia();
  const { postId } = await media.use({ postVersion: 3n });
  await media.use({ postId, postVersion: 4n });
  await media.use({ postId, postVersion: 3n });
  await media.release({ postId, postVersion: 3n });
  expect(await media.usages()).toEqual([postId]);
  await media.release({ postId, postVersion: 4n });
  expect(await media.usages()).toEqual([]);
});

test("a ReleaseMedia call for one request keeps the record that another request made for the same media earlier or later", async () => {
  const media = await someMedia();
  const first = await media.use();
  const { postId } = first;
  const second = await media.use({ postId });
  await media.release(second);
  await media.release(first);
  expect(await media.usages()).toEqual([postId]);
  const alone = await media.use();
  await media.use(alone);
  await media.release(alone);
  expect(await media.usages()).toEqual([postId]);
});

test("ReleaseMedia keeps the records that posts of another workspace use media", async () => {
  const media = await someMedia();
  const { postId } = await media.use();
  const uses = [{ workspaceId: newId(), mediaId: media.id, postId }];
  await service.media.releaseMedia({ uses });
  expect(await media.usages()).toEqual([postId]);
});
