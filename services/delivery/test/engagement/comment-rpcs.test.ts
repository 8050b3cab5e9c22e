import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { listCommentActions } from "#src/engagement/operations/to-comment-action.ts";
import { createCommentRoutes } from "#src/engagement/rpc/comment-service.ts";
import { logger, openDatabase } from "../publishing/fixture.ts";
import {
  COMMENT,
  CommentWorld,
  readActions,
  requestPrivateReply,
  startActionWorker,
  untilAllEnded,
  type TestAccount,
} from "./fixture.ts";

let world: CommentWorld;
let account: TestAccount;
let nudges = 0;

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = new CommentWorld();
  account = world.addAccount();
  nudges = 0;
  await database.migrationSql`
    truncate comment_actions, comment_action_queues, idempotency_keys, outbox`;
});

function client(
  given: { readonly readTimeoutMs?: number; readonly actions?: readonly "reply"[] } = {},
) {
  const routes = createCommentRoutes({
    sql: database.sql,
    logger,
    accounts: world.clients(),
    connectors: { comments: { instagram: world.comments("instagram", given.actions) } },
    settings: { historyDays: 400 },
    cursorKeys: deriveCursorKeys("delivery", ["a secret for tests"]),
    readTimeoutMs: given.readTimeoutMs ?? 5_000,
    onEvents: () => undefined,
    nudgeActions: () => {
      nudges += 1;
    },
  });
  return createTestPeer(routes).client(CommentService);
}

/** Returns the error that a refused RPC returns to its caller. */
async function refusalOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error("the call was not refused");
  const { kind, reason, violations, retryAfterMs } = error;
  const details = violations.map(({ code, path, accountId, platform }) => ({
    code,
    ...(path === undefined ? {} : { path }),
    ...(accountId === undefined ? {} : { accountId, platform }),
  }));
  return { kind, reason, details, retryAfterMs };
}

const media = (given: object = {}) => ({
  workspaceId: account.workspaceId,
  accountId: account.id,
  mediaId: "media-1",
  ...given,
});
const reply = (given: object = {}) =>
  media({ commentId: "comment-1", type: "reply", text: "Thanks!", ...given });
const NOT_FOUND = { kind: "not_found", reason: "not_found", details: [] };

describe("ListComments", () => {
  test("ListComments returns a page of comments, and a cursor that continues on the platform", async () => {
    world.page = () => ({ kind: "page", comments: [COMMENT], next: "after=5" });
    const first = await client().listComments(media());

    expect(first.comments).toMatchObject([
      {
        id: "comment-1",
        text: "How much is it?",
        author: { id: "reader-1", username: "reader" },
        likeCount: 3n,
        replyCount: 0n,
        hidden: false,
      },
    ]);
    await client().listComments(media({ cursor: first.nextCursor ?? "" }));
    expect(world.reads.map(({ after }) => after)).toEqual([undefined, "after=5"]);
    expect(first.nextCursor).not.toContain("after");
  });

  test("ListComments rejects a cursor that is forged, or that belongs to other media, another account or another workspace", async () => {
    world.page = () => ({ kind: "page", comments: [], next: "after=5" });
    const { nextCursor: cursor = "" } = await client().listComments(media());
    const others = [
      media({ cursor: `${cursor}A` }),
      media({ cursor: "after=5" }),
      media({ cursor, mediaId: "media-2" }),
      media({ cursor, accountId: newId() }),
      media({ cursor, workspaceId: newId() }),
    ];

    for (const other of others)
      expect(await refusalOf(client().listComments(other))).toMatchObject({
        reason: "invalid_cursor",
      });
    expect(world.reads).toHaveLength(1);
  });

  test("ListComments reports an account that is unknown, disconnected or of another workspace as not found, and also media of another account", async () => {
    const foreign = await refusalOf(client().listComments(media({ workspaceId: newId() })));
    const unknown = await refusalOf(client().listComments(media({ accountId: newId() })));
    world.page = () => ({ kind: "missing" });
    const missing = await refusalOf(client().listComments(media()));
    account.status = "disconnected";
    const disconnected = await refusalOf(client().listComments(media()));

    for (const refusal of [foreign, unknown, missing, disconnected])
      expect(refusal).toMatchObject(NOT_FOUND);
  });

  test("ListComments reports an account on a platform without comments as not found", async () => {
    account = world.addAccount({ platform: "telegram" });

    expect(await refusalOf(client().listComments(media()))).toMatchObject(NOT_FOUND);
  });

  test("ListComments names the reason for which an account has to be reconnected", async () => {
    const toReconnect = (code: string) => ({
      kind: "conflict",
      reason: "account_reconnect_required",
      details: [{ code, accountId: account.id, platform: "instagram" }],
    });
    world.page = () => ({ kind: "refused", code: "permission_missing", message: "no scope" });
    expect(await refusalOf(client().listComments(media()))).toMatchObject(
      toReconnect("permission_missing"),
    );
    world.page = () => ({ kind: "token_refused", message: "revoked" });
    expect(await refusalOf(client().listComments(media()))).toMatchObject(
      toReconnect("account_reconnect_required"),
    );
    expect(world.reconnects).toEqual([account.id]);
    account.status = "reconnect_required";
    expect(await refusalOf(client().listComments(media()))).toMatchObject(
      toReconnect("account_reconnect_required"),
    );
  });

  test("ListComments renews an access token that the platform refuses", async () => {
    const pages = [
      { kind: "token_refused", message: "expired" },
      { kind: "page", comments: [COMMENT], next: undefined },
    ] as const;
    world.page = () => pages[world.reads.length - 1] ?? pages[1];

    expect((await client().listComments(media())).comments).toHaveLength(1);
  });

  test("ListComments says when to try again after a failure of the platform", async () => {
    world.page = () => ({
      kind: "retryable",
      code: "rate_limited",
      message: "slow down",
      isLimit: true,
      retryAfterMs: 90_000,
    });

    expect(await refusalOf(client().listComments(media()))).toMatchObject({
      kind: "unavailable",
      reason: "unavailable",
      retryAfterMs: 90_000,
    });
  });

  test("of the comments that one workspace reads at the same time four reads are made at once, while another workspace reads without a wait", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    world.page = async () => {
      await answered;
      return { kind: "page", comments: [], next: undefined };
    };
    const calls = Array.from({ length: 6 }, () => client().listComments(media()));
    await eventually(() => expect(world.reads.length).toBe(4));
    account = world.addAccount();
    calls.push(client().listComments(media()));
    await eventually(() => expect(world.reads.length).toBe(5));
    answer();
    expect(await Promise.all(calls)).toHaveLength(7);
    expect(world.reads.length).toBe(7);
  });

  test("ListComments ends at its deadline and aborts the call to the platform", async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    world.page = (signal) => {
      signal.addEventListener("abort", () => resolve());
      return Promise.withResolvers<never>().promise;
    };

    const refusal = await refusalOf(client({ readTimeoutMs: 50 }).listComments(media()));

    expect(refusal).toMatchObject({ kind: "timeout", reason: "upstream_timeout" });
    await aborted;
  });
});

describe("RequestCommentAction", () => {
  test("RequestCommentAction stores a pending action, which GetCommentAction shows with its result", async () => {
    const { action, replayed } = await client().requestCommentAction(reply());

    expect(replayed).toBe(false);
    expect(action).toMatchObject({
      accountId: account.id,
      mediaId: "media-1",
      commentId: "comment-1",
      type: "reply",
      text: "Thanks!",
      status: "pending",
      version: 1n,
    });
    expect(nudges).toBe(1);
    const ref = { workspaceId: account.workspaceId, actionId: action?.id ?? "" };
    expect((await client().getCommentAction(ref)).action).toEqual(action);

    await using _worker = startActionWorker(database, world);
    await untilAllEnded(database.sql);
    account.status = "disconnected";

    const { action: ended } = await client().getCommentAction(ref);
    expect(ended).toMatchObject({ status: "succeeded", finishedAt: expect.anything() as object });
    const listed = await listCommentActions(database.sql, [
      { workspaceId: account.workspaceId, id: ref.actionId },
      { workspaceId: newId(), id: ref.actionId },
    ]);
    expect(listed).toEqual([ended]);
  });

  test("GetCommentAction shows why an action failed", async () => {
    world.reactions = [() => ({ kind: "refused", code: "content_rejected", message: "too long" })];
    const { action } = await client().requestCommentAction(reply());
    await using _worker = startActionWorker(database, world);
    await untilAllEnded(database.sql);

    const ref = { workspaceId: account.workspaceId, actionId: action?.id ?? "" };
    expect((await client().getCommentAction(ref)).action).toMatchObject({
      status: "failed",
      error: { code: "content_rejected", message: "too long", retryable: false },
    });
  });

  test("GetCommentAction reports actions of other workspaces, and private replies, as not found", async () => {
    const { action } = await client().requestCommentAction(reply());
    const privateReply = await requestPrivateReply(database.sql, account);
    const { workspaceId } = account;
    const refs = [
      { workspaceId: newId(), actionId: action?.id ?? "" },
      { workspaceId, actionId: privateReply ?? "" },
      { workspaceId, actionId: newId() },
      { workspaceId, actionId: "not an id" },
    ];

    for (const ref of refs)
      expect(await refusalOf(client().getCommentAction(ref))).toMatchObject(NOT_FOUND);
  });

  test("RequestCommentAction reports a missing comment, and an account of another workspace, as not found, and stores nothing", async () => {
    const foreign = await refusalOf(client().requestCommentAction(reply({ workspaceId: newId() })));
    world.readComment = () => ({ kind: "missing" });
    const missing = await refusalOf(client().requestCommentAction(reply()));

    expect([foreign, missing]).toMatchObject([NOT_FOUND, NOT_FOUND]);
    expect(await readActions(database.sql)).toEqual([]);
  });

  test("RequestCommentAction refuses an action that the platform does not offer", async () => {
    const refusal = await refusalOf(
      client({ actions: ["reply"] }).requestCommentAction(reply({ type: "hide", text: undefined })),
    );

    expect(refusal).toMatchObject({
      kind: "unprocessable",
      reason: "validation_failed",
      details: [
        {
          code: "platform_unsupported",
          path: "/type",
          accountId: account.id,
          platform: "instagram",
        },
      ],
    });
  });

  test.each([
    ["a reply without a text", { text: undefined }, "/text"],
    ["a reply with a blank text", { text: " " }, "/text"],
    ["hiding with a text", { type: "hide" }, "/text"],
    ["an unknown type", { type: "like" }, "/type"],
    ["a private reply", { type: "private_reply" }, "/type"],
    ["a request without a comment", { commentId: "" }, "/commentId"],
  ])("RequestCommentAction refuses %s", async (_title, given, path) => {
    const refusal = await refusalOf(client().requestCommentAction(reply(given)));

    expect(refusal.reason).toBe("invalid_request");
    expect(refusal.details).toContainEqual({ code: "invalid", path });
  });

  test("several requests with the same idempotency key store one action, even at the same time", async () => {
    const idempotency = { key: "k1", fingerprint: "f1" };
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => client().requestCommentAction(reply({ idempotency }))),
    );
    world.readComment = () => ({ kind: "missing" });
    responses.push(await client().requestCommentAction(reply({ idempotency })));

    expect(new Set(responses.map(({ action }) => action?.id)).size).toBe(1);
    expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await readActions(database.sql)).toHaveLength(1);
  });

  test.each([
    ["another body", { idempotency: { key: "k1", fingerprint: "f2" } }],
    ["another comment", { commentId: "comment-2" }],
  ])(
    "an idempotency key that was used for one action cannot be used for %s",
    async (_title, given) => {
      const idempotency = { key: "k1", fingerprint: "f1" };
      await client().requestCommentAction(reply({ idempotency }));

      const refusal = await refusalOf(
        client().requestCommentAction(reply({ idempotency, ...given })),
      );

      expect(refusal).toMatchObject({ kind: "unprocessable", reason: "idempotency_key_reused" });
    },
  );
});
