import { newId } from "@postrider/shared/ids";
import { describe, expect, test } from "vitest";
import type { ReplyRequest } from "#src/comments/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall } from "#src/publishing/verdict.ts";
import { createYoutubeCommentsConnector } from "#src/youtube/comments/connector.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";
import { addComment, readAllTexts, readPage } from "../comment-fixtures.ts";
import { mp4Media } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("youtube");
const publishing = createYoutubePublishingConnector({ baseUrl: platform.url });
const youtube = createYoutubeCommentsConnector({ baseUrl: platform.url });

interface Owned {
  readonly account: Publication;
  readonly mediaId: string;
}

async function publishVideo(): Promise<Owned> {
  const made = await platform.createPublication(
    [mp4Media(1000)],
    "talk to me",
    ({ accessToken }) => accessToken ?? "",
  );
  const account = { ...made, title: "A video" };
  const outcome = await platform.publish(publishing, account);
  if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not published");
  return { account, mediaId: outcome.externalId };
}

const comment = ({ account, mediaId }: Owned, text: string, given = {}) =>
  addComment(platform, account, { mediaId, text, ...given });
const toReply = (mediaId: string, commentId: string, text = "thank you"): ReplyRequest => ({
  mediaId,
  commentId,
  text,
  requestId: newId(),
});
const hide = ({ account, mediaId }: Owned, commentId: string, hidden = true) =>
  youtube.setHidden(account, { mediaId, commentId, hidden }, signal);
const reconcile = (account: Publication, request: ReplyRequest, given: Partial<UnknownCall> = {}) =>
  youtube.reconcileReply(account, request, unknownCall(given), signal);
const call = (account: Publication, method: string, path: string, body?: string) =>
  fetch(`${platform.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${account.accessToken}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });

/** Lists the texts of the replies to a comment, as readers see them. */
async function listReplies(account: Publication, parentId: string): Promise<readonly string[]> {
  const path = `/youtube/v3/comments?part=snippet&maxResults=100&parentId=${parentId}`;
  const answer = (await (await call(account, "GET", path)).json()) as {
    items: { snippet: { textOriginal: string } }[];
  };
  return answer.items.map(({ snippet }) => snippet.textOriginal);
}

describe("reading YouTube comments", () => {
  test("the YouTube connector lists the comments on a video with author, time and counters", async () => {
    const owned = await publishVideo();
    const createdAt = "2026-11-20T10:00:00.000Z";
    const id = await comment(owned, "nice", { createdAt });
    const { comments, next } = await readPage(youtube, owned.account, owned.mediaId);
    expect(next).toBeUndefined();
    expect(comments).toEqual([
      {
        id,
        text: "nice",
        authorId: expect.stringMatching(/^UC/),
        authorUsername: "eve",
        createdAt: new Date(createdAt),
        likeCount: 0,
        replyCount: 0,
        isOwn: false,
        hidden: false,
      },
    ]);
    const ref = { mediaId: owned.mediaId, commentId: id };
    expect(await youtube.readComment(owned.account, ref, signal)).toEqual({
      kind: "comment",
      comment: { ...comments[0], hidden: null },
    });
  });

  test("the YouTube connector merges published and hidden comments by time, page by page, also when many were written in the same second", async () => {
    const owned = await publishVideo();
    const texts: string[] = [];
    for (let index = 0; index < 24; index += 1) {
      const text = `comment ${index}`;
      const second = String(Math.floor(index / 5)).padStart(2, "0");
      const id = await comment(owned, text, { createdAt: `2026-11-20T10:00:${second}.000Z` });
      if (index % 3 === 0) await hide(owned, id);
      texts.push(text);
    }
    for (const limit of [1, 4, 7, 24, 50]) {
      const pages = await readAllTexts(youtube, owned.account, owned.mediaId, limit);
      expect(pages.flat().toSorted()).toEqual(texts.toSorted());
      const seconds = pages.flat().map((text) => Math.floor(Number(text.split(" ")[1]) / 5));
      expect(seconds).toEqual(seconds.toSorted((one, other) => other - one));
    }
  });

  test("a YouTube comment that is written while a client reads page after page neither repeats nor hides another comment", async () => {
    const owned = await publishVideo();
    for (const minute of [10, 11, 12, 13])
      await comment(owned, `at ${minute}`, { createdAt: `2026-11-20T10:${minute}:00.000Z` });

    const first = await readPage(youtube, owned.account, owned.mediaId, { limit: 2 });
    await comment(owned, "newer");
    const second = await readPage(youtube, owned.account, owned.mediaId, {
      limit: 2,
      after: first.next,
    });
    expect([...first.comments, ...second.comments].map(({ text }) => text)).toEqual([
      "at 13",
      "at 12",
      "at 11",
      "at 10",
    ]);
  });

  test("the YouTube connector reads all comments when YouTube lists them on more than one page", async () => {
    const owned = await publishVideo();
    for (let index = 0; index < 105; index += 1) await comment(owned, `comment ${index}`);
    const pages = await readAllTexts(youtube, owned.account, owned.mediaId, 50);
    expect(pages.map((page) => page.length)).toEqual([50, 50, 5]);
    expect(new Set(pages.flat()).size).toBe(105);
  });

  test("a YouTube video whose comments are turned off has no comments", async () => {
    const { account } = await publishVideo();
    const started = await call(
      account,
      "POST",
      "/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status",
      JSON.stringify({
        snippet: { title: "For kids", description: "" },
        status: { privacyStatus: "public", selfDeclaredMadeForKids: true },
      }),
    );
    const bytes = new Uint8Array(mp4Media(1000).content);
    const put = await fetch(started.headers.get("location") ?? "", { method: "PUT", body: bytes });
    const { id } = (await put.json()) as { id: string };
    expect(await readPage(youtube, account, id)).toEqual({
      kind: "page",
      comments: [],
      next: undefined,
    });
  });

  test("the YouTube connector reports videos of another channel, unknown videos and unknown comments as missing", async () => {
    const owned = await publishVideo();
    const other = await publishVideo();
    const id = await comment(owned, "nice");
    const list = (mediaId: string) =>
      youtube.listComments(other.account, { mediaId, limit: 10, after: undefined }, signal);
    const read = (account: Publication, mediaId: string, commentId: string) =>
      youtube.readComment(account, { mediaId, commentId }, signal);
    expect(await list(owned.mediaId)).toEqual({ kind: "missing" });
    expect(await list("unknown")).toEqual({ kind: "missing" });
    expect(await read(other.account, owned.mediaId, id)).toEqual({ kind: "missing" });
    expect(await read(owned.account, other.mediaId, id)).toEqual({ kind: "missing" });
    expect(await read(owned.account, owned.mediaId, "unknown")).toEqual({ kind: "missing" });
  });

  test.each([
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 403 }, { kind: "refused", code: "permission_missing" }],
    ["status", { status: 429 }, { kind: "retryable", isLimit: true, retryAfterMs: 2000 }],
    ["status", { status: 503 }, { kind: "retryable", code: "platform_unavailable" }],
    ["drop_before", {}, { kind: "retryable", code: "platform_unavailable" }],
    ["garbage_body", {}, { kind: "retryable", code: "platform_unavailable" }],
  ])(
    "the simulated fault %s %j in a call that reads YouTube comments becomes the failure %j",
    async (mode, extra, failure) => {
      const owned = await publishVideo();
      await platform.addFault("comments", mode, extra);
      const query = { mediaId: owned.mediaId, limit: 10, after: undefined };
      expect(await youtube.listComments(owned.account, query, signal)).toMatchObject(failure);
    },
  );
});

describe("replying on YouTube", () => {
  test("a reply that the YouTube connector sends is an answer to the comment", async () => {
    const owned = await publishVideo();
    const id = await comment(owned, "nice");
    const outcome = await youtube.reply(owned.account, toReply(owned.mediaId, id), guard);
    expect(outcome).toMatchObject({
      kind: "published",
      externalId: expect.stringMatching(`${id}\\.`),
      permalink: expect.stringContaining(`watch?v=${owned.mediaId}&lc=${id}.`),
    });
    expect(await listReplies(owned.account, id)).toEqual(["thank you"]);
    const { comments } = await readPage(youtube, owned.account, owned.mediaId);
    expect(comments).toMatchObject([{ id, replyCount: 1 }]);
  });

  test.each(["drop_after_commit", "status_after_commit", "garbage_body"])(
    "a YouTube reply whose answer is lost by the simulated fault %s is found among the replies to the comment",
    async (mode) => {
      const owned = await publishVideo();
      const commentId = await comment(owned, "nice");
      const request = toReply(owned.mediaId, commentId, "a & b <3");
      for (let index = 0; index < 101; index += 1)
        await youtube.reply(owned.account, { ...request, text: `other ${index}` }, guard);

      await platform.addFault("reply", mode);
      expect(await youtube.reply(owned.account, request, guard)).toMatchObject({ kind: "unknown" });
      expect(await reconcile(owned.account, request)).toMatchObject({
        kind: "present",
        externalId: expect.stringMatching(`${commentId}\\.`),
      });
    },
  );

  test("a YouTube reply that is listed late is looked for again, and counts as absent only after three complete reads", async () => {
    const owned = await publishVideo();
    const request = toReply(owned.mediaId, await comment(owned, "nice"));
    await platform.addFault("reply", "drop_after_commit");
    await platform.control("POST", "clock", { advanceMs: 60_000 });
    await youtube.reply(owned.account, request, guard);
    const stale = { platform: "youtube", mode: "stale_reads", delayMs: 60_000 };
    const { id } = await platform.control<{ id: string }>("POST", "faults", stale);
    const past = new Date(Date.now() - 11 * 60_000);
    const late = { calledAt: past, callUntil: past, timeScale: 1 };
    for (const looks of [0, 1, 2])
      expect(await reconcile(owned.account, request, { ...late, looks })).toMatchObject({
        kind: "look_again",
      });

    expect(await reconcile(owned.account, request, { ...late, looks: 3 })).toEqual({
      kind: "absent",
    });
    await platform.control("DELETE", `faults/${id}`);
    expect(await reconcile(owned.account, request, { ...late, looks: 3 })).toMatchObject({
      kind: "present",
    });
  });

  test.each([
    ["drop_before", {}, { kind: "look_again", isIncomplete: true }],
    ["garbage_body", {}, { kind: "look_again", isIncomplete: true }],
    ["status", { status: 429 }, { kind: "look_again", isIncomplete: true }],
    ["status", { status: 401 }, { kind: "look_again", isIncomplete: true }],
    ["status", { status: 403 }, { kind: "cannot_tell" }],
  ])(
    "replies on YouTube that the simulated fault %s %j makes unreadable never prove that a reply is absent",
    async (mode, extra, verdict) => {
      const owned = await publishVideo();
      const request = toReply(owned.mediaId, await comment(owned, "nice"));
      await platform.addFault("comments", mode, extra);
      const past = new Date(Date.now() - 11 * 60_000);
      const last = { calledAt: past, callUntil: past, looks: 3 };
      expect(await reconcile(owned.account, request, last)).toMatchObject(verdict);
    },
  );

  test("the search for a YouTube reply ignores replies that other requests sent and replies with other texts", async () => {
    const owned = await publishVideo();
    const request = toReply(owned.mediaId, await comment(owned, "nice"));
    const other = await youtube.reply(owned.account, request, guard);
    const id = other.kind === "published" ? (other.externalId ?? "") : "";
    const isOwned = () => Promise.resolve(new Set([id]));
    expect(await reconcile(owned.account, request, { isOwned })).toMatchObject({
      kind: "look_again",
    });
    expect(await reconcile(owned.account, { ...request, text: "other" })).toMatchObject({
      kind: "look_again",
    });
    const hasSimilarPost = () => Promise.resolve(true);
    expect(await reconcile(owned.account, request, { hasSimilarPost })).toMatchObject({
      kind: "cannot_tell",
    });
  });

  test("a YouTube reply to a comment that was deleted is refused", async () => {
    const owned = await publishVideo();
    const id = await comment(owned, "nice");
    await call(owned.account, "DELETE", `/youtube/v3/comments?id=${id}`);
    const request = toReply(owned.mediaId, id);
    expect(await youtube.reply(owned.account, request, guard)).toEqual({
      kind: "refused",
      code: "content_rejected",
      message: "the comment no longer exists",
    });
  });

  test.each([
    [{ status: 401 }, { kind: "token_refused" }],
    [{ status: 403 }, { kind: "refused", code: "permission_missing" }],
    [{ status: 429 }, { kind: "unknown", limitedForMs: 2000 }],
  ])(
    "a call that sends a YouTube reply and gets the answer %j has the result %j",
    async (answer, outcome) => {
      const owned = await publishVideo();
      const request = toReply(owned.mediaId, await comment(owned, "nice"));
      await platform.addFault("reply", "status", answer);
      expect(await youtube.reply(owned.account, request, guard)).toMatchObject(outcome);
    },
  );
});

describe("hiding YouTube comments", () => {
  test("a hidden YouTube comment stays in the list, can be read by its id and can be shown again", async () => {
    const owned = await publishVideo();
    const rude = await comment(owned, "rude");
    for (const hidden of [true, true, false, false]) {
      expect(await hide(owned, rude, hidden)).toEqual({ kind: "done" });
      const { comments } = await readPage(youtube, owned.account, owned.mediaId);
      expect(comments).toMatchObject([{ id: rude, hidden }]);
      const ref = { mediaId: owned.mediaId, commentId: rude };
      expect(await youtube.readComment(owned.account, ref, signal)).toMatchObject({
        kind: "comment",
        comment: { text: "rude", hidden: null },
      });
    }
  });

  test.each([
    ["drop_after_commit", {}, { kind: "unknown" }],
    ["garbage_body", {}, { kind: "unknown" }],
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 403 }, { kind: "refused", code: "permission_missing" }],
    ["status", { status: 429 }, { kind: "retryable", isLimit: true }],
  ])(
    "the simulated fault %s %j in a call that hides a YouTube comment has the result %j, and a second call succeeds",
    async (mode, extra, result) => {
      const owned = await publishVideo();
      const rude = await comment(owned, "rude");
      await platform.addFault("hide", mode, extra);
      expect(await hide(owned, rude)).toMatchObject(result);
      expect(await hide(owned, rude)).toEqual({ kind: "done" });
    },
  );

  test("hiding a YouTube comment that does not exist reports it as missing", async () => {
    expect(await hide(await publishVideo(), "unknown")).toEqual({ kind: "missing" });
  });
});

test("the control API of the simulator shows the comments on a YouTube post, its hidden comments and the account's replies", async () => {
  const owned = await publishVideo();
  const commentId = await comment(owned, "nice");
  await youtube.reply(owned.account, toReply(owned.mediaId, commentId), guard);
  await hide(owned, commentId);
  const path = `comments?platform=youtube&account=${owned.account.externalId}`;
  expect(await platform.control("GET", path)).toMatchObject([
    { id: commentId, mediaId: owned.mediaId, author: "eve", hidden: true },
    { mediaId: commentId, author: owned.account.username, text: "thank you", hidden: false },
  ]);
});

test("the YouTube connector reads a page of 50 comments that are as long as YouTube allows", async () => {
  const owned = await publishVideo();
  const text = "🎣".repeat(10_000);
  for (let count = 0; count < 50; count++) await comment(owned, text);
  const { comments } = await readPage(youtube, owned.account, owned.mediaId);
  expect(comments.map((each) => each.text)).toEqual(Array<string>(50).fill(text));
});
