import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  MediaService,
  UseMediaRequestSchema,
  type ReleaseMediaRequest,
  type UseMediaRequest,
} from "@postrider/contracts/media/v1/media_service_pb";
import { conflict, ServiceError } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fetchUsingPosts, type PostsClient } from "#src/clients/posts.ts";
import { MIGRATIONS } from "#src/config.ts";
import { lockMedia, markDeleting } from "#src/db/media-deletion.ts";
import { deleteUsages, hasUsages, listUsages, type MediaRef } from "#src/db/media-usages.ts";
import { insertReadyMedia, listMediaByIds } from "#src/db/media.ts";
import { blocksDeletion, type Usage, type UsingPost } from "#src/domain/usage.ts";
import { deleteMedia } from "#src/rpc/delete-media.ts";
import { releaseMedia, useMedia } from "#src/rpc/media-service.ts";
import { toMedia } from "#src/rpc/to-media.ts";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
// These tests run the real posts service beside the media service, each with its own database.
import { startPosts, type Posts } from "../../posts/test/fixture.ts";
import type { ShownPost } from "../../posts/test/shown-posts.ts";

const ROUNDS = 200;
/**
 * Maximum number of rounds within which a naive version of an operation must fail; usually fewer
 * than 100 are enough.
 */
const MUTANT_ROUNDS = 1000;
const AT_ONCE = 20;
// oxlint-disable-next-line no-restricted-properties -- RACE_SEED repeats the interleavings of a failed run
const SEED = Number(process.env["RACE_SEED"] ?? Date.now() % 1_000_000);

/** Waits for `count` turns of the event loop, a turn being one `setImmediate`. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    await promise;
  }
}

/**
 * For each workspace, how many turns of the event loop its calls wait at the points where calls of
 * other operations may run in between.
 */
const delays = new Map<string, number[]>();
async function pause({ workspaceId }: { readonly workspaceId: string }): Promise<void> {
  const waits = delays.get(workspaceId) ?? [];
  const next = waits.shift() ?? 0;
  waits.push(next);
  await turns(next);
}

/**
 * The operations of the media service; a mutation test replaces one of them with a naive version.
 */
const whole = {
  use: (request: UseMediaRequest) => useMedia({ sql: database.sql }, request),
  release: (request: ReleaseMediaRequest) => releaseMedia({ sql: database.sql }, request),
  delete: ({ workspaceId, mediaId: id }: MediaRef): Promise<unknown> =>
    createTestPeer((router) =>
      router.service(MediaService, {
        deleteMedia: (request) =>
          deleteMedia({ sql: database.sql, posts: postsClient, store }, request),
      }),
    )
      .client(MediaService)
      .deleteMedia({ workspaceId, id }),
};
let media = whole;

let database: TestDatabase;
let store: ObjectStore;
let folder: string;
let posts: Posts;
let postsClient: PostsClient;
/**
 * For each of the next readings of the posts service's clock, the milliseconds by which the clock
 * is behind.
 */
let behindMs: number[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "media-test-"));
  store = await openDiskStore(folder);
  database = await createTestDatabase({
    service: "media",
    migrationsFolder: MIGRATIONS,
    poolSize: 10,
  });
  const peer = createTestPeer((router) =>
    router.service(MediaService, {
      useMedia: async (request) => {
        await pause(request);
        const answer = await media.use(request);
        await pause(request);
        return answer;
      },
      releaseMedia: async (request) => {
        for (const use of request.uses.slice(0, 1)) await pause(use);
        return await media.release(request);
      },
    }),
  );
  posts = await startPosts({
    media: peer.client(MediaService),
    clock: async () => {
      const [row] = await posts.sql<{ now: Date }[]>`select clock_timestamp() as now`;
      return new Date((row?.now.getTime() ?? 0) - (behindMs.shift() ?? 0));
    },
  });
  postsClient = {
    batchGetMediaUses: async (request, options) => {
      const { workspaceId = "" } = request;
      await pause({ workspaceId });
      const answer = await posts.mediaUses.batchGetMediaUses(request, options);
      await pause({ workspaceId });
      return answer;
    },
    batchGetMediaNeeds: (request, options) => posts.mediaUses.batchGetMediaNeeds(request, options),
  };
});
afterAll(async () => {
  await posts[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  media = whole;
  delays.clear();
  behindMs = [];
});

async function addMedia(workspaceId: string): Promise<string> {
  const id = newId();
  const image = { kind: "image", contentType: "image/png", bytes: 5, sha256: "ab" } as const;
  const found = { ...image, width: 640, height: 480, durationMs: null, frames: 1 };
  const checked = { ...found, delivery: { kind: "same" } } as const;
  const keys = { objectKey: `objects/${id}`, deliveryKey: null };
  await database.sql.begin((tx) =>
    insertReadyMedia(tx, { id, workspaceId, fileName: "a.png" }, checked, keys),
  );
  return id;
}

/**
 * Operations of the posts service that may run concurrently with the deletion of one item of media.
 */
const STEPS = [
  "create",
  "schedule",
  "draft",
  "replay",
  "add",
  "remove",
  "publish",
  "drop",
] as const;
type Step = (typeof STEPS)[number];
const DRAFT_STEPS: ReadonlySet<Step> = new Set(["add", "remove", "publish", "drop"] as const);

interface Round {
  /** Whether the draft that some steps edit already uses the media when the round begins. */
  readonly isUsed: boolean;
  /** The operations on posts that run concurrently with the deletion of the media. */
  readonly steps: readonly Step[];
  readonly starts: readonly number[];
  readonly waits: readonly number[];
}

function roundsOf(what: Partial<Round> = {}): fc.Arbitrary<Round> {
  const { isUsed, steps } = what;
  return fc.record({
    isUsed: isUsed === undefined ? fc.boolean() : fc.constant(isUsed),
    steps:
      steps === undefined
        ? fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 3 })
        : fc.constant(steps),
    starts: fc.array(fc.nat({ max: 15 }), { minLength: 4, maxLength: 4 }),
    waits: fc.array(fc.nat({ max: 8 }), { minLength: 7, maxLength: 7 }),
  });
}

/** The reasons with which operations of a round may be refused; any other error fails the test. */
const REFUSALS = new Set([
  "validation_failed",
  "media_in_use",
  "not_found",
  "invalid_transition",
  "post_not_editable",
  "duplicate_content",
  "unavailable",
]);

async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof ServiceError && REFUSALS.has(error.reason)) return error.reason;
    throw error;
  }
}

interface PostRequest {
  readonly workspaceId: string;
  readonly accountIds: string[];
  readonly mediaIds: string[];
}

function carryOut(
  step: Step,
  draft: ShownPost | undefined,
  request: PostRequest,
): Promise<unknown> {
  const { workspaceId } = request;
  const id = draft?.id ?? "";
  const mediaIds = { values: request.mediaIds };
  const idempotency = { key: "key", fingerprint: "same" };
  const content = newId();
  const scheduledAt = timestampFromDate(new Date(Date.now() + 86_400_000));
  const steps: Record<Step, () => Promise<unknown>> = {
    create: () => posts.createPost({ ...request, content }),
    schedule: () => posts.createPost({ ...request, content, scheduledAt }),
    draft: () => posts.createPost({ ...request, content, isDraft: true }),
    replay: () => posts.createPost({ ...request, content: "replayed", idempotency }),
    add: () => posts.posts.updatePost({ workspaceId, id, mediaIds }),
    remove: () => posts.posts.updatePost({ workspaceId, id, mediaIds: { values: [] } }),
    publish: () => posts.posts.publishPost({ workspaceId, id }),
    drop: () => posts.posts.deletePost({ workspaceId, id }),
  };
  return steps[step]();
}

interface Result {
  readonly deletion: string;
  readonly others: readonly string[];
  readonly status: string;
  /** Number of stored posts that use the media at the end of the round. */
  readonly users: number;
  readonly usages: number;
}

async function play({ isUsed, steps, starts, waits }: Round): Promise<Result> {
  const workspaceId = newId();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const mediaId = await addMedia(workspaceId);
  const mediaIds = [mediaId];
  const request = { workspaceId, accountIds, mediaIds };
  const draft = steps.some((step) => DRAFT_STEPS.has(step))
    ? await posts.createPost({ ...request, mediaIds: isUsed ? mediaIds : [], isDraft: true })
    : undefined;
  delays.set(workspaceId, [...waits]);
  const at = (index: number) => turns(starts[index] ?? 0);
  const [deletion, ...others] = await Promise.all([
    outcome(at(0).then(() => media.delete({ workspaceId, mediaId }))),
    ...steps.map((step, index) =>
      outcome(at(index + 1).then(() => carryOut(step, draft, request))),
    ),
  ]);
  return { deletion, others, ...(await look(workspaceId, mediaId)) };
}

async function look(workspaceId: string, mediaId: string) {
  const [item] = await database.sql<{ status: string; usages: number }[]>`
    select status, (select count(*)::int from media_usages where media_id = media.id) as usages
    from media
    where id = ${mediaId}`;
  const [stored] = await posts.sql<{ users: number }[]>`
    select count(*)::int as users
    from posts
    where workspace_id = ${workspaceId}
    and ${mediaId}::uuid = any(media_ids)`;
  return { status: "gone", usages: 0, ...item, users: stored?.users ?? 0 };
}

/**
 * Plays up to `count` rounds of interleaved calls, `AT_ONCE` at a time, and stops early when
 * `isEnough` returns true.
 */
async function playAll(
  arbitrary: fc.Arbitrary<Round>,
  count: number,
  isEnough: (results: readonly Result[]) => boolean = () => false,
): Promise<Result[]> {
  const all = fc.sample(arbitrary, { numRuns: count, seed: SEED });
  const results: Result[] = [];
  for (let first = 0; first < count && !isEnough(results); first += AT_ONCE)
    results.push(...(await Promise.all(all.slice(first, first + AT_ONCE).map(play))));
  return results;
}

/** Returns the results of the rounds after which a stored post uses deleted media. */
function broken(results: readonly Result[]): Result[] {
  return results.filter(({ status, users }) => status !== "ready" && users > 0);
}

test(`no stored post uses deleted media after ${ROUNDS} random interleavings of media and post operations (RACE_SEED=${SEED})`, async () => {
  const results = await playAll(roundsOf(), ROUNDS);
  expect(broken(results)).toEqual([]);
  // DeleteMedia succeeded exactly in the rounds in which the media are deleted.
  const isDeleted = ({ deletion }: Result) => deletion === "done";
  expect(results.filter((it) => isDeleted(it) !== (it.status === "deleting"))).toEqual([]);
  // The number of recorded usages is at least the number of posts that use the media.
  expect(results.filter(({ users, usages }) => usages < users)).toEqual([]);
  // The deletion and the use of media must each succeed often; otherwise the interleavings do not
  // test the race.
  expect(results.filter(isDeleted).length).toBeGreaterThan(ROUNDS / 10);
  expect(results.filter(({ users }) => users > 0).length).toBeGreaterThan(ROUNDS / 10);
});

/** Deletes media like `deleteMedia`, with steps that a test can leave out. */
async function deleteWith(
  ref: MediaRef,
  parts: { readonly lock?: boolean; readonly look?: boolean; readonly versions?: boolean },
): Promise<void> {
  const { lock = true, look = true, versions = true } = parts;
  const { sql } = database;
  const usages = await listUsages(sql, ref, { after: undefined, limit: 500 });
  const postIds = usages.map(({ postId }) => postId);
  const known = postIds.length === 0 ? new Map() : await fetchUsingPosts(postsClient, ref, postIds);
  const blocks = (usage: Usage, post: UsingPost | undefined): boolean =>
    versions || post === undefined ? blocksDeletion(usage, post) : post.uses;
  if (usages.some((usage) => blocks(usage, known.get(usage.postId))))
    throw conflict("media_in_use");
  await deleteUsages(sql, ref, usages);
  await sql.begin(async (tx) => {
    if (lock) await lockMedia(tx, ref);
    if (look && (await hasUsages(tx, ref))) throw conflict("media_in_use");
    await pause(ref);
    await markDeleting(tx, ref);
  });
}

/** Records usages like `useMedia`, but without the lock on the media. */
async function useUnlocked({ workspaceId, ids, postId, postVersion, claimId }: UseMediaRequest) {
  const { sql } = database;
  const found = await listMediaByIds(sql, workspaceId, ids);
  await sql`
    insert into media_usages (workspace_id, media_id, post_id, post_version, claim_id)
    select workspace_id, id, ${postId}::uuid, ${Number(postVersion)}::bigint, ${claimId}::uuid
    from media
    where id = any(${ids}::uuid[])
    and status <> 'deleting'
    on conflict (media_id, post_id) do nothing`;
  return { media: found.map(toMedia) };
}

/**
 * Deletes usages like `releaseMedia`, but also usages that were recorded after the request was
 * sent.
 */
async function releaseAll({ uses }: ReleaseMediaRequest) {
  const { sql } = database;
  for (const { mediaId, postId } of uses)
    await sql`delete from media_usages where media_id = ${mediaId} and post_id = ${postId}`;
  return {};
}

const creates: Partial<Round> = { steps: ["draft", "draft", "draft"] };
const edits: Partial<Round> = { isUsed: false, steps: ["add"] };

test.each<[what: string, round: Partial<Round>, change: Partial<typeof whole>]>([
  [
    "reading the usages of media again under the lock",
    creates,
    { delete: (ref) => deleteWith(ref, { look: false }) },
  ],
  [
    "the lock that DeleteMedia takes",
    creates,
    { delete: (ref) => deleteWith(ref, { lock: false }) },
  ],
  [
    "the lock that UseMedia takes",
    creates,
    { use: useUnlocked, delete: (ref) => deleteWith(ref, {}) },
  ],
  [
    "comparing the post version of a usage",
    edits,
    { delete: (ref) => deleteWith(ref, { versions: false }) },
  ],
])(
  "without one safeguard (%s), concurrent media and post operations can leave a stored post that uses deleted media",
  async (_what, round, change) => {
    media = { ...whole, ...change };
    const results = await playAll(
      roundsOf(round),
      MUTANT_ROUNDS,
      (some) => broken(some).length > 0,
    );
    expect(broken(results)).not.toEqual([]);
  },
);

test.each([
  ["creations", creates],
  ["edits", edits],
] as const)(
  "a media deletion with all safeguards never deletes media that posts use, even during concurrent %s of posts",
  async (_what, round) => {
    media = { ...whole, delete: (ref) => deleteWith(ref, {}) };
    expect(broken(await playAll(roundsOf(round), 60))).toEqual([]);
  },
);

test.each([
  { release: whole.release, what: "versions compared: record kept", status: "ready" },
  {
    release: releaseAll,
    what: "versions ignored: record deleted",
    status: "deleting",
  },
])(
  "a newer post version's use of media survives a late ReleaseMedia call for an older version only if ReleaseMedia compares versions ($what)",
  async ({ release, status }) => {
    const workspaceId = newId();
    const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
    const mediaId = await addMedia(workspaceId);
    const request = { workspaceId, accountIds, mediaIds: [mediaId] };
    const draft = await posts.createPost({ ...request, isDraft: true });
    const isRemoved = Promise.withResolvers<void>();
    const isAdded = Promise.withResolvers<void>();
    const isReleased = Promise.withResolvers<void>();
    media = {
      ...whole,
      use: async (use) => {
        const answer = await whole.use(use);
        if (use.postVersion > 1n) {
          isAdded.resolve();
          await isReleased.promise;
        }
        return answer;
      },
      release: async (uses) => {
        isRemoved.resolve();
        await isAdded.promise;
        const answer = await release(uses);
        await outcome(whole.delete({ workspaceId, mediaId }));
        isReleased.resolve();
        return answer;
      },
    };
    const removal = carryOut("remove", draft, request);
    await isRemoved.promise;
    await carryOut("add", draft, request);
    await removal;
    expect(await look(workspaceId, mediaId)).toMatchObject({ status, users: 1 });
  },
);

test("a posts service that is suspended after it recorded the use of media cannot store the post once the media are deleted", async () => {
  const workspaceId = newId();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const mediaId = await addMedia(workspaceId);
  behindMs = [11 * 60_000];
  media = {
    ...whole,
    use: async (request) => {
      media = whole;
      const answer = await whole.use(request);
      await database.sql`update media_usages set noted_at = noted_at - interval '11 minutes'`;
      await whole.delete({ workspaceId, mediaId });
      return answer;
    },
  };
  await expect(
    posts.createPost({ workspaceId, accountIds, mediaIds: [mediaId] }),
  ).rejects.toMatchObject({ reason: "validation_failed", violations: [{ code: "unknown_media" }] });
  expect(await look(workspaceId, mediaId)).toEqual({ status: "deleting", users: 0, usages: 0 });
});

test("media can be deleted 10 minutes after a request that recorded their use by a post crashed before it stored the post", async () => {
  const workspaceId = newId();
  const mediaId = await addMedia(workspaceId);
  const claim = { postId: newId(), postVersion: 1n, claimId: newId() };
  const request = create(UseMediaRequestSchema, { workspaceId, ids: [mediaId], ...claim });
  await whole.use(request);
  await expect(whole.delete({ workspaceId, mediaId })).rejects.toMatchObject({
    reason: "media_in_use",
  });
  await database.sql`
    update media_usages set noted_at = noted_at - interval '11 minutes' where media_id = ${mediaId}`;
  await whole.delete({ workspaceId, mediaId });
});
