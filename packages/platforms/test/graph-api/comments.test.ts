import { describe, expect, test } from "vitest";
import type { ReplyRequest } from "#src/comments/connector.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { addComment, readAllTexts, readPage } from "../comment-fixtures.ts";
import { callOfLastMinute } from "../graph-driver.ts";
import { startMediaServer } from "../media-server.ts";
import { CANNOT_TELL, INCOMPLETE_LOOK, LOOK_AGAIN, PRESENT, refused, UNKNOWN } from "../results.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { GraphSite, type Login, LOGINS } from "./graph-site.ts";

const MINUTE_MS = 60_000;

const platforms = {
  facebook: await startTestPlatform("facebook"),
  instagram: await startTestPlatform("instagram"),
};
const files = await startMediaServer();
const idOf = (login: Login) => (login === "facebook" ? "facebook" : "instagram");

interface ShownComment {
  readonly id: string;
  readonly mediaId: string;
  readonly text: string;
  readonly hidden: boolean;
}

describe.each(LOGINS)("comments on %s", (login) => {
  const platform = platforms[idOf(login)];
  const site = new GraphSite(login, platform, files);
  const { comments } = site;

  async function createPost() {
    const account = await site.createAccount();
    return { account, mediaId: await site.publish(account) };
  }

  /** Creates a post with one comment of a reader, and the request to reply to it. */
  async function createRequest(text = "Thank you!") {
    const { account, mediaId } = await createPost();
    const commentId = await addComment(platform, account, { mediaId, text: "How much?" });
    const request: ReplyRequest = {
      mediaId,
      commentId,
      text,
      requestId: "01936a5e-0000-7000-8000-000000000001",
    };
    return { account, request };
  }

  const listShown = (account: AccountAccess): Promise<readonly ShownComment[]> =>
    platform.control("GET", `comments?platform=${idOf(login)}&account=${account.externalId}`);
  const listReplies = async (account: AccountAccess, { commentId }: ReplyRequest) =>
    (await listShown(account)).filter(({ mediaId }) => mediaId === commentId);

  test(`the ${login} connector reads a comment with its author, its time and its number of replies`, async () => {
    const { account, request } = await createRequest();
    const { mediaId, commentId } = request;
    await comments.reply(account, request, guard);
    const page = await readPage(comments, account, mediaId);
    expect(page.comments).toMatchObject([
      {
        id: commentId,
        text: "How much?",
        authorId: expect.stringMatching(/^\d+$/) as string,
        authorUsername: "eve",
        likeCount: 0,
        replyCount: 1,
        hidden: false,
      },
    ]);
    expect(Math.abs(Date.now() - (page.comments[0]?.createdAt.getTime() ?? 0))).toBeLessThan(5000);
    const read = await comments.readComment(account, { mediaId, commentId }, signal);
    expect(read).toEqual({ kind: "comment", comment: page.comments[0] });
  });

  test(`the ${login} connector reads a page of 50 comments that are as long as Facebook allows`, async () => {
    const { account, mediaId } = await createPost();
    const text = "🎣".repeat(8_000);
    for (let count = 0; count < 50; count++) await addComment(platform, account, { mediaId, text });
    const { comments: read } = await readPage(comments, account, mediaId);
    expect(read.map((comment) => comment.text)).toEqual(Array<string>(50).fill(text));
  });

  test(`the ${login} connector reports which comments the account itself wrote, in lists of comments and in reads of a single comment`, async () => {
    const { account, mediaId } = await createPost();
    await addComment(platform, account, { mediaId, text: "How much?" });
    const author = account.username;
    const commentId = await addComment(platform, account, { mediaId, text: "Ask here", author });
    const { comments: listed } = await readPage(comments, account, mediaId);
    expect(listed.map(({ isOwn }) => isOwn)).toEqual([true, false]);
    const read = await comments.readComment(account, { mediaId, commentId }, signal);
    expect(read).toMatchObject({ comment: { isOwn: true } });
  });

  test(`the ${login} connector lists 120 comments newest first on three pages, with one call per page`, async () => {
    const { account, mediaId } = await createPost();
    const texts = Array.from({ length: 120 }, (_one, index) => `comment ${index}`);
    for (const text of texts) await addComment(platform, account, { mediaId, text });
    const before = (await platform.calls()).length;
    const pages = await readAllTexts(comments, account, mediaId, 50);
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(pages.flat()).toEqual(texts.toReversed());
    expect((await platform.calls()).length - before).toBe(3);
  });

  test(`the ${login} connector lists the comments on a post that has none as one empty page`, async () => {
    const { account, mediaId } = await createPost();
    expect(await readPage(comments, account, mediaId)).toEqual({
      kind: "page",
      comments: [],
      next: undefined,
    });
  });

  test(`the ${login} connector reports posts of another account, and the comments on these posts, as missing`, async () => {
    const { account: owner, request } = await createRequest();
    const { mediaId, commentId } = request;
    const stranger = await createPost();
    const { account } = stranger;
    const query = { mediaId, limit: 50, after: undefined };
    const missing = { kind: "missing" };
    expect(await comments.listComments(account, query, signal)).toEqual(missing);
    expect(await comments.readComment(account, { mediaId, commentId }, signal)).toEqual(missing);
    const other = { mediaId: stranger.mediaId, commentId };
    expect(await comments.readComment(account, other, signal)).toEqual(missing);
    const hide = { mediaId, commentId, hidden: true };
    expect(await comments.setHidden(account, hide, signal)).toEqual(missing);
    expect(await listShown(owner)).toMatchObject([{ hidden: false }]);
  });

  test(`the ${login} connector reports a reply, and a comment on another post of the account, as missing`, async () => {
    const { account, request } = await createRequest();
    const outcome = await comments.reply(account, request, guard);
    const replyId = (outcome.kind === "published" ? outcome.externalId : undefined) ?? "";
    const { mediaId, commentId } = request;
    const elsewhere = { mediaId: await site.publish(account, "Another post"), commentId };
    expect(await comments.readComment(account, elsewhere, signal)).toEqual({ kind: "missing" });
    const reply = { mediaId, commentId: replyId };
    expect(await comments.readComment(account, reply, signal)).toEqual({ kind: "missing" });
  });

  test(`the ${login} connector replies to a comment and returns the id of the reply`, async () => {
    const { account, request } = await createRequest();
    const outcome = await comments.reply(account, request, guard);
    const [reply, ...others] = await listReplies(account, request);
    expect(others).toEqual([]);
    expect(outcome).toEqual({ kind: "published", externalId: reply?.id, permalink: null });
  });

  test(`the ${login} connector reports a reply to a comment that does not exist as refused`, async () => {
    const { account, request } = await createRequest();
    const gone = { ...request, commentId: "1_2" };
    expect(await comments.reply(account, gone, guard)).toMatchObject(refused("content_rejected"));
  });

  test(`the ${login} connector sends no reply when too much time has passed since the intent to send it was recorded`, async () => {
    const { account, request } = await createRequest();
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await comments.reply(account, request, tooLate)).toEqual({ kind: "not_sent" });
    expect(await listReplies(account, request)).toEqual([]);
  });

  test(`the ${login} connector hides a comment and shows it again, also when it repeats a call`, async () => {
    const { account, request } = await createRequest();
    const { mediaId, commentId } = request;
    for (const hidden of [true, true, false, false]) {
      const change = { mediaId, commentId, hidden };
      expect(await comments.setHidden(account, change, signal)).toEqual({ kind: "done" });
      expect(await listShown(account)).toMatchObject([{ hidden }]);
      const read = await comments.readComment(account, { mediaId, commentId }, signal);
      expect(read).toMatchObject({ kind: "comment", comment: { hidden } });
    }
  });

  test(`the ${login} connector does not hide the account's own comment`, async () => {
    const { account, mediaId } = await createPost();
    const { username: author } = account;
    const commentId = await addComment(platform, account, { mediaId, text: "First!", author });
    const change = { mediaId, commentId, hidden: true };
    expect(await comments.setHidden(account, change, signal)).toMatchObject(
      refused("content_rejected"),
    );
  });

  test(`a lost answer of ${login} to hiding a comment leaves the outcome unknown`, async () => {
    const { account, request } = await createRequest();
    const { mediaId, commentId } = request;
    await platform.addFault("hide", "drop_after_commit");
    const change = { mediaId, commentId, hidden: true };
    expect(await comments.setHidden(account, change, signal)).toMatchObject(UNKNOWN);
    expect(await comments.setHidden(account, change, signal)).toEqual({ kind: "done" });
    expect(await listShown(account)).toMatchObject([{ hidden: true }]);
  });

  describe.each([
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "permission_missing" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true, retryAfterMs: 1800 }],
    [500, { kind: "retryable", code: "platform_unavailable" }],
  ])("HTTP %i", (status, failure) => {
    test(`the ${login} connector reports a failure when ${login} answers a call that lists comments with HTTP ${status}`, async () => {
      const { account, request } = await createRequest();
      await platform.addFault("comments", "status", { status });
      const query = { mediaId: request.mediaId, limit: 50, after: undefined };
      expect(await comments.listComments(account, query, signal)).toMatchObject(failure);
    });

    test(`the ${login} connector does not report a reply as sent when ${login} answers the call that replies with HTTP ${status}`, async () => {
      const { account, request } = await createRequest();
      await platform.addFault("reply", "status", { status });
      const expected = status === 429 || status === 500 ? { kind: "unknown" } : failure;
      expect(await comments.reply(account, request, guard)).toMatchObject(expected);
      expect(await listReplies(account, request)).toEqual([]);
    });
  });

  describe("replies with an unknown outcome", () => {
    const reconcile = (
      account: AccountAccess,
      request: ReplyRequest,
      given: Partial<UnknownCall> = {},
    ): Promise<Verdict> =>
      comments.reconcileReply(account, request, callOfLastMinute(given), signal);

    /**
     * Searches for the reply until the connector decides; instead of waiting, the platform's clock
     * is advanced.
     */
    async function judge(account: AccountAccess, request: ReplyRequest): Promise<Verdict> {
      let looks = 0;
      let waitedMs = 0;
      for (;;) {
        const now = new Date(Date.now() + waitedMs);
        const verdict = await reconcile(account, request, { looks, now });
        if (verdict.kind !== "look_again") return verdict;
        looks += verdict.isIncomplete === true ? 0 : 1;
        waitedMs += verdict.afterMs;
        await platform.control("POST", "clock", { advanceMs: Math.ceil(verdict.afterMs) });
      }
    }

    test.each([
      ["drop_before", {}, 2],
      ["drop_after_commit", {}, 1],
      ["commit_late", { delayMs: 1 }, 1],
      ["garbage_body", {}, 1],
      ["status_after_commit", { status: 500 }, 1],
      ["status_after_commit", { status: 429 }, 1],
      ["status", { status: 500 }, 2],
    ])(
      `a comment on ${login} has exactly one reply after the simulated fault %s %o, with %i calls that reply`,
      async (mode, extra, calls) => {
        const { account, request } = await createRequest();
        await platform.addFault("reply", mode, extra);
        let sent = 0;
        let verdict: Verdict = { kind: "absent" };
        while (verdict.kind === "absent") {
          await comments.reply(account, request, guard);
          sent += 1;
          verdict = await judge(account, request);
        }
        const [reply, ...others] = await listReplies(account, request);
        expect(others).toEqual([]);
        expect(verdict).toEqual({ kind: "present", externalId: reply?.id, permalink: null });
        expect(sent).toBe(calls);
      },
    );

    test(`a reply on ${login} is found as soon as ${login} no longer returns an outdated list of replies`, async () => {
      const { account, request } = await createRequest();
      await platform.control("POST", "clock", { advanceMs: 5 * MINUTE_MS });
      await platform.control("POST", "faults", {
        platform: idOf(login),
        mode: "stale_reads",
        delayMs: 2 * MINUTE_MS,
      });
      await platform.addFault("reply", "drop_after_commit");
      await comments.reply(account, request, guard);
      const now = new Date();
      expect(await reconcile(account, request, { now })).toMatchObject(LOOK_AGAIN);
      expect(await judge(account, request)).toMatchObject(PRESENT);
    });

    test(`a reply on ${login} counts as absent only after complete searches at all scheduled times`, async () => {
      const { account, request } = await createRequest();
      const after = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS);
      const look = (looks: number, minutes: number) =>
        reconcile(account, request, { looks, now: after(minutes) });
      expect(await look(0, 60)).toMatchObject(LOOK_AGAIN);
      expect(await look(2, 60)).toMatchObject(LOOK_AGAIN);
      expect(await look(3, 9)).toMatchObject(LOOK_AGAIN);
      expect(await look(3, 60)).toEqual({ kind: "absent" });
    });

    test.each([401, 429, 500])(
      `a reply on ${login} does not count as absent when ${login} answers the call that lists replies with HTTP %i`,
      async (status) => {
        const { account, request } = await createRequest();
        await platform.addFault("comments", "status", { status });
        const now = new Date(Date.now() + 60 * MINUTE_MS);
        expect(await reconcile(account, request, { looks: 9, now })).toMatchObject(INCOMPLETE_LOOK);
      },
    );

    test(`the outcome of a reply stays open when ${login} refuses to list the replies`, async () => {
      const { account, request } = await createRequest();
      await platform.addFault("comments", "status", { status: 403 });
      expect(await reconcile(account, request)).toMatchObject(CANNOT_TELL);
    });

    test(`a reply on ${login} does not count as absent when only the first of two pages of replies was read`, async () => {
      const { account, request } = await createRequest();
      for (let index = 0; index < 51; index += 1)
        await comments.reply(account, { ...request, text: `reply ${index}` }, guard);
      const oldest = { ...request, text: "reply 0" };
      expect(await reconcile(account, oldest)).toMatchObject(PRESENT);
      await platform.addFault("comments", "delay", { delayMs: 1 });
      await platform.addFault("comments", "status", { status: 500 });
      const now = new Date(Date.now() + 60 * MINUTE_MS);
      expect(await reconcile(account, oldest, { looks: 9, now })).toMatchObject(INCOMPLETE_LOOK);
    });

    test(`the search for a reply on ${login} ignores replies that other requests sent, replies of readers and replies of an hour ago`, async () => {
      const { account, request } = await createRequest();
      const { commentId: mediaId, text } = request;
      await addReaderReply(account, { mediaId, text });
      const outcome = await comments.reply(account, request, guard);
      const id = (outcome.kind === "published" ? outcome.externalId : undefined) ?? "";
      const isOwned = (ids: readonly string[]) => Promise.resolve(new Set(ids));
      expect(await reconcile(account, request, { isOwned })).toMatchObject(LOOK_AGAIN);
      const present = { kind: "present", externalId: id, permalink: null };
      expect(await reconcile(account, request)).toEqual(present);
      const calledAt = new Date(Date.now() + 60 * MINUTE_MS);
      const later = { calledAt, callUntil: calledAt, now: calledAt };
      expect(await reconcile(account, request, later)).toMatchObject(LOOK_AGAIN);
    });

    test(`the outcome of a reply on ${login} stays open when another reply with the same text has an unknown outcome`, async () => {
      const { account, request } = await createRequest();
      await comments.reply(account, request, guard);
      const hasSimilarPost = () => Promise.resolve(true);
      expect(await reconcile(account, request, { hasSimilarPost })).toMatchObject(CANNOT_TELL);
      await comments.reply(account, request, guard);
      expect(await reconcile(account, request)).toMatchObject(CANNOT_TELL);
    });

    /** Lets another reader answer a comment of a reader. */
    const addReaderReply = (account: AccountAccess, reply: { mediaId: string; text: string }) =>
      addComment(platform, account, { ...reply, author: "mallory" });
  });
});

describe("comments on instagram that are hidden", () => {
  const platform = platforms.instagram;
  const site = new GraphSite("instagram", platform, files);

  test("Instagram leaves a hidden comment out of its list of comments, and the connector still reads it by its id and shows it again", async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const commentId = await addComment(platform, account, { mediaId, text: "Spam" });
    await site.comments.setHidden(account, { mediaId, commentId, hidden: true }, signal);
    expect((await readPage(site.comments, account, mediaId)).comments).toEqual([]);
    const read = await site.comments.readComment(account, { mediaId, commentId }, signal);
    expect(read).toMatchObject({ kind: "comment", comment: { hidden: true } });
    await site.comments.setHidden(account, { mediaId, commentId, hidden: false }, signal);
    expect((await readPage(site.comments, account, mediaId)).comments).toHaveLength(1);
  });

  test("the Instagram connector reads comments by their ids, also hidden ones, and leaves out unknown ids and comments on other posts", async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const hidden = await addComment(platform, account, { mediaId, text: "Spam" });
    const shown = await addComment(platform, account, { mediaId, text: "Nice" });
    const change = { mediaId, commentId: hidden, hidden: true };
    await site.comments.setHidden(account, change, signal);
    const elsewhere = { mediaId: await site.publish(account, "Another post"), text: "Other" };
    const other = await addComment(platform, account, elsewhere);
    const read = async (commentIds: readonly string[]) =>
      await site.comments.readComments?.(account, { mediaId, commentIds }, signal);

    const comments = [
      { id: hidden, text: "Spam", hidden: true },
      { id: shown, text: "Nice", hidden: false },
    ];
    expect(await read([hidden, shown])).toMatchObject({ kind: "comments", comments });
    expect(await read([hidden, "17", shown, other])).toMatchObject({ kind: "comments", comments });
    expect(await read([other])).toEqual({ kind: "comments", comments: [] });
  });

  test("the Instagram connector reports a reply to a hidden comment as refused", async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const commentId = await addComment(platform, account, { mediaId, text: "Spam" });
    await site.comments.setHidden(account, { mediaId, commentId, hidden: true }, signal);
    const requestId = "01936a5e-0000-7000-8000-000000000001";
    const request = { mediaId, commentId, text: "Please stop", requestId };
    expect(await site.comments.reply(account, request, guard)).toMatchObject(
      refused("content_rejected"),
    );
  });
});

test("the Facebook connector keeps hidden comments in the list", async () => {
  const site = new GraphSite("facebook", platforms.facebook, files);
  const account = await site.createAccount();
  const mediaId = await site.publish(account);
  const commentId = await addComment(platforms.facebook, account, { mediaId, text: "Spam" });
  await site.comments.setHidden(account, { mediaId, commentId, hidden: true }, signal);
  expect((await readPage(site.comments, account, mediaId)).comments).toMatchObject([
    { id: commentId, hidden: true },
  ]);
});
