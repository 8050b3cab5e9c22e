import { newId } from "@postrider/shared/ids";
import { describe, expect, test } from "vitest";
import type { ReplyRequest } from "#src/comments/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall } from "#src/publishing/verdict.ts";
import { createXCommentsConnector } from "#src/x/comments/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { addComment, readAllTexts, readPage } from "../comment-fixtures.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("x");
const settings = { baseUrl: platform.url, mayResend: true };
const publishing = createXPublishingConnector(settings);
const x = createXCommentsConnector(settings);
const DAY_MS = 86_400_000;

interface Owned {
  readonly account: Publication;
  readonly mediaId: string;
}

async function publishPost(text = "talk to me"): Promise<Owned> {
  const account = await platform.createPublication(
    [],
    text,
    ({ accessToken }) => accessToken ?? "",
  );
  const outcome = await platform.publish(publishing, account);
  if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not published");
  return { account, mediaId: outcome.externalId };
}

const comment = ({ account, mediaId }: Owned, text: string, given = {}) =>
  addComment(platform, account, { mediaId, text, ...given });
/** Adds a comment that mentions the account, so that X lets the account reply. */
const summon = (owned: Owned) => comment(owned, `hey @${owned.account.username}`);
const toReply = (mediaId: string, commentId: string, text = "thank you"): ReplyRequest => ({
  mediaId,
  commentId,
  text,
  requestId: newId(),
});
const hide = ({ account, mediaId }: Owned, commentId: string, hidden = true) =>
  x.setHidden(account, { mediaId, commentId, hidden }, signal);
const reconcile = (account: Publication, request: ReplyRequest, given: Partial<UnknownCall> = {}) =>
  x.reconcileReply(account, request, unknownCall(given), signal);

async function countReplies(text: string): Promise<number> {
  return (await platform.visible()).filter((post) => post.text === text).length;
}

describe("reading X comments", () => {
  test("the X connector lists the direct replies to a post with author, time and counters", async () => {
    const owned = await publishPost();
    const id = await comment(owned, "1 < 2 & see https://example.com/a");
    const { comments, next } = await readPage(x, owned.account, owned.mediaId);
    expect(next).toBeUndefined();
    expect(comments).toEqual([
      {
        id,
        text: "1 < 2 & see https://example.com/a",
        authorId: expect.stringMatching(/^\d+$/),
        authorUsername: "eve",
        createdAt: expect.any(Date),
        likeCount: 0,
        replyCount: 0,
        isOwn: false,
        hidden: null,
      },
    ]);
    const ref = { mediaId: owned.mediaId, commentId: id };
    expect(await x.readComment(owned.account, ref, signal)).toEqual({
      kind: "comment",
      comment: comments[0],
    });
  });

  test("the X connector does not list replies to comments as comments on the post", async () => {
    const owned = await publishPost();
    const id = await summon(owned);
    await x.reply(owned.account, toReply(owned.mediaId, id), guard);
    const { comments } = await readPage(x, owned.account, owned.mediaId);
    expect(comments.map((each) => each.id)).toEqual([id]);
  });

  test("the X connector pages through comments from the newest to the oldest, with pages that are smaller and larger than X's own", async () => {
    const owned = await publishPost();
    const texts = Array.from({ length: 23 }, (_, index) => `comment ${index + 1}`);
    for (const text of texts) await comment(owned, text);
    const newestFirst = texts.toReversed();
    for (const limit of [4, 12, 50]) {
      const pages = await readAllTexts(x, owned.account, owned.mediaId, limit);
      expect(pages.flat()).toEqual(newestFirst);
      expect(pages).toHaveLength(Math.ceil(23 / limit));
    }
  });

  test("the X connector lists no comments that are older than seven days, but reads each of them by its id", async () => {
    const owned = await publishPost();
    const commentId = await comment(owned, "early");
    await platform.control("POST", "clock", { advanceMs: 7 * DAY_MS + 1000 });
    // X's access tokens last two hours, so the account needs a new one.
    const { credentials } = await platform.createAccount({ username: owned.account.username });
    const account = { ...owned.account, accessToken: credentials.accessToken ?? "" };
    expect((await readPage(x, account, owned.mediaId)).comments).toEqual([]);
    expect(
      await x.readComment(account, { mediaId: owned.mediaId, commentId }, signal),
    ).toMatchObject({ kind: "comment", comment: { text: "early" } });
  });

  test("the X connector reports posts of another account, deleted posts and unknown ids as missing", async () => {
    const owned = await publishPost();
    const other = await publishPost("mine");
    const id = await comment(owned, "nice");
    const list = (mediaId: string) =>
      x.listComments(other.account, { mediaId, limit: 10, after: undefined }, signal);
    const read = (mediaId: string, commentId: string) =>
      x.readComment(other.account, { mediaId, commentId }, signal);
    expect(await list(owned.mediaId)).toEqual({ kind: "missing" });
    expect(await list("12345")).toEqual({ kind: "missing" });
    expect(await list("x/../search")).toEqual({ kind: "missing" });
    expect(await read(owned.mediaId, id)).toEqual({ kind: "missing" });
    expect(await read(other.mediaId, id)).toEqual({ kind: "missing" });
    expect(await read(other.mediaId, "12345")).toEqual({ kind: "missing" });
    await publishing.delete(other.account, other.mediaId, signal);
    expect(await list(other.mediaId)).toEqual({ kind: "missing" });
  });

  test.each([
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 402 }, { kind: "refused", code: "app_configuration" }],
    ["status", { status: 429 }, { kind: "retryable", code: "rate_limited", isLimit: true }],
    ["status", { status: 503 }, { kind: "retryable", code: "platform_unavailable" }],
    ["drop_before", {}, { kind: "retryable", code: "platform_unavailable" }],
    ["garbage_body", {}, { kind: "retryable", code: "platform_unavailable" }],
  ])(
    "the simulated fault %s %j in a call that reads X comments becomes the failure %j",
    async (mode, extra, failure) => {
      const owned = await publishPost();
      await platform.addFault("comments", mode, extra);
      const query = { mediaId: owned.mediaId, limit: 10, after: undefined };
      expect(await x.listComments(owned.account, query, signal)).toMatchObject(failure);
    },
  );
});

describe("replying on X", () => {
  test("a reply that the X connector sends is an answer to the comment", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await summon(owned));
    const outcome = await x.reply(owned.account, request, guard);
    expect(outcome).toMatchObject({
      kind: "published",
      externalId: expect.stringMatching(/^\d+$/),
      permalink: expect.stringContaining(`https://x.com/${owned.account.username}/status/`),
    });
    expect(await countReplies(request.text)).toBe(1);
  });

  test("an X reply to an author who did not mention the account is refused with the reason", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await comment(owned, "nice"));
    expect(await x.reply(owned.account, request, guard)).toMatchObject({
      kind: "refused",
      code: "content_rejected",
      message: expect.stringMatching(/^X lets apps reply only to authors who mentioned/),
    });
    expect(await countReplies(request.text)).toBe(0);
  });

  test.each(["drop_after_commit", "status_after_commit", "garbage_body"])(
    "an X reply whose answer is lost by the simulated fault %s is found in the account's timeline",
    async (mode) => {
      const owned = await publishPost();
      const request = toReply(
        owned.mediaId,
        await summon(owned),
        "thanks, see https://example.com",
      );
      await platform.addFault("reply", mode);
      expect(await x.reply(owned.account, request, guard)).toMatchObject({ kind: "unknown" });
      const [, reply] = await platform.visible();
      expect(await reconcile(owned.account, request)).toMatchObject({
        kind: "present",
        externalId: reply?.id,
      });
    },
  );

  test("an X reply that X lists late counts as absent only after three complete reads", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await summon(owned));
    const past = new Date(Date.now() - 11 * 60_000);
    const call = { calledAt: past, callUntil: past, timeScale: 1 };
    expect(await reconcile(owned.account, request, call)).toMatchObject({ kind: "look_again" });
    expect(await reconcile(owned.account, request, { ...call, looks: 2 })).toMatchObject({
      kind: "look_again",
    });
    expect(await reconcile(owned.account, request, { ...call, looks: 3 })).toEqual({
      kind: "absent",
    });
    const resending = createXCommentsConnector({ ...settings, mayResend: false });
    const last = unknownCall({ ...call, looks: 3 });
    expect(await resending.reconcileReply(owned.account, request, last, signal)).toMatchObject({
      kind: "cannot_tell",
    });
  });

  test("an X reply that a stale timeline does not show yet is looked for again and found", async () => {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await summon(owned));
    await platform.addFault("reply", "drop_after_commit");
    await x.reply(owned.account, request, guard);
    const stale = { platform: "x", mode: "stale_reads", delayMs: 60_000 };
    const { id } = await platform.control<{ id: string }>("POST", "faults", stale);
    expect(await reconcile(owned.account, request)).toMatchObject({ kind: "look_again" });
    await platform.control("DELETE", `faults/${id}`);
    expect(await reconcile(owned.account, request, { looks: 1 })).toMatchObject({
      kind: "present",
    });
  });

  test.each([
    ["drop_before", {}, { kind: "look_again", isIncomplete: true }],
    ["garbage_body", {}, { kind: "look_again", isIncomplete: true }],
    ["status", { status: 429 }, { kind: "look_again", isIncomplete: true }],
    ["status", { status: 401 }, { kind: "cannot_tell" }],
  ])(
    "a timeline on X that the simulated fault %s %j makes unreadable never proves that a reply is absent",
    async (mode, extra, verdict) => {
      const owned = await publishPost();
      const request = toReply(owned.mediaId, await summon(owned));
      await platform.addFault("status", mode, extra);
      const past = new Date(Date.now() - 11 * 60_000);
      const call = { calledAt: past, callUntil: past, looks: 3 };
      expect(await reconcile(owned.account, request, call)).toMatchObject(verdict);
    },
  );

  test("the search for an X reply ignores replies that other requests sent, replies to other comments and replies with other texts", async () => {
    const owned = await publishPost();
    const commentId = await summon(owned);
    const request = toReply(owned.mediaId, commentId);
    const other = await x.reply(owned.account, request, guard);
    const id = other.kind === "published" ? (other.externalId ?? "") : "";
    const isOwned = () => Promise.resolve(new Set([id]));
    expect(await reconcile(owned.account, request, { isOwned })).toMatchObject({
      kind: "look_again",
    });
    const elsewhere = { ...request, commentId: await summon(owned) };
    expect(await reconcile(owned.account, elsewhere)).toMatchObject({ kind: "look_again" });
    const different = { ...request, text: "other" };
    expect(await reconcile(owned.account, different)).toMatchObject({ kind: "look_again" });
    const hasSimilarPost = () => Promise.resolve(true);
    expect(await reconcile(owned.account, request, { hasSimilarPost })).toMatchObject({
      kind: "cannot_tell",
    });
  });

  test("the search for a published X post ignores a reply with the same text", async () => {
    const owned = await publishPost();
    await x.reply(owned.account, toReply(owned.mediaId, await summon(owned), "thank you"), guard);
    const publication = { ...owned.account, text: "thank you" };
    const call = unknownCall();
    expect(await publishing.reconcile(publication, {}, call, signal)).toMatchObject({
      kind: "look_again",
    });
    expect(await publishing.findMatchingPost?.(publication, {}, call, signal)).toMatchObject({
      kind: "look_again",
    });
  });

  test("an X reply to which X added the author's name in front is recognized", async () => {
    const owned = await publishPost();
    const commentId = await summon(owned);
    await x.reply(owned.account, toReply(owned.mediaId, commentId, "@eve thank you"), guard);
    expect(await reconcile(owned.account, toReply(owned.mediaId, commentId))).toMatchObject({
      kind: "present",
    });
  });

  test.each([
    [{ status: 401 }, { kind: "token_refused" }],
    [{ status: 402 }, { kind: "refused", code: "app_configuration" }],
    [{ status: 429 }, { kind: "unknown", limitedForMs: expect.any(Number) }],
  ])(
    "a call that sends an X reply and gets the answer %j has the result %j",
    async (answer, outcome) => {
      const owned = await publishPost();
      const request = toReply(owned.mediaId, await summon(owned));
      await platform.addFault("reply", "status", answer);
      expect(await x.reply(owned.account, request, guard)).toMatchObject(outcome);
    },
  );
});

describe("hiding X comments", () => {
  test("an X comment is hidden and shown again, repeatedly", async () => {
    const owned = await publishPost();
    const rude = await comment(owned, "rude");
    for (const hidden of [true, true, false, false])
      expect(await hide(owned, rude, hidden)).toEqual({ kind: "done" });

    expect((await readPage(x, owned.account, owned.mediaId)).comments).toHaveLength(1);
  });

  test("X refuses to hide a comment in the conversation of another account", async () => {
    const owned = await publishPost();
    const other = await publishPost("mine");
    expect(await hide(other, await comment(owned, "rude"))).toMatchObject({
      kind: "refused",
      code: "content_rejected",
    });
    expect(await hide(owned, "not-an-id")).toEqual({ kind: "missing" });
  });

  test.each([
    ["drop_after_commit", {}, { kind: "unknown" }],
    ["garbage_body", {}, { kind: "unknown" }],
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 404 }, { kind: "missing" }],
    ["status", { status: 429 }, { kind: "retryable", isLimit: true }],
  ])(
    "the simulated fault %s %j in a call that hides an X comment has the result %j, and a second call succeeds",
    async (mode, extra, result) => {
      const owned = await publishPost();
      const rude = await comment(owned, "rude");
      await platform.addFault("hide", mode, extra);
      expect(await hide(owned, rude)).toMatchObject(result);
      expect(await hide(owned, rude)).toEqual({ kind: "done" });
    },
  );
});

test("the control API of the simulator shows the comments on an X post, its hidden comments and the account's replies", async () => {
  const owned = await publishPost();
  const commentId = await summon(owned);
  await x.reply(owned.account, toReply(owned.mediaId, commentId), guard);
  await hide(owned, commentId);
  const path = `comments?platform=x&account=${owned.account.externalId}`;
  expect(await platform.control("GET", path)).toMatchObject([
    { id: commentId, mediaId: owned.mediaId, author: "eve", hidden: true },
    { mediaId: commentId, author: owned.account.username, text: "thank you", hidden: false },
  ]);
});

test("the X connector reads a page of 50 comments that are as long as X allows", async () => {
  const owned = await publishPost();
  const text = "🎣".repeat(12_500);
  for (let count = 0; count < 50; count++) await comment(owned, text);
  const { comments } = await readPage(x, owned.account, owned.mediaId);
  expect(comments.map((each) => each.text)).toEqual(Array<string>(50).fill(text));
});
