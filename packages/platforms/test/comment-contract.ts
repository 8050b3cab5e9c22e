import { newId } from "@postrider/shared/ids";
import { describe, expect, test } from "vitest";
import type { CommentsConnector, ReplyRequest } from "#src/comments/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import type { UnknownCall } from "#src/publishing/verdict.ts";
import { addComment, readPage } from "./comment-fixtures.ts";
import { CANNOT_TELL, PRESENT, UNKNOWN } from "./results.ts";
import { guard, signal, type TestPlatform } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

/** An account with one published post. */
export interface Owned {
  readonly account: Publication;
  readonly mediaId: string;
}

type Fault = readonly [mode: string, extra: object, result: object];

/** What the tests of the comments of one network need. */
export interface CommentNetwork {
  readonly name: string;
  readonly platform: TestPlatform;
  readonly comments: CommentsConnector;
  readonly publishing: PublishingConnector;
  readonly publishPost: (text?: string) => Promise<Owned>;
  /** Text of a comment to which the account may reply. */
  readonly askText?: (account: Publication) => string;
}

export function createCommentDriver(network: CommentNetwork) {
  const { platform, comments, askText = () => "nice" } = network;
  const comment = ({ account, mediaId }: Owned, text: string, given = {}) =>
    addComment(platform, account, { mediaId, text, ...given });
  return {
    comment,
    ask: (owned: Owned) => comment(owned, askText(owned.account)),
    toReply: (mediaId: string, commentId: string, text = "thank you"): ReplyRequest => {
      return { mediaId, commentId, text, requestId: newId() };
    },
    hide: ({ account, mediaId }: Owned, commentId: string, hidden = true) =>
      comments.setHidden(account, { mediaId, commentId, hidden }, signal),
    reconcile: (account: AccountAccess, request: ReplyRequest, given: Partial<UnknownCall> = {}) =>
      comments.reconcileReply(account, request, unknownCall(given), signal),
  };
}

/** Publishes a post of the account. */
export async function publishOwned(
  { platform, publishing }: Pick<CommentNetwork, "platform" | "publishing">,
  account: Publication,
): Promise<Owned> {
  const outcome = await platform.publish(publishing, account);
  if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not published");
  return { account, mediaId: outcome.externalId };
}

interface Expected {
  /** The first comment on a post, with the text "nice". */
  readonly listed: object;
  /** The value of `hidden` when a comment is read by its id, where it is another one. */
  readonly readHidden?: null;
  /** Units of the app's budget that this list used. */
  readonly units?: number;
  /** Ids that no post has. */
  readonly unknownIds: readonly string[];
  readonly listFaults: readonly Fault[];
  readonly replyAnswers: readonly (readonly [answer: object, outcome: object])[];
  readonly hideFaults: readonly Fault[];
  readonly longestComment?: number;
}

/** Tests that the comments of every network with its own API pass. */
export function testComments(network: CommentNetwork, expected: Expected): void {
  const { name, platform, comments, publishing, publishPost } = network;
  const { comment, ask, toReply, hide } = createCommentDriver(network);

  test(`the ${name} connector lists the comments on a post with author, time and counters, and reads each by its id`, async () => {
    const owned = await publishPost();
    const id = await comment(owned, "nice");
    const listed = { id, text: "nice", createdAt: expect.any(Date) as Date, isOwn: false };
    const page = await readPage(comments, owned.account, owned.mediaId);
    const { units } = expected;
    const counters = { likeCount: 0, replyCount: 0 };
    const first = { ...listed, ...counters, hidden: false, ...expected.listed };
    expect(page).toEqual({ kind: "page", comments: [first], next: undefined, units });
    const ref = { mediaId: owned.mediaId, commentId: id };
    const isOther = expected.readHidden === null ? { hidden: null } : {};
    expect(await comments.readComment(owned.account, ref, signal)).toEqual({
      kind: "comment",
      comment: { ...page.comments[0], ...isOther },
    });
  });

  test(`the ${name} connector reports posts of another account, deleted posts, unknown ids and comments on other posts as missing`, async () => {
    const owned = await publishPost();
    const other = await publishPost("mine");
    const id = await comment(owned, "nice");
    const missing = { kind: "missing" };
    const list = (mediaId: string) =>
      comments.listComments(other.account, { mediaId, limit: 10, after: undefined }, signal);
    const read = (account: AccountAccess, mediaId: string, commentId: string) =>
      comments.readComment(account, { mediaId, commentId }, signal);
    expect(await list(owned.mediaId)).toEqual(missing);
    expect(await read(other.account, owned.mediaId, id)).toEqual(missing);
    expect(await read(other.account, other.mediaId, id)).toEqual(missing);
    expect(await read(owned.account, other.mediaId, id)).toEqual(missing);
    for (const unknown of expected.unknownIds) {
      expect(await list(unknown)).toEqual(missing);
      expect(await read(owned.account, owned.mediaId, unknown)).toEqual(missing);
    }
    await publishing.delete(other.account, other.mediaId, signal);
    expect(await list(other.mediaId)).toEqual(missing);
  });

  test.each(expected.listFaults)(
    `the simulated fault %s %j in a call that reads ${name} comments becomes the failure %j`,
    async (mode, extra, failure) => {
      const { account, mediaId } = await publishPost();
      await platform.addFault("comments", mode, { ...extra });
      const query = { mediaId, limit: 10, after: undefined };
      expect(await comments.listComments(account, query, signal)).toMatchObject(failure);
    },
  );

  test.each(expected.replyAnswers)(
    `a call that sends a reply on ${name} and gets the answer %j has the result %j`,
    async (answer, outcome) => {
      const owned = await publishPost();
      const request = toReply(owned.mediaId, await ask(owned));
      await platform.addFault("reply", "status", { ...answer });
      expect(await comments.reply(owned.account, request, guard)).toMatchObject(outcome);
    },
  );

  test.each(expected.hideFaults)(
    `the simulated fault %s %j in a call that hides a comment on ${name} has the result %j, and a second call succeeds`,
    async (mode, extra, result) => {
      const owned = await publishPost();
      const rude = await comment(owned, "rude");
      await platform.addFault("hide", mode, { ...extra });
      expect(await hide(owned, rude)).toMatchObject(result);
      expect(await hide(owned, rude)).toEqual({ kind: "done" });
    },
  );

  test(`a comment on ${name} is hidden and shown again, repeatedly, and stays in the list`, async () => {
    const owned = await publishPost();
    const rude = await comment(owned, "rude");
    const isSaid = !("hidden" in expected.listed);
    for (const hidden of [true, true, false, false]) {
      expect(await hide(owned, rude, hidden)).toEqual({ kind: "done" });
      const page = await readPage(comments, owned.account, owned.mediaId);
      expect(page.comments).toMatchObject([{ id: rude, hidden: isSaid ? hidden : null }]);
      const ref = { mediaId: owned.mediaId, commentId: rude };
      const isRead = isSaid && expected.readHidden !== null;
      expect(await comments.readComment(owned.account, ref, signal)).toMatchObject({
        comment: { text: "rude", hidden: isRead ? hidden : null },
      });
    }
  });

  test(`the control API of the simulator shows the comments on a post of ${name}, its hidden comments and the account's replies`, async () => {
    const owned = await publishPost();
    const commentId = await ask(owned);
    await comments.reply(owned.account, toReply(owned.mediaId, commentId), guard);
    await hide(owned, commentId);
    const path = `comments?platform=${comments.platform}&account=${owned.account.externalId}`;
    expect(await platform.control("GET", path)).toMatchObject([
      { id: commentId, mediaId: owned.mediaId, author: "eve", hidden: true },
      { mediaId: commentId, author: owned.account.username, text: "thank you", hidden: false },
    ]);
  });

  const { longestComment } = expected;
  if (longestComment === undefined) return;
  test(`the ${name} connector reads a page of 50 comments that are as long as ${name} allows`, async () => {
    const owned = await publishPost();
    const text = "🎣".repeat(longestComment);
    for (let count = 0; count < 50; count++) await comment(owned, text);
    const page = await readPage(comments, owned.account, owned.mediaId);
    expect(page.comments.map((each) => each.text)).toEqual(Array<string>(50).fill(text));
  });
}

/** Tests of a network whose replies have to be searched for when their answer is lost. */
export function testSearchForReplies(
  network: CommentNetwork,
  {
    listOperation,
    unreadable,
    text,
    addOthers = () => Promise.resolve(),
  }: {
    /** Operation of the calls that list the replies. */
    readonly listOperation: string;
    /** Faults of these calls, with the verdicts that follow. */
    readonly unreadable: readonly Fault[];
    readonly text: string;
    readonly addOthers?: (account: Publication, request: ReplyRequest) => Promise<void>;
  },
): void {
  const { name, platform, comments, publishPost } = network;
  const { ask, toReply, reconcile } = createCommentDriver(network);
  const past = new Date(Date.now() - 11 * 60_000);
  const late = { calledAt: past, callUntil: past, timeScale: 1 };

  async function createRequest(content = "thank you") {
    const owned = await publishPost();
    const request = toReply(owned.mediaId, await ask(owned), content);
    return { owned, account: owned.account, request };
  }

  describe(`replies on ${name} with an unknown outcome`, () => {
    test.each(["drop_after_commit", "status_after_commit", "garbage_body"])(
      `a reply on ${name} whose answer is lost by the simulated fault %s is found`,
      async (mode) => {
        const { account, request } = await createRequest(text);
        await addOthers(account, request);
        await platform.addFault("reply", mode);
        expect(await comments.reply(account, request, guard)).toMatchObject(UNKNOWN);
        const path = `comments?platform=${comments.platform}&account=${account.externalId}`;
        const shown = await platform.control<{ id: string; text: string }[]>("GET", path);
        const externalId = shown.find((each) => each.text === text)?.id;
        expect(await reconcile(account, request)).toMatchObject({ kind: "present", externalId });
      },
    );

    test(`a reply that ${name} lists late is looked for again, and counts as absent only after three complete reads`, async () => {
      const { account, request } = await createRequest();
      await platform.addFault("reply", "drop_after_commit");
      await platform.control("POST", "clock", { advanceMs: 60_000 });
      await comments.reply(account, request, guard);
      const stale = { platform: comments.platform, mode: "stale_reads", delayMs: 60_000 };
      const { id } = await platform.control<{ id: string }>("POST", "faults", stale);
      const lookAgain = { kind: "look_again" };
      for (const looks of [0, 1, 2])
        expect(await reconcile(account, request, { ...late, looks })).toMatchObject(lookAgain);

      const last = { ...late, looks: 3 };
      expect(await reconcile(account, request, last)).toEqual({ kind: "absent" });
      await platform.control("DELETE", `faults/${id}`);
      expect(await reconcile(account, request, last)).toMatchObject(PRESENT);
    });

    test.each(unreadable)(
      `a list on ${name} that the simulated fault %s %j makes unreadable never proves that a reply is absent`,
      async (mode, extra, verdict) => {
        const { account, request } = await createRequest();
        await platform.addFault(listOperation, mode, { ...extra });
        expect(await reconcile(account, request, { ...late, looks: 3 })).toMatchObject(verdict);
      },
    );

    test(`the search for a reply on ${name} ignores replies that other requests sent, replies to other comments and replies with other texts`, async () => {
      const { owned, account, request } = await createRequest();
      const sent = await comments.reply(account, request, guard);
      const id = sent.kind === "published" ? (sent.externalId ?? "") : "";
      const isOwned = () => Promise.resolve(new Set([id]));
      const lookAgain = { kind: "look_again" };
      expect(await reconcile(account, request, { isOwned })).toMatchObject(lookAgain);
      const elsewhere = { ...request, commentId: await ask(owned) };
      expect(await reconcile(account, elsewhere)).toMatchObject(lookAgain);
      expect(await reconcile(account, { ...request, text: "other" })).toMatchObject(lookAgain);
      const hasSimilarPost = () => Promise.resolve(true);
      expect(await reconcile(account, request, { hasSimilarPost })).toMatchObject(CANNOT_TELL);
    });
  });
}
