import type { SendGuard } from "@postrider/platforms/http/send-once";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { FAULTS, SCALE } from "../publishing/fault-matrix/faults.ts";
import { DeliveryProcess, Peers } from "../publishing/fault-matrix/processes.ts";
import { openDatabase } from "../publishing/fixture.ts";
import { ACTION_KINDS, ActionStage, type ActionKind, type ActionRound } from "./action-stage.ts";
import { untilAllEnded } from "./fixture.ts";

const LONG = { timeout: 600_000 };

const stage = await ActionStage.open();
const peers = await Peers.open(stage.stage, stage.world);
afterAll(async () => {
  await peers[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

/**
 * Waits until all comment actions have ended, and checks that each succeeded and took effect
 * exactly once.
 */
async function expectOnce(sql: Sql, rounds: readonly ActionRound[]): Promise<void> {
  const actions = await untilAllEnded(sql);
  await stage.untilArrived();
  const byId = new Map(actions.map((action) => [action.id, action]));
  const ends = await Promise.all(
    rounds.map(async (round) => {
      const { status, errorCode } = byId.get(round.id) ?? { status: "missing", errorCode: null };
      const cell = `${round.kind.platform} ${round.kind.type}, ${round.fault}`;
      return { cell, status, errorCode, effects: await stage.countEffects(round) };
    }),
  );
  const wrong = ends.filter(({ status, effects }) => status !== "succeeded" || effects !== 1);
  expect(wrong).toEqual([]);
}

const cellsOf = (faults: readonly string[], kinds: readonly ActionKind[] = ACTION_KINDS) =>
  kinds.flatMap((kind) => faults.map((fault) => ({ kind, fault })));

test(
  "actions on comments take effect exactly once on every platform, whatever faults are simulated for the platform's calls and lists of comments",
  LONG,
  async () => {
    const faults = FAULTS.filter(({ by, isDelay }) => by === "simulator" && isDelay !== true);
    await using database = await openDatabase(3);
    const rounds = await stage.addRounds(cellsOf(faults.map(({ name }) => name)));
    // The simulated platforms' lists lag behind, but they contain the comments: users request
    // actions on comments that they see.
    await stage.stage.control("POST", "clock", { advanceMs: 120_000 * SCALE });
    for (const [index, round] of rounds.entries()) {
      const fault = faults.find(({ name }) => name === round.fault);
      const { staleMs, rule } = fault ?? {};
      await stage.addRules(round, [
        ...(staleMs === undefined ? [] : [{ mode: "stale_reads", delayMs: staleMs }]),
        ...(rule === undefined ? [] : [rule(index)]),
      ]);
      await stage.request(database.sql, round);
    }
    await using _one = stage.startWorker(database);
    await using _two = stage.startWorker(database);

    await expectOnce(database.sql, rounds);
  },
);

/**
 * Waits until another worker has called the platform for the action on this comment, or has found
 * its reply.
 */
async function untilTakenOver(sql: Sql, commentId: string): Promise<void> {
  await eventually(async () => {
    const rows = await sql`
        select 1
        from comment_actions
        where comment_id = ${commentId}
        and (call_number > 1 and status <> 'calling' or status = 'succeeded')`;
    return rows.length === 1;
  });
}

test.concurrent.each(["before", "after"] as const)(
  "a comment action takes effect exactly once if its worker is delayed %s its call until another worker has taken over",
  async (moment) => {
    await using database = await openDatabase(3);
    const rounds = await stage.addRounds(cellsOf([`delayed ${moment} the call`]));
    for (const round of rounds) await stage.request(database.sql, round);
    const delayed = new Set<string>();
    const delay = async <T>(
      { commentId }: { readonly commentId: string },
      call: () => Promise<T>,
    ): Promise<T> => {
      const isFirst = !delayed.has(commentId);
      delayed.add(commentId);
      if (!isFirst) return await call();
      if (moment === "before") await untilTakenOver(database.sql, commentId);
      const outcome = await call();
      if (moment === "after") await untilTakenOver(database.sql, commentId);
      return outcome;
    };
    const start = () =>
      stage.startWorker(database, {
        settings: { reconcileTimeScale: SCALE / 4 },
        wrap: (connector) => ({
          ...connector,
          reply: (account, reply, guard: SendGuard) =>
            delay(reply, () => connector.reply(account, reply, guard)),
        }),
        wrapPrivate: (connector) => ({
          ...connector,
          send: (account, reply, guard: SendGuard) =>
            delay(reply, () => connector.send(account, reply, guard)),
        }),
      });
    await using _one = start();
    await using _two = start();

    await expectOnce(database.sql, rounds);
  },
  LONG.timeout,
);

/**
 * Lets a suspended process continue or starts a killed one again, and requests one more action from
 * it.
 */
async function continueWith(process: DeliveryProcess, round: ActionRound): Promise<void> {
  await stage.request(process.database.sql, round);
  if (process.isDead) process.start();
  else process.goOn();
}

const POINTS = [
  "delivery.after-action-claim",
  "delivery.before-action-mark",
  "delivery.after-action-mark",
  "delivery.after-action-call",
] as const;

test.concurrent.each(
  POINTS.flatMap((point) => (["kill", "stop"] as const).map((order) => ({ point, order }))),
)(
  "actions on comments take effect exactly once when their process gets the signal $order at the point $point",
  async ({ point, order }) => {
    const kinds = ACTION_KINDS.filter(({ platform }) => platform !== "x");
    const cells = cellsOf([`${order} at ${point}`], kinds);
    const [last, ...rounds] = await stage.addRounds([...cells.slice(0, 1), ...cells]);
    if (last === undefined) throw new Error("no round");
    await using process = new DeliveryProcess(peers, await openDatabase(3), 1_500, {
      ROLE: "engagement",
      AUTOMATION_SENDING: "enabled",
      METRICS_REFRESH: "off",
      LEASE_SECONDS: "1",
      RECONCILE_TIME_SCALE: String(SCALE / 4),
    });
    const { sql } = process.database;
    for (const round of rounds) await stage.request(sql, round);
    process.arm(point, order);
    process.start();
    await eventually(() => process.isDead || process.isStopped);
    const settings = { visibleCallMs: 1_500, leaseMs: 1_000, reconcileTimeScale: SCALE / 4 };
    await using worker = stage.startWorker(process.database, { settings });
    // A stopped process continues when another worker has finished its actions, and then works on
    // one more.
    await untilAllEnded(sql);
    await worker[Symbol.asyncDispose]();
    await continueWith(process, last);

    await expectOnce(sql, [...rounds, last]);
  },
  LONG.timeout,
);
