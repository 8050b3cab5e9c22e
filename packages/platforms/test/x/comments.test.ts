import { describe, expect, test } from "vitest";
import { createXCommentsConnector } from "#src/x/comments/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import {
  type CommentNetwork,
  createCommentDriver,
  type Owned,
  publishOwned,
  testComments,
  testSearchForReplies,
} from "../comment-contract.ts";
import { readAllTexts, readPage } from "../comment-fixtures.ts";
import { CANNOT_TELL, LOOK_AGAIN, PRESENT, refused } from "../results.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("x");
const settings = { baseUrl: platform.url, mayResend: true };
const publishing = createXPublishingConnector(settings);
const x = createXCommentsConnector(settings);
const DAY_MS = 86_400_000;

async function publishPost(text = "talk to me"): Promise<Owned> {
  const made = await platform.createPublication([], text);
  return await publishOwned({ platform, publishing }, made);
}

const network: CommentNetwork = {
  name: "X",
  platform,
  comments: x,
  publishing,
  publishPost,
  // X lets the account reply to authors who mention it.
  askText: ({ username }) => `hey @${username}`,
};
const { comment, ask: summon, toReply, hide, reconcile } = createCommentDriver(network);

const unavailable = { kind: "retryable", code: "platform_unavailable" };
const limited = { kind: "retryable", isLimit: true };
testComments(network, {
  units: 2,
  listed: {
    authorId: expect.stringMatching(/^\d+$/) as string,
    authorUsername: "eve",
    hidden: null,
  },
  unknownIds: ["12345", "x/../search"],
  listFaults: [
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 402 }, { kind: "refused", code: "app_configuration" }],
    ["status", { status: 429 }, { ...limited, code: "rate_limited" }],
    ["status", { status: 503 }, unavailable],
    ["drop_before", {}, unavailable],
    ["garbage_body", {}, unavailable],
  ],
  replyAnswers: [
    [{ status: 401 }, { kind: "token_refused" }],
    [{ status: 402 }, { kind: "refused", code: "app_configuration" }],
    [{ status: 429 }, { kind: "unknown", limitedForMs: expect.any(Number) as number }],
  ],
  hideFaults: [
    ["drop_after_commit", {}, { kind: "unknown" }],
    ["garbage_body", {}, { kind: "unknown" }],
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 404 }, { kind: "missing" }],
    ["status", { status: 429 }, limited],
  ],
  longestComment: 12_500,
});

const incomplete = { kind: "look_again", isIncomplete: true };
testSearchForReplies(network, {
  listOperation: "status",
  unreadable: [
    ["drop_before", {}, incomplete],
    ["garbage_body", {}, incomplete],
    ["status", { status: 429 }, incomplete],
    ["status", { status: 401 }, { kind: "cannot_tell" }],
  ],
  text: "thanks, see https://example.com",
});

async function countReplies(text: string): Promise<number> {
  return (await platform.visible()).filter((post) => post.text === text).length;
}

test("an X reply that was not found is not absent when posts must not be sent again", async () => {
  const owned = await publishPost();
  const request = toReply(owned.mediaId, await summon(owned));
  const once = createXCommentsConnector({ ...settings, mayResend: false });
  const past = new Date(Date.now() - 11 * 60_000);
  const last = unknownCall({ calledAt: past, callUntil: past, timeScale: 1, looks: 3 });
  expect(await once.reconcileReply(owned.account, request, last, signal)).toMatchObject(
    CANNOT_TELL,
  );
});

describe("reading X comments", () => {
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

  test("the search for a published X post ignores a reply with the same text", async () => {
    const owned = await publishPost();
    await x.reply(owned.account, toReply(owned.mediaId, await summon(owned), "thank you"), guard);
    const publication = { ...owned.account, text: "thank you" };
    const call = unknownCall();
    expect(await publishing.reconcile(publication, {}, call, signal)).toMatchObject(LOOK_AGAIN);
    expect(await publishing.findMatchingPost?.(publication, {}, call, signal)).toMatchObject(
      LOOK_AGAIN,
    );
  });

  test("an X reply to which X added the author's name in front is recognized", async () => {
    const owned = await publishPost();
    const commentId = await summon(owned);
    await x.reply(owned.account, toReply(owned.mediaId, commentId, "@eve thank you"), guard);
    expect(await reconcile(owned.account, toReply(owned.mediaId, commentId))).toMatchObject(
      PRESENT,
    );
  });
});

describe("hiding X comments", () => {
  test("X refuses to hide a comment in the conversation of another account", async () => {
    const owned = await publishPost();
    const other = await publishPost("mine");
    expect(await hide(other, await comment(owned, "rude"))).toMatchObject(
      refused("content_rejected"),
    );
    expect(await hide(owned, "not-an-id")).toEqual({ kind: "missing" });
  });
});
