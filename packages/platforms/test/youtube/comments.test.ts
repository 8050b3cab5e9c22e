import { describe, expect, test } from "vitest";
import type { Publication } from "#src/publishing/publication.ts";
import { createYoutubeCommentsConnector } from "#src/youtube/comments/connector.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";
import {
  type CommentNetwork,
  createCommentDriver,
  type Owned,
  publishOwned,
  testComments,
  testSearchForReplies,
} from "../comment-contract.ts";
import { readAllTexts, readPage } from "../comment-fixtures.ts";
import { mp4Media } from "../test-media.ts";
import { guard, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("youtube");
const publishing = createYoutubePublishingConnector({ baseUrl: platform.url });
const youtube = createYoutubeCommentsConnector({ baseUrl: platform.url });

async function publishVideo(text = "talk to me"): Promise<Owned> {
  const made = await platform.createPublication([mp4Media(1000)], text);
  return await publishOwned({ platform, publishing }, { ...made, title: "A video" });
}

const network: CommentNetwork = {
  name: "YouTube",
  platform,
  comments: youtube,
  publishing,
  publishPost: publishVideo,
};
const { comment, toReply, hide } = createCommentDriver(network);

const unavailable = { kind: "retryable", code: "platform_unavailable" };
const forbidden = { kind: "refused", code: "permission_missing" };
testComments(network, {
  listed: { authorId: expect.stringMatching(/^UC/) as string, authorUsername: "eve" },
  readHidden: null,
  units: 3,
  unknownIds: ["unknown"],
  listFaults: [
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 403 }, forbidden],
    ["status", { status: 429 }, { kind: "retryable", isLimit: true, retryAfterMs: 2000 }],
    ["status", { status: 503 }, unavailable],
    ["drop_before", {}, unavailable],
    ["garbage_body", {}, unavailable],
  ],
  replyAnswers: [
    [{ status: 401 }, { kind: "token_refused" }],
    [{ status: 403 }, forbidden],
    [{ status: 429 }, { kind: "unknown", limitedForMs: 2000 }],
  ],
  hideFaults: [
    ["drop_after_commit", {}, { kind: "unknown" }],
    ["garbage_body", {}, { kind: "unknown" }],
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 403 }, forbidden],
    ["status", { status: 429 }, { kind: "retryable", isLimit: true }],
  ],
  longestComment: 10_000,
});

const incomplete = { kind: "look_again", isIncomplete: true };
testSearchForReplies(network, {
  listOperation: "comments",
  unreadable: [
    ["drop_before", {}, incomplete],
    ["garbage_body", {}, incomplete],
    ["status", { status: 429 }, incomplete],
    ["status", { status: 401 }, incomplete],
    ["status", { status: 403 }, { kind: "cannot_tell" }],
  ],
  text: "a & b <3",
  // More than YouTube lists on one page.
  addOthers: async (account, request) => {
    for (let index = 0; index < 101; index += 1)
      await youtube.reply(account, { ...request, text: `other ${index}` }, guard);
  },
});

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
});

describe("hiding YouTube comments", () => {
  test("hiding a YouTube comment that does not exist reports it as missing", async () => {
    expect(await hide(await publishVideo(), "unknown")).toEqual({ kind: "missing" });
  });
});
