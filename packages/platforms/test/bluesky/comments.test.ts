import { describe, expect, test } from "vitest";
import { createBlueskyCommentsConnector, identifyReply } from "#src/bluesky/comments/connector.ts";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import {
  createCommentDriver,
  type Owned,
  publishOwned,
  testComments,
} from "../comment-contract.ts";
import { readAllTexts, readPage } from "../comment-fixtures.ts";
import { PRESENT, PUBLISHED, refused, retryable, UNKNOWN } from "../results.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("bluesky");
const publishing = createBlueskyPublishingConnector({
  baseUrl: platform.url,
  videoBaseUrl: platform.url,
});
const bluesky = createBlueskyCommentsConnector({ baseUrl: platform.url });
const GATE = "app.bsky.feed.threadgate";

async function publishPost(text = "talk to me"): Promise<Owned> {
  const made = await platform.createPublication([], text);
  return await publishOwned({ platform, publishing }, made);
}

const network = { name: "Bluesky", platform, comments: bluesky, publishing, publishPost };
const { comment, toReply, hide, reconcile } = createCommentDriver(network);

const unavailable = { kind: "retryable", code: "platform_unavailable" };
const refusals = [
  [{ status: 401 }, { kind: "token_refused" }],
  [{ status: 403 }, { kind: "refused", code: "permission_missing" }],
  [{ status: 429 }, { kind: "retryable", code: "rate_limited", isLimit: true, retryAfterMs: 1000 }],
] as const;
testComments(network, {
  listed: {
    authorId: expect.stringMatching(/^did:plc:[a-z2-7]{24}$/) as string,
    authorUsername: "eve.bsky.social",
  },
  unknownIds: ["3lbmissing2222", "../3lbmissing2222"],
  listFaults: [
    ...refusals.map(([answer, failure]) => ["status", answer, failure] as const),
    ["status", { status: 502 }, unavailable],
    ["drop_before", {}, unavailable],
    ["garbage_body", {}, unavailable],
  ],
  replyAnswers: refusals,
  hideFaults: [
    ...["drop_after_commit", "status_after_commit", "garbage_body"].map(
      (mode) => [mode, {}, { kind: "unknown" }] as const,
    ),
    ...refusals.map(([answer, failure]) => ["status", answer, failure] as const),
  ],
});

async function listTexts(text: string): Promise<readonly string[]> {
  return (await platform.visible()).map((post) => post.text).filter((each) => each === text);
}

async function writeGate({ account, mediaId }: Owned, value: object): Promise<void> {
  const answer = await fetch(`${platform.url}/xrpc/com.atproto.repo.putRecord`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${account.accessToken}`,
    },
    body: JSON.stringify({
      repo: account.externalId,
      collection: GATE,
      rkey: mediaId,
      record: {
        $type: GATE,
        post: `at://${account.externalId}/app.bsky.feed.post/${mediaId}`,
        createdAt: "2026-11-20T10:00:00.000Z",
        ...value,
      },
    }),
  });
  expect(answer.status).toBe(200);
}

async function readGate({ account, mediaId }: Owned) {
  const query = `repo=${account.externalId}&collection=${GATE}&rkey=${mediaId}`;
  const answer = await fetch(`${platform.url}/xrpc/com.atproto.repo.getRecord?${query}`);
  return ((await answer.json()) as { value: Record<string, unknown> }).value;
}

describe("reading Bluesky comments", () => {
  test("the Bluesky connector pages through comments from the newest to the oldest, and a comment written meanwhile does not shift later pages", async () => {
    const owned = await publishPost();
    for (const minute of [10, 11, 12, 13, 14])
      await comment(owned, `at ${minute}`, { createdAt: `2026-11-20T10:${minute}:00.000Z` });

    expect(await readAllTexts(bluesky, owned.account, owned.mediaId, 2)).toEqual([
      ["at 14", "at 13"],
      ["at 12", "at 11"],
      ["at 10"],
    ]);
    const { next } = await readPage(bluesky, owned.account, owned.mediaId, { limit: 2 });
    await comment(owned, "newer");
    const second = await readPage(bluesky, owned.account, owned.mediaId, { limit: 2, after: next });
    expect(second.comments.map(({ text }) => text)).toEqual(["at 12", "at 11"]);
  });

  test("the Bluesky connector reads all comments of a thread with 400 long comments", async () => {
    const owned = await publishPost();
    for (let index = 0; index < 400; index += 1) await comment(owned, "🚢".repeat(300));
    const pages = await readAllTexts(bluesky, owned.account, owned.mediaId, 50);
    expect(pages.map((page) => page.length)).toEqual([50, 50, 50, 50, 50, 50, 50, 50]);
  });

  test("the last page of Bluesky comments has no cursor, even if it has as many comments as the request allows", async () => {
    const owned = await publishPost();
    await comment(owned, "first");
    await comment(owned, "second");
    const { next } = await readPage(bluesky, owned.account, owned.mediaId, { limit: 2 });
    expect(next).toBeUndefined();
  });
});

describe("replying on Bluesky", () => {
  test("a Bluesky reply references the comment and the post, and is not itself listed as a comment on the post", async () => {
    const owned = await publishPost();
    const id = await comment(owned, "nice");
    const request = toReply(owned.mediaId, id, "thanks, see https://example.com");
    const { rkey, createdAt } = identifyReply(request.requestId);
    expect(await bluesky.reply(owned.account, request, guard)).toEqual({
      kind: "published",
      externalId: rkey,
      permalink: `https://bsky.app/profile/${owned.account.externalId}/post/${rkey}`,
    });
    const query = `repo=${owned.account.externalId}&collection=app.bsky.feed.post&rkey=${rkey}`;
    const answer = await fetch(`${platform.url}/xrpc/com.atproto.repo.getRecord?${query}`);
    expect(((await answer.json()) as { value: unknown }).value).toMatchObject({
      createdAt: createdAt.toISOString(),
      reply: {
        root: { uri: expect.stringContaining(`${owned.account.externalId}/`) },
        parent: { uri: expect.stringMatching(new RegExp(`/${id}$`)) },
      },
      facets: [{ index: { byteStart: 12, byteEnd: 31 } }],
    });
    const { comments } = await readPage(bluesky, owned.account, owned.mediaId);
    expect(comments).toMatchObject([{ id, replyCount: 1 }]);
  });

  test.each(["drop_after_commit", "status_after_commit", "garbage_body", "commit_late"])(
    "a Bluesky reply whose answer is lost by the simulated fault %s becomes visible once",
    async (mode) => {
      const owned = await publishPost();
      const request = toReply(owned.mediaId, await comment(owned, "nice"));
      await platform.addFault("reply", mode, mode === "commit_late" ? { delayMs: 1000 } : {});
      expect(await bluesky.reply(owned.account, request, guard)).toMatchObject(UNKNOWN);
      const verdict = await reconcile(owned.account, request);
      expect(verdict.kind).toBe(mode === "commit_late" ? "repeat" : "present");
      const { rkey } = identifyReply(request.requestId);
      expect(await bluesky.reply(owned.account, request, guard)).toMatchObject({
        kind: "published",
        externalId: rkey,
      });
      await expect.poll(() => reconcile(owned.account, request)).toMatchObject(PRESENT);
      expect(await listTexts(request.text)).toHaveLength(1);
    },
  );

  test("the outcome of a Bluesky reply that cannot be read yet is resolved by repeating the call", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await comment(owned, "nice"));
    await platform.addFault("reply", "drop_after_commit");
    await bluesky.reply(owned.account, request, guard);
    await platform.addFault("status", "drop_before");
    expect(await reconcile(owned.account, request)).toEqual({ kind: "repeat" });
    expect(await bluesky.reply(owned.account, request, guard)).toMatchObject(PUBLISHED);
    expect(await listTexts(request.text)).toHaveLength(1);
  });

  test("two requests for the same Bluesky reply write two records", async () => {
    const owned = await publishPost();
    const id = await comment(owned, "nice");
    await bluesky.reply(owned.account, toReply(owned.mediaId, id), guard);
    await bluesky.reply(owned.account, toReply(owned.mediaId, id), guard);
    expect(await listTexts("thank you")).toHaveLength(2);
  });

  test("a Bluesky record with other content does not count as a reply that was sent under the same record key", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await comment(owned, "nice"));
    await bluesky.reply(owned.account, request, guard);
    expect(await reconcile(owned.account, { ...request, text: "other" })).toMatchObject(
      refused("internal_error"),
    );
  });

  test("the search for a published Bluesky post ignores a reply with the same text", async () => {
    const owned = await publishPost();
    const commentId = await comment(owned, "nice");
    await bluesky.reply(owned.account, toReply(owned.mediaId, commentId, "thank you"), guard);
    const publication = { ...owned.account, text: "thank you" };
    expect(await publishing.findMatchingPost?.(publication, {}, unknownCall(), signal)).toEqual({
      kind: "absent",
    });
  });

  test("a Bluesky reply to a comment that does not exist is refused without a call that writes", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, "3lbmissing2222");
    expect(await bluesky.reply(owned.account, request, guard)).toMatchObject(
      refused("content_rejected"),
    );
    expect((await platform.calls()).at(-1)).toBe("GET getPostThread");
  });

  test("a Bluesky reply is not sent when too much time has passed since the intent to send it was recorded", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await comment(owned, "nice"));
    const late = { ...guard, mayStillSend: () => false };
    expect(await bluesky.reply(owned.account, request, late)).toEqual({ kind: "not_sent" });
    expect(await listTexts(request.text)).toEqual([]);
  });
});

describe("hiding Bluesky comments", () => {
  const listHidden = async ({ account, mediaId }: Owned) =>
    (await readPage(bluesky, account, mediaId)).comments
      .filter(({ hidden }) => hidden)
      .map(({ id }) => id);

  test("hiding a Bluesky comment keeps the rules of the threadgate and the other hidden replies", async () => {
    const owned = await publishPost();
    const [first, second] = [await comment(owned, "rude"), await comment(owned, "ruder")];
    const allow = [{ $type: `${GATE}#followingRule` }];
    await writeGate(owned, { allow });
    await hide(owned, first);
    await hide(owned, second);
    expect(await readGate(owned)).toMatchObject({
      createdAt: "2026-11-20T10:00:00.000Z",
      allow,
      hiddenReplies: [
        expect.stringMatching(new RegExp(`/${first}$`)),
        expect.stringMatching(new RegExp(`/${second}$`)),
      ],
    });
  });

  test("Bluesky comments that concurrent calls hide are all hidden", async () => {
    const owned = await publishPost();
    const ids: string[] = [];
    for (const text of ["a", "b", "c", "d"]) ids.push(await comment(owned, text));
    const results = await Promise.all(ids.map((id) => hide(owned, id)));
    expect(results).toEqual(ids.map(() => ({ kind: "done" })));
    expect((await listHidden(owned)).toSorted()).toEqual(ids.toSorted());
  });

  test("hiding a Bluesky comment gives up after five writes that are refused because each names an old version of the threadgate", async () => {
    const owned = await publishPost();
    const rude = await comment(owned, "rude");
    await platform.control("POST", "clock", { advanceMs: 60_000 });
    await writeGate(owned, {});
    // The stale reads do not return the threadgate yet, so every write names a wrong version of the
    // threadgate.
    const stale = { platform: "bluesky", mode: "stale_reads", delayMs: 30_000 };
    await platform.control("POST", "faults", stale);
    const before = (await platform.calls()).length;
    expect(await hide(owned, rude)).toMatchObject(retryable("platform_unavailable"));
    expect((await platform.calls()).slice(before)).toEqual([
      "GET getPostThread",
      ...Array.from({ length: 5 }, () => ["GET getRecord", "POST putRecord"]).flat(),
    ]);
  });

  test("the 301st hidden Bluesky comment of a post is refused", async () => {
    const owned = await publishPost();
    const rude = await comment(owned, "rude");
    const hiddenReplies = Array.from(
      { length: 300 },
      (_, index) => `at://did:plc:reader/app.bsky.feed.post/3lbexample${String(index)}`,
    );
    await writeGate(owned, { hiddenReplies });
    expect(await hide(owned, rude)).toMatchObject(refused("platform_quota"));
  });

  test("a reply that was hidden on Bluesky and then deleted by its author can be taken out of the list of hidden replies", async () => {
    const owned = await publishPost();
    await writeGate(owned, { hiddenReplies: ["at://did:plc:reader/app.bsky.feed.post/3lbgone"] });
    expect(await hide(owned, "3lbgone", false)).toEqual({ kind: "done" });
    expect(await readGate(owned)).toMatchObject({ hiddenReplies: [] });
  });
});
