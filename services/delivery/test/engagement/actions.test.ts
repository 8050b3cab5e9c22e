import { fromJsonString } from "@bufbuild/protobuf";
import { CommentActionCompletedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../publishing/fixture.ts";
import {
  addRule,
  CommentWorld,
  readActions,
  request,
  requestPrivateReply,
  startActionWorker,
  untilAllEnded,
  untilStatus,
} from "./fixture.ts";

let world: CommentWorld;

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = new CommentWorld();
  await database.migrationSql`truncate comment_actions, comment_action_queues, outbox, pauses`;
});

const sql = () => database.sql;
const NO_ANSWER = { kind: "unknown", message: "no answer" } as const;

async function readEvents() {
  const rows = await sql()<{ key: string; payload: string; type: string }[]>`
    select key, payload, type
    from outbox
    order by id`;
  return rows.map(({ key, payload, type }) => ({
    key,
    type,
    event: fromJsonString(CommentActionCompletedSchema, payload),
  }));
}

test("actions that reply to, hide and show comments are carried out, and each appends an event of its account when it ends", async () => {
  const account = world.addAccount();
  await using _worker = startActionWorker(database, world);
  const reply = await request(sql(), account);
  const hide = await request(sql(), account, { type: "hide", commentId: "comment-2" });
  const unhide = await request(sql(), account, { type: "unhide", commentId: "comment-3" });

  const actions = await untilAllEnded(sql());

  const done = { status: "succeeded", errorCode: null, callNumber: 1 };
  expect(actions).toEqual([
    { id: reply, ...done, externalId: expect.stringMatching(/^made-/) },
    { id: hide, ...done, externalId: null },
    { id: unhide, ...done, externalId: null },
  ]);
  const events = await readEvents();
  expect(events.map(({ key }) => key)).toEqual([account.id, account.id, account.id]);
  expect(events.map(({ event }) => event.actionId).toSorted()).toEqual([reply, hide, unhide]);
  expect(events[0]?.event).toMatchObject({ workspaceId: account.workspaceId, version: 3n });
});

test("an action that shows a comment waits for the open call that hides it, but not for retries of that call", async () => {
  const account = world.addAccount();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  world.reactions = [
    async () => {
      await answered;
      return { kind: "retryable", code: "platform_unavailable", message: "busy" };
    },
  ];
  const hide = await request(sql(), account, { type: "hide" });
  await using _worker = startActionWorker(database, world, {
    settings: { visibleCallMs: 300, retryMs: [3_600_000] },
  });
  await untilStatus(sql(), hide, "calling");
  const unhide = await request(sql(), account, { type: "unhide" });
  expect((await readActions(sql())).map(({ status }) => status)).toEqual(["calling", "queued"]);
  answer();

  expect(await untilAllEnded(sql())).toMatchObject([
    { id: hide, status: "failed", errorCode: "duplicate_detected" },
    { id: unhide, status: "succeeded" },
  ]);
  expect(world.calls.map(({ kind }) => kind)).toEqual(["hide", "unhide"]);
  const events = await readEvents();
  expect(events.map(({ event }) => event.actionId)).toEqual([hide, unhide]);
});

test("an action on a comment does not replace a waiting one on a comment with the same id on other media", async () => {
  const account = world.addAccount();
  await request(sql(), account, { type: "hide", mediaId: "media-1" });
  await request(sql(), account, { type: "hide", mediaId: "media-2" });
  await using _worker = startActionWorker(database, world);
  expect(await untilAllEnded(sql())).toMatchObject([
    { status: "succeeded" },
    { status: "succeeded" },
  ]);
});

test("showing a comment replaces a retry of hiding it, and is sent only when no unanswered call to hide it can still arrive at the platform", async () => {
  const account = world.addAccount();
  world.reactions = [() => NO_ANSWER];
  const hide = await request(sql(), account, { type: "hide" });
  await using worker = startActionWorker(database, world, {
    settings: { visibleCallMs: 1_500, retryMs: [3_600_000] },
  });
  await eventually(async () => {
    const [row] =
      await sql()`select 1 from comment_actions where status = 'queued' and retry_count = 1`;
    return row !== undefined;
  });
  const [call] = await sql()<{ callUntil: Date }[]>`select call_until from comment_actions`;
  const unhide = await request(sql(), account, { type: "unhide" });
  expect(await readActions(sql())).toMatchObject([
    { id: hide, status: "failed", errorCode: "duplicate_detected" },
    { id: unhide },
  ]);
  worker.claims.nudge();
  const [event] = await readEvents();
  expect(event?.event.actionId).toBe(hide);

  expect(await untilAllEnded(sql())).toMatchObject([{ id: hide }, { status: "succeeded" }]);
  const [later] = await sql()<{ calledAt: Date }[]>`
    select called_at from comment_actions where id = ${unhide}`;
  expect(later?.calledAt.getTime()).toBeGreaterThanOrEqual(call?.callUntil.getTime() ?? Infinity);
});

test.each([
  ["ends after the request", false],
  ["has ended before the request", true],
])(
  "showing a comment waits until the unanswered call of an earlier action that hides it can no longer arrive, also when that action %s",
  async (_title, hasEnded) => {
    const account = world.addAccount();
    const { promise: requested, resolve: answer } = Promise.withResolvers<void>();
    world.reactions = [
      async () => {
        await requested;
        return NO_ANSWER;
      },
    ];
    const hide = await request(sql(), account, { type: "hide" });
    await using _worker = startActionWorker(database, world, {
      // Without a retry, the action that hides the comment ends with its first call.
      settings: { visibleCallMs: 1_500, retryMs: hasEnded ? [] : [3_600_000] },
    });
    await untilStatus(sql(), hide, "calling");
    if (hasEnded) {
      answer();
      await untilStatus(sql(), hide, "failed");
    }
    const unhide = await request(sql(), account, { type: "unhide" });
    answer();
    expect(await untilAllEnded(sql())).toMatchObject([
      { id: hide, status: "failed" },
      { id: unhide, status: "succeeded" },
    ]);
    const times = await sql()<{ calledAt: Date; callUntil: Date }[]>`
      select called_at, call_until
      from comment_actions
      order by created_at`;
    expect(times[1]?.calledAt.getTime()).toBeGreaterThanOrEqual(
      times[0]?.callUntil.getTime() ?? Infinity,
    );
  },
);

test("an action that shows a comment does not wait for the deadline of an answered call that hides it", async () => {
  const account = world.addAccount();
  await using _worker = startActionWorker(database, world, {
    settings: { visibleCallMs: 3_600_000 },
  });
  const hide = await request(sql(), account, { type: "hide" });
  await untilStatus(sql(), hide, "succeeded");
  const unhide = await request(sql(), account, { type: "unhide" });
  await untilStatus(sql(), unhide, "succeeded");
  expect(world.calls.map(({ kind }) => kind)).toEqual(["hide", "unhide"]);
});

test("two waiting actions on one comment are carried out in the order of the database's time of their requests", async () => {
  const account = world.addAccount();
  const hide = await request(sql(), account, { type: "hide", commentId: "comment-2" });
  const unhide = await request(sql(), account, { type: "unhide" });
  // The clock of the process that stored the second request is ahead.
  await sql()`
    update comment_actions
    set comment_id = 'comment-1', created_at = now() + interval '1 second'
    where id = ${hide}`;
  await using _worker = startActionWorker(database, world);

  expect(await untilAllEnded(sql())).toMatchObject([{ id: hide }, { id: unhide }]);
  expect(world.calls.map(({ kind }) => kind)).toEqual(["unhide", "hide"]);
});

test("the time since the last check for due comment actions grows while every check fails, and is reset by a successful check", async () => {
  let isDown = true;
  let asked = 0;
  const wrapSql = (pool: Sql) =>
    new Proxy(pool, {
      apply: (target, self, args) => {
        asked += 1;
        if (isDown) throw new Error("the database does not answer");
        return Reflect.apply(target, self, args) as unknown;
      },
    });
  await using worker = startActionWorker(database, world, { wrapSql });
  const startedAt = performance.now();
  await eventually(() => asked > 1);
  const sinceMs = performance.now() - startedAt;
  expect(worker.claims.claimAgeMs()).toBeGreaterThanOrEqual(sinceMs);
  isDown = false;
  worker.claims.nudge();
  await eventually(() => worker.claims.claimAgeMs() < performance.now() - startedAt);
});

test("a reply whose call was not answered is found on the platform and not sent again", async () => {
  const account = world.addAccount();
  world.reactions = [
    (make) => {
      make();
      return NO_ANSWER;
    },
  ];
  await request(sql(), account);
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 200 } });

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "succeeded", externalId: "made-1", callNumber: 1 });
  expect(world.visible).toHaveLength(1);
});

test("a reply that the platform publishes just before the call's deadline is found, because the search for it starts only after the deadline", async () => {
  const account = world.addAccount();
  world.reactions = [
    (make) => {
      setTimeout(make, 500);
      return NO_ANSWER;
    },
  ];
  await request(sql(), account);
  await using _one = startActionWorker(database, world, { settings: { visibleCallMs: 1_000 } });
  await using _two = startActionWorker(database, world, { settings: { visibleCallMs: 1_000 } });

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "succeeded", externalId: "made-1", callNumber: 1 });
  const [look] = world.looks;
  expect(look?.now.getTime()).toBeGreaterThanOrEqual(look?.callUntil.getTime() ?? Infinity);
  expect(world.visible).toHaveLength(1);
});

test("a second call with an unknown outcome whose reply is absent ends as outcome_unknown", async () => {
  const account = world.addAccount();
  world.reactions = [() => NO_ANSWER, () => NO_ANSWER];
  await request(sql(), account);
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "failed", errorCode: "outcome_unknown", callNumber: 2 });
  expect(world.calls).toHaveLength(2);
});

test("two replies with the same text to one comment are sent one after the other, and each gets the id of its own reply", async () => {
  const account = world.addAccount();
  const lost = (make: () => string) => {
    make();
    return NO_ANSWER;
  };
  world.reactions = [lost, lost];
  await request(sql(), account);
  await request(sql(), account, { text: " Thanks! " });
  await using _one = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });
  await using _two = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });

  const actions = await untilAllEnded(sql());

  expect(actions.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect(new Set(actions.map(({ externalId }) => externalId))).toEqual(
    new Set(["made-1", "made-2"]),
  );
  expect(world.calls).toHaveLength(2);
});

test("an access token that the platform refuses is renewed once, and the beginning of the second call is recorded", async () => {
  const account = world.addAccount();
  world.reactions = [() => ({ kind: "token_refused", message: "expired" })];
  await request(sql(), account);
  await using _worker = startActionWorker(database, world);

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "succeeded", callNumber: 2 });
  expect(world.calls.map(({ token }) => token)).toEqual(["first-token", "second-token"]);
});

test("an account whose renewed access token is refused too has to be reconnected", async () => {
  const account = world.addAccount();
  const refuse = () => ({ kind: "token_refused", message: "expired" }) as const;
  world.reactions = [refuse, refuse];
  await request(sql(), account);
  await using _worker = startActionWorker(database, world);

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "failed", errorCode: "account_reconnect_required" });
  expect(world.reconnects).toEqual([account.id]);
});

test.each(["disconnected", "reconnect_required"])(
  "a comment action whose account is %s after the request fails without a platform call",
  async (status) => {
    const account = world.addAccount({ status });
    await request(sql(), account);
    await using _worker = startActionWorker(database, world);

    const [action] = await untilAllEnded(sql());

    const code = status === "disconnected" ? "account_disconnected" : "account_reconnect_required";
    expect(action).toMatchObject({ status: "failed", errorCode: code, callNumber: 0 });
    expect(world.calls).toEqual([]);
  },
);

test("a reply ends with an unknown outcome when its account is disconnected before the search for its unanswered call", async () => {
  const account = world.addAccount();
  world.reactions = [
    () => {
      account.status = "disconnected";
      return NO_ANSWER;
    },
  ];
  await request(sql(), account);
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "failed", errorCode: "outcome_unknown", callNumber: 1 });
});

test("hiding a comment that does not exist any more fails as content_rejected", async () => {
  const account = world.addAccount();
  world.reactions = [() => ({ kind: "missing" })];
  await request(sql(), account, { type: "hide" });
  await using _worker = startActionWorker(database, world);

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "failed", errorCode: "content_rejected" });
});

test("a rate limit delays all comment actions of its account, does not count as a retry, and delays no other account", async () => {
  const account = world.addAccount();
  const other = world.addAccount();
  const limit = {
    kind: "retryable",
    code: "rate_limited",
    message: "slow down",
    isLimit: true,
    retryAfterMs: 3_600_000,
  } as const;
  world.reactions = [() => limit];
  const first = await request(sql(), account);
  await using worker = startActionWorker(database, world);
  await eventually(async () => (await readActions(sql()))[0]?.errorCode === "rate_limited");
  const second = await request(sql(), account, { commentId: "comment-2" });
  const third = await request(sql(), other);
  worker.claims.nudge();
  await untilStatus(sql(), third, "succeeded");

  expect(await readActions(sql())).toMatchObject([
    { id: first, status: "queued", errorCode: "rate_limited" },
    { id: second, status: "queued", callNumber: 0 },
    { id: third, status: "succeeded" },
  ]);
  const [queue] = await sql()<{ retryCount: number; isHeld: boolean }[]>`
    select a.retry_count, q.not_before > now() + interval '59 minutes' as is_held
    from comment_actions a
    join comment_action_queues q using (account_id)
    where a.id = ${first}`;
  expect(queue).toEqual({ retryCount: 0, isHeld: true });
});

test.each(["platform", "account", "workspace"] as const)(
  "an operator's pause of the %s stops calls, but not the search for a lost reply",
  async (kind) => {
    const account = world.addAccount();
    const lost = (make: () => string) => {
      make();
      return NO_ANSWER;
    };
    world.reactions = [lost];
    const sent = await request(sql(), account);
    await using worker = startActionWorker(database, world, { settings: { visibleCallMs: 200 } });
    await untilStatus(sql(), sent, "unknown");
    const key = { platform: account.platform, account: account.id, workspace: account.workspaceId };
    await sql()`insert into pauses (kind, key) values (${kind}, ${key[kind]})`;
    const waiting = await request(sql(), account, { commentId: "comment-2" });
    worker.claims.nudge();
    await untilStatus(sql(), sent, "succeeded");

    expect(world.calls).toHaveLength(1);
    await sql()`delete from pauses`;
    // A paused account is checked every 10 s; the test makes the next check due now.
    await sql()`update comment_action_queues set wake_at = now()`;
    await untilStatus(sql(), waiting, "succeeded");
  },
);

test("a worker carries out no comment action while its data belongs to another deployment", async () => {
  const account = world.addAccount();
  await request(sql(), account);
  await using _foreign = startActionWorker(database, world, { deploymentId: "copy" });
  let claimed = 0;
  await using _second = startActionWorker(database, world, {
    deploymentId: "copy",
    wrapSql: (pool) => {
      claimed += 1;
      return pool;
    },
  });
  // The workers look for due actions several times within 1.2 s, and every action stays queued.
  const isQueued = async () =>
    (await readActions(sql())).every(({ status }) => status === "queued");
  const until = Date.now() + 1_200;
  await eventually(async () => {
    expect(await isQueued()).toBe(true);
    return Date.now() > until;
  });

  expect(claimed).toBe(1);
  expect(world.calls).toEqual([]);
});

test("of several private replies to one comment only one is stored, also when they are requested at the same time", async () => {
  const account = world.addAccount();
  const stored = await Promise.all(
    Array.from({ length: 6 }, () => requestPrivateReply(sql(), account)),
  );
  expect(stored.filter((id) => id !== undefined)).toHaveLength(1);

  await using _worker = startActionWorker(database, world);
  await untilAllEnded(sql());

  expect(world.calls.map(({ kind }) => kind)).toEqual(["private_reply"]);
  expect(world.ended).toMatchObject([{ result: { kind: "sent" }, accountId: account.id }]);
  expect(await readEvents()).toEqual([]);
});

test("what a person requested does not wait behind the private replies of the account that were stored before", async () => {
  const account = world.addAccount();
  const ruleId = await addRule(sql(), account);
  for (let count = 0; count < 60; count += 1)
    await requestPrivateReply(sql(), account, { ruleId, commentId: `comment-${count}` });
  await request(sql(), account, { type: "hide", commentId: "abusive" });
  await using _worker = startActionWorker(database, world);
  await untilAllEnded(sql());
  expect(world.calls).toHaveLength(61);
  expect(world.calls.findIndex(({ kind }) => kind === "hide")).toBeLessThan(4);
});

test("a private reply that the platform refuses as a duplicate counts as succeeded if an earlier call had no answer", async () => {
  const account = world.addAccount();
  const duplicate = { kind: "refused", code: "duplicate_on_platform", message: "twice" } as const;
  world.reactions = [() => NO_ANSWER, () => duplicate];
  world.verdicts = [() => ({ kind: "repeat" })];
  await requestPrivateReply(sql(), account);
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });
  expect(await untilAllEnded(sql())).toMatchObject([{ status: "succeeded", callNumber: 2 }]);

  world.reactions = [() => duplicate];
  await requestPrivateReply(sql(), account, { commentId: "comment-2" });
  const [, second] = await untilAllEnded(sql());

  expect(second).toMatchObject({ status: "failed", errorCode: "duplicate_on_platform" });
  expect(world.ended.map(({ result }) => result.kind)).toEqual(["sent", "failed"]);
});

test("a private reply ends without a platform call while the sending of private replies is blocked", async () => {
  const account = world.addAccount();
  await requestPrivateReply(sql(), account);
  await using _worker = startActionWorker(database, world, {
    settings: { isSendingEnabled: false },
  });

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "failed", errorCode: "sending_blocked", callNumber: 0 });
  expect(world.calls).toEqual([]);
  expect(world.ended).toMatchObject([{ result: { kind: "failed", code: "sending_blocked" } }]);
});

test("a private reply is not sent after its latest send time", async () => {
  const account = world.addAccount();
  await requestPrivateReply(sql(), account, { sendBefore: new Date(Date.now() - 1) });
  await using _worker = startActionWorker(database, world);

  const [action] = await untilAllEnded(sql());

  expect(action).toMatchObject({ status: "failed", errorCode: "missed", callNumber: 0 });
  expect(world.calls).toEqual([]);
});
