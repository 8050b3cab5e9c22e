import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, describe, expect, test } from "vitest";
import type { Answer, Api } from "./support/requests/api.ts";
import {
  actionsOn,
  commentsOn,
  openKey,
  publishOn,
  type CommentRecord,
  type Media,
} from "./support/requests/engagement.ts";
import { detailsOf, refusalOf, UNKNOWN_ID } from "./support/requests/posts.ts";
import { disconnect, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests reading comments and acting on them through all services. The tests of the gateway cover
 * the validation of requests, those of the delivery service lost responses and crashes.
 */

interface Page {
  readonly comments: readonly CommentRecord[];
  readonly nextCursor: string | null;
}

interface Action {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
  readonly finishedAt: string | null;
}

const START = Date.parse("2026-11-20T10:00:00.000Z");

const system = await useSharedSystem();
const tenant = await openTenant(system);
const other = await openTenant(system);

/**
 * Writes a reader's comment on the media. The comment mentions the account, because X refuses
 * replies to other comments.
 */
async function comment(media: Media, text: string, createdAt?: string): Promise<string> {
  const time = createdAt === undefined ? {} : { createdAt };
  return await system.simulator.addComment(media, { text: `@${media.username} ${text}`, ...time });
}

/** Returns an id of the same form as `id` that the platform has not given to anything. */
function inventedId(id: string): string {
  return `${id.slice(0, -3)}${id.endsWith("000") ? "001" : "000"}`;
}

async function list(media: Media, query = "", api: Api = tenant.api): Promise<Answer<Page>> {
  return await api.call<Page>("GET", `${commentsOn(media)}${query}`);
}

async function act(
  media: Media,
  commentId: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Action>> {
  return await tenant.api.call<Action>("POST", actionsOn(media, commentId), { body, headers });
}

async function whenDone({ body: { id } }: Answer<Action>): Promise<Action> {
  return await eventually(async () => {
    const { body } = await tenant.api.call<Action>("GET", `/comment-actions/${id}`);
    if (body.status === "pending") throw new Error("the action is pending");
    return body;
  });
}

describe.each(["instagram", "facebook", "youtube", "x", "bluesky"])(
  "comments on %s:",
  (platform) => {
    let media: Media;
    beforeAll(async () => {
      media = await publishOn(tenant, platform);
    });

    test(`comments on ${platform} are listed page by page, newest first`, async () => {
      const recent = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
      const times = [recent(30), recent(20), recent(10)];
      const ids: string[] = [];
      for (const [index, at] of times.entries()) ids.push(await comment(media, `no ${index}`, at));

      const first = await eventually(async () => {
        const answer = await list(media, "?limit=2");
        expect(answer.body.comments).toHaveLength(2);
        return answer;
      });
      const second = await list(media, `?limit=2&cursor=${first.body.nextCursor}`);

      const listed = [...first.body.comments, ...second.body.comments];
      expect([first.status, second.status, second.body.nextCursor]).toEqual([200, 200, null]);
      expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
      expect(listed.map(({ text }) => text.split(" ").slice(1).join(" "))).toEqual([
        "no 2",
        "no 1",
        "no 0",
      ]);
      expect(listed.every(({ hidden }) => !hidden)).toBe(true);
    });

    test(`a reply to a comment on ${platform} is sent once, also when the request is repeated with its idempotency key`, async () => {
      const id = await comment(media, "reply to me");
      const calls = () => system.simulator.countCalls(platform, "reply", media.account);
      const before = await calls();
      const headers = { "idempotency-key": crypto.randomUUID() };
      const body = { type: "reply", text: "You are welcome" };

      const first = await act(media, id, body, headers);
      const again = await act(media, id, body, headers);

      expect([first.status, again.status]).toEqual([202, 202]);
      expect(first.headers.get("location")).toBe(`/api/v1/comment-actions/${first.body.id}`);
      expect(first.body).toEqual({
        id: first.body.id,
        accountId: media.accountId,
        mediaId: media.id,
        commentId: id,
        type: "reply",
        text: "You are welcome",
        status: "pending",
        error: null,
        createdAt: expect.any(String) as string,
        finishedAt: null,
      });
      expect([first, again].map((each) => each.headers.get("idempotent-replayed"))).toEqual([
        null,
        "true",
      ]);
      expect(again.body).toEqual(first.body);
      expect(await whenDone(first)).toMatchObject({ status: "succeeded", error: null });
      expect((await calls()) - before).toBe(1);
      const reused = await act(media, id, { ...body, text: "Other" }, headers);
      expect(refusalOf(reused)).toBe("422 idempotency_key_reused");
    });

    test(`comments on a post of another ${platform} account, on an unknown post, and unknown comments are not found`, async () => {
      const unknown = { ...media, id: inventedId(media.id) };
      expect(refusalOf(await list(unknown))).toBe("404 not_found");
      const commentId = await comment(media, "mine");
      expect(refusalOf(await act(unknown, commentId, { type: "reply", text: "a" }))).toBe(
        "404 not_found",
      );
      const invented = inventedId(commentId);
      expect(refusalOf(await act(media, invented, { type: "reply", text: "a" }))).toBe(
        "404 not_found",
      );
      const foreign = await publishOn(other, platform);
      const theirs = { ...foreign, accountId: media.accountId };
      expect(refusalOf(await list(theirs))).toBe("404 not_found");
    });
  },
);

describe.each(["instagram", "facebook", "youtube", "x", "bluesky"])(
  "hiding comments on %s:",
  (platform) => {
    test(`a hidden comment on ${platform} stays in the list, and hiding it again succeeds`, async () => {
      const media = await publishOn(tenant, platform);
      const id = await comment(media, "hide me");
      const isHidden = async () => {
        const { body } = await list(media);
        return body.comments.map((each) => [each.id, each.hidden]);
      };
      for (const [type, hidden] of [
        ["hide", true],
        ["hide", true],
        ["unhide", false],
        ["unhide", false],
      ] as const) {
        const action = await act(media, id, { type });
        expect([action.status, await whenDone(action)]).toMatchObject([
          202,
          { status: "succeeded" },
        ]);
        expect(await isHidden()).toEqual([[id, hidden]]);
      }
    });
  },
);

test.each(["instagram", "facebook", "youtube", "x", "bluesky"])(
  "a hidden comment on %s keeps its position in the pages of comments",
  async (platform) => {
    const media = await publishOn(tenant, platform);
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const ids: string[] = [];
    for (const minutes of [40, 30, 20, 10]) ids.push(await comment(media, "many", at(minutes)));
    for (const id of ids.slice(1, 3)) await whenDone(await act(media, id, { type: "hide" }));

    const listed: (readonly [string, boolean])[] = [];
    let query = "?limit=1";
    for (let next: string | null = ""; next !== null;) {
      const { body } = await list(media, query);
      listed.push(...body.comments.map(({ id, hidden }) => [id, hidden] as const));
      expect(body.comments.length).toBeLessThanOrEqual(1);
      next = body.nextCursor;
      query = `?limit=1&cursor=${next}`;
    }

    const expected = ids.map((id, index) => [id, index === 1 || index === 2]);
    expect(listed).toEqual(expected.toReversed());
  },
);

test("reading comments of a platform without comments, or of an unknown or disconnected account, answers 404", async () => {
  const telegram = await publishOn(tenant, "telegram");
  expect(refusalOf(await list(telegram))).toBe("404 not_found");
  const gone = await publishOn(tenant, "bluesky");
  const id = await comment(gone, "too late");
  expect((await list(gone)).status).toBe(200);
  await disconnect(system, gone.accountId);
  for (const [accountId, refusal] of [
    [gone.accountId, "404 not_found"],
    [UNKNOWN_ID, "404 not_found"],
    ["nonsense", "404 not_found malformed_id"],
  ] as const) {
    const media = { ...gone, accountId };
    expect(refusalOf(await list(media))).toBe(refusal);
    expect(refusalOf(await act(media, id, { type: "hide" }))).toBe(refusal);
  }
});

test("a workspace cannot find the comments and comment actions of another workspace", async () => {
  const media = await publishOn(tenant, "bluesky");
  const id = await comment(media, "ours");
  const action = await act(media, id, { type: "hide" });
  await whenDone(action);
  const body = { type: "unhide" };

  for (const [method, path, options] of [
    ["GET", commentsOn(media), {}],
    ["POST", actionsOn(media, id), { body }],
    ["GET", `/comment-actions/${action.body.id}`, {}],
  ] as const)
    expect(refusalOf(await other.api.call(method, path, options))).toBe("404 not_found");
  expect((await list(media)).body.comments).toMatchObject([{ id, hidden: true }]);
});

test("a cursor of a list of comments is valid only for the workspace and the post that it was made for", async () => {
  const [media, second] = [await publishOn(tenant, "bluesky"), await publishOn(tenant, "bluesky")];
  for (const text of ["a", "b"]) await comment(media, text);
  const { body } = await eventually(async () => {
    const answer = await list(media, "?limit=1");
    expect(answer.body.nextCursor).not.toBeNull();
    return answer;
  });
  const theirs = await publishOn(other, "bluesky");

  const query = `?cursor=${body.nextCursor}`;
  expect((await list(media, `${query}&limit=50`)).status).toBe(200);
  expect(refusalOf(await list(second, query))).toBe("400 invalid_cursor");
  expect(refusalOf(await list(theirs, query, other.api))).toBe("400 invalid_cursor");
  expect(refusalOf(await list(media, "?cursor=forged"))).toBe("400 invalid_cursor");
});

test("an API key with only the read scope for comments cannot act on them", async () => {
  const media = await publishOn(tenant, "bluesky");
  const id = await comment(media, "scoped");
  const reader = await openKey(system, tenant.id, "comments:read");
  const writer = await openKey(system, tenant.id, "comments:write");

  expect((await list(media, "", reader)).status).toBe(200);
  const body = { type: "hide" };
  const refused = await reader.call("POST", actionsOn(media, id), { body });
  expect(refusalOf(refused)).toBe("403 insufficient_scope comments:write");
  expect(refusalOf(await list(media, "", writer))).toBe("403 insufficient_scope comments:read");
});

test("a malformed comment action is refused and never sent to the platform", async () => {
  const media = await publishOn(tenant, "bluesky");
  const id = await comment(media, "malformed");
  for (const body of [{ type: "reply" }, { type: "hide", text: "a" }, { type: "delete" }, {}])
    expect((await act(media, id, body)).status).toBe(400);
  expect(await system.simulator.countCalls("bluesky", "reply", media.account)).toBe(0);
});

test("reading comments answers 503 with the time to wait when the platform fails", async () => {
  const media = await publishOn(tenant, "instagram");
  await tenant.addFault(media.accountId, {
    operation: "comments",
    mode: "status",
    status: 500,
    times: 20,
  });
  const answer = await list(media);

  expect(refusalOf(answer)).toBe("503 unavailable");
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
});

test("reading comments of an account that must be connected again answers account_reconnect_required", async () => {
  const media = await publishOn(tenant, "bluesky");
  const id = await comment(media, "unreachable");
  await system.sql`
    update accounts.accounts set status = 'reconnect_required', version = version + 1 where id = ${media.accountId}`;

  const answer = await list(media);
  expect(refusalOf(answer)).toMatch(/^409 account_reconnect_required/);
  expect(detailsOf(answer).map((detail) => detail["code"])).not.toContain("permission_missing");
  expect(refusalOf(await act(media, id, { type: "hide" }))).toMatch(
    /^409 account_reconnect_required/,
  );
});

test("a comment has the time that the platform gives for it", async () => {
  const media = await publishOn(tenant, "instagram");
  await comment(media, "dated", new Date(START).toISOString());

  const { body } = await list(media);
  expect(body.comments.map(({ createdAt }) => Date.parse(createdAt))).toEqual([START]);
});
