import { describe, expect, test } from "vitest";
import type { PrivateReplyRequest } from "#src/private-replies/connector.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { addComment } from "../comment-fixtures.ts";
import { callOfLastMinute } from "../graph-driver.ts";
import { startMediaServer } from "../media-server.ts";
import { PRESENT, PUBLISHED, refused, UNKNOWN } from "../results.ts";
import { mp4Media } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { GraphSite, LOGINS } from "./graph-site.ts";

const DAY_MS = 86_400_000;

const platforms = {
  facebook: await startTestPlatform("facebook"),
  instagram: await startTestPlatform("instagram"),
};
const files = await startMediaServer();

interface SentReply {
  readonly commentId: string;
  readonly text: string;
}

describe.each(LOGINS)("private replies on %s", (login) => {
  const id = login === "facebook" ? "facebook" : "instagram";
  const platform = platforms[id];
  const site = new GraphSite(login, platform, files);
  const { privateReplies } = site;

  async function createRequest(given: { createdAt?: string } = {}) {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const commentId = await addComment(platform, account, { mediaId, text: "Price?", ...given });
    const request: PrivateReplyRequest = { mediaId, commentId, text: "10 €" };
    return { account, request };
  }

  const listSent = (account: AccountAccess): Promise<readonly SentReply[]> =>
    platform.control("GET", `private-replies?platform=${id}&account=${account.externalId}`);

  test(`the ${login} connector sends a private reply to the author of a comment`, async () => {
    const { account, request } = await createRequest();
    expect(await privateReplies.send(account, request, guard)).toEqual({
      kind: "published",
      externalId: expect.stringMatching(/^m_/) as string,
      permalink: null,
    });
    const { commentId, text } = request;
    expect(await listSent(account)).toMatchObject([{ commentId, text }]);
  });

  test(`the ${login} connector reports a second private reply to a comment as a duplicate`, async () => {
    const { account, request } = await createRequest();
    await privateReplies.send(account, request, guard);
    expect(await privateReplies.send(account, request, guard)).toMatchObject(
      refused("duplicate_on_platform"),
    );
    expect(await listSent(account)).toHaveLength(1);
  });

  test(`the ${login} connector reports a private reply after more than seven days as too late, not as a missing permission`, async () => {
    const createdAt = new Date(Date.now() - privateReplies.windowMs - 1000).toISOString();
    const { account, request } = await createRequest({ createdAt });
    expect(privateReplies.windowMs).toBe(7 * DAY_MS);
    expect(await privateReplies.send(account, request, guard)).toMatchObject({
      kind: "refused",
      code: "missed",
      message: expect.stringContaining("older than 7 days") as string,
    });
    expect(await listSent(account)).toEqual([]);
  });

  test(`the ${login} connector reports as refused a private reply to a comment that does not exist or that the account itself wrote`, async () => {
    const { account, request } = await createRequest();
    const refused = { kind: "refused", code: "content_rejected" };
    const unknown = { ...request, commentId: "1_2" };
    expect(await privateReplies.send(account, unknown, guard)).toMatchObject(refused);
    const { mediaId } = request;
    const { username: author } = account;
    const commentId = await addComment(platform, account, { mediaId, text: "First!", author });
    const own = { ...request, commentId };
    expect(await privateReplies.send(account, own, guard)).toMatchObject(refused);
  });

  test(`the ${login} connector sends a private reply of 1,000 bytes, and ${login} refuses a longer one`, async () => {
    const { account, request } = await createRequest();
    const text = "é".repeat(privateReplies.maxBytes / 2);
    const long = { ...request, text: `${text}a` };
    expect(await privateReplies.send(account, long, guard)).toMatchObject({ kind: "refused" });
    const longest = { ...request, text };
    expect(await privateReplies.send(account, longest, guard)).toMatchObject(PUBLISHED);
  });

  test(`the ${login} connector sends no private reply when too much time has passed since the intent to send it was recorded`, async () => {
    const { account, request } = await createRequest();
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await privateReplies.send(account, request, tooLate)).toEqual({ kind: "not_sent" });
    expect(await listSent(account)).toEqual([]);
  });

  test.each([
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "permission_missing" }],
    [429, { kind: "unknown", limitedForMs: 1800 }],
    [500, { kind: "unknown" }],
  ])(
    `a call that sends a private reply and that ${login} answers with HTTP %i has the result %o`,
    async (status, outcome) => {
      const { account, request } = await createRequest();
      await platform.addFault("reply", "status", { status });
      expect(await privateReplies.send(account, request, guard)).toMatchObject(outcome);
    },
  );

  test.each([
    ["drop_before", {}],
    ["drop_after_commit", {}],
    ["commit_late", { delayMs: 1 }],
    ["garbage_body", {}],
    ["status_after_commit", { status: 500 }],
    ["status", { status: 500 }],
  ])(
    `the author of a comment gets one private reply on ${login} after the simulated fault %s %o`,
    async (mode, extra) => {
      const { account, request } = await createRequest();
      await platform.addFault("reply", mode, extra);
      expect(await privateReplies.send(account, request, guard)).toMatchObject(UNKNOWN);
      let verdict = await privateReplies.reconcile(account, request, callOfLastMinute(), signal);
      while (verdict.kind === "repeat") {
        const outcome = await privateReplies.send(account, request, guard);
        const isDuplicate = outcome.kind === "refused" && outcome.code === "duplicate_on_platform";
        const isSent = outcome.kind === "published" || isDuplicate;
        if (isSent) verdict = { kind: "present", externalId: null, permalink: null };
      }
      expect(verdict).toMatchObject(PRESENT);
      expect(await listSent(account)).toHaveLength(1);
    },
  );

  test(`a private reply that Meta's rate limit refuses is not sent on ${login}, and is reported as retryable`, async () => {
    const { account, request } = await createRequest();
    await platform.control("POST", "settings", { quotas: true, graphCallsPerDay: 20 });
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
    await privateReplies.readMedia(account, ids, signal);
    expect(await privateReplies.send(account, request, guard)).toMatchObject({
      kind: "retryable",
      code: "rate_limited",
      isLimit: true,
    });
    expect(await listSent(account)).toEqual([]);
  });

  test(`a private reply on ${login} is not repeated before the deadline of its call has passed`, async () => {
    const { account, request } = await createRequest();
    const now = new Date();
    const call = callOfLastMinute({ now, callUntil: new Date(now.getTime() + 5000) });
    expect(await privateReplies.reconcile(account, request, call, signal)).toEqual({
      kind: "look_again",
      afterMs: 5000,
    });
  });

  test(`the ${login} connector lists the account's posts newest first with their numbers of comments, one call per page`, async () => {
    const account = await site.createAccount();
    const ids: string[] = [];
    for (const text of ["a", "b", "c"]) {
      ids.unshift(await site.publish(account, text));
      await platform.control("POST", "clock", { advanceMs: 1000 });
    }
    const [newest = "", middle = "", oldest] = ids;
    await addComment(platform, account, { mediaId: newest, text: "Nice" });
    await addComment(platform, account, { mediaId: newest, text: "Very" });
    await addComment(platform, account, { mediaId: middle, text: "Nice" });
    const before = (await platform.calls()).length;
    const first = await privateReplies.listMedia(account, { limit: 2, after: undefined }, signal);
    expect(first).toMatchObject({
      kind: "media",
      media: [
        { id: newest, commentCount: 2 },
        { id: middle, commentCount: 1 },
      ],
      next: expect.any(String) as string,
    });
    const after = first.kind === "media" ? first.next : undefined;
    expect(await privateReplies.listMedia(account, { limit: 2, after }, signal)).toMatchObject({
      media: [{ id: oldest, commentCount: 0 }],
      next: undefined,
    });
    expect((await platform.calls()).length - before).toBe(2);
  });

  test(`the ${login} connector reads the numbers of comments of posts with one call for each`, async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const another = await site.publish(account, "Another post");
    await addComment(platform, account, { mediaId, text: "Nice" });
    const before = (await platform.calls()).length;
    const read = await privateReplies.readMedia(account, [another, mediaId], signal);
    const media = [
      { id: another, commentCount: 0 },
      { id: mediaId, commentCount: 1 },
    ];
    expect(read).toMatchObject({ kind: "media", media });
    expect((await platform.calls()).length - before).toBe(2);
  });

  test(`the ${login} connector leaves out posts that do not exist or belong to another account when it reads numbers of comments`, async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const foreign = await site.publish(await site.createAccount());
    const read = await privateReplies.readMedia(account, [foreign, mediaId, "17"], signal);
    expect(read).toMatchObject({ kind: "media", media: [{ id: mediaId }] });
  });

  test.each([
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "permission_missing" }],
    [429, { kind: "retryable", isLimit: true }],
    [500, { kind: "retryable", code: "platform_unavailable" }],
  ])(
    `a call that lists posts and that ${login} answers with HTTP %i has the result %o`,
    async (status, failure) => {
      const account = await site.createAccount();
      const mediaId = await site.publish(account);
      await platform.addFault("status", "status", { status, times: 2 });
      const query = { limit: 5, after: undefined };
      expect(await privateReplies.listMedia(account, query, signal)).toMatchObject(failure);
      const ids = [mediaId, mediaId];
      expect(await privateReplies.readMedia(account, ids, signal)).toMatchObject(failure);
    },
  );
});

describe("private replies on facebook whose outcome is unknown", () => {
  const platform = platforms.facebook;
  const site = new GraphSite("facebook", platform, files);

  test("the Facebook connector finds a private reply by the conversation that Facebook shows with the comment", async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const commentId = await addComment(platform, account, { mediaId, text: "Price?" });
    const request = { mediaId, commentId, text: "10 €" };
    const reconcile = () =>
      site.privateReplies.reconcile(account, request, callOfLastMinute(), signal);
    expect(await reconcile()).toEqual({ kind: "repeat" });
    await platform.addFault("reply", "drop_after_commit");
    await site.privateReplies.send(account, request, guard);
    expect(await reconcile()).toMatchObject(PRESENT);
  });

  test("the Facebook connector reports a deleted comment as missing", async () => {
    const account = await site.createAccount();
    const request = { mediaId: await site.publish(account), commentId: "1_2", text: "10 €" };
    expect(
      await site.privateReplies.reconcile(account, request, callOfLastMinute(), signal),
    ).toEqual({ kind: "missing" });
  });

  test("when a rate limit hides a comment's state, the Facebook connector looks at it again after the time that Facebook states", async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account);
    const commentId = await addComment(platform, account, { mediaId, text: "Price?" });
    await platform.addFault("status", "status", { status: 429 });
    const request = { mediaId, commentId, text: "10 €" };
    expect(
      await site.privateReplies.reconcile(account, request, callOfLastMinute(), signal),
    ).toEqual({ kind: "look_again", afterMs: 1800, isIncomplete: true });
  });

  test("the Facebook connector lists a video under the id that Postrider stores for it, and lists its comments", async () => {
    const account = await site.createAccount();
    const mediaId = await site.publish(account, "A video", [mp4Media(50_000)]);
    expect(mediaId).not.toContain("_");
    const commentId = await addComment(platform, account, { mediaId, text: "Nice" });
    const listed = await site.privateReplies.listMedia(
      account,
      { limit: 5, after: undefined },
      signal,
    );
    expect(listed).toMatchObject({ media: [{ id: mediaId, commentCount: 1 }] });
    const query = { mediaId, limit: 5, after: undefined };
    const page = await site.comments.listComments(account, query, signal);
    expect(page).toMatchObject({ comments: [{ id: commentId }] });
    const stranger = await site.createAccount();
    expect(await site.comments.listComments(stranger, query, signal)).toEqual({ kind: "missing" });
  });
});
