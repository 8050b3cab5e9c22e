import type { Publication } from "@postrider/platforms/publishing/publication";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { KINDS, type Row } from "./fault-matrix/cases.ts";
import { FAULTS, type Fault } from "./fault-matrix/faults.ts";
import { onePhase } from "./fault-matrix/one-phase.ts";
import type { Result, Round } from "./fault-matrix/rounds.ts";
import { addAll, runHere } from "./fault-matrix/run.ts";
import { scaled } from "./fault-matrix/scaled.ts";
import { Stage, type Wrap } from "./fault-matrix/stage.ts";

const ROUNDS = 3;

const stage = await Stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

function findRow(platform: string, name: string): Row {
  const kind = KINDS.find((one) => one.platform === platform && one.name === name);
  const step = kind?.steps.find(({ isVisible }) => isVisible === true);
  if (kind === undefined || step === undefined) throw new Error("no such row");
  return { kind, step };
}

function findFault(name: string): Fault {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new Error("no such fault");
  return fault;
}

const addRounds = (row: Row, fault: Fault) => addAll(stage, [{ row, fault }], ROUNDS);

/** Runs a small part of the fault matrix with changed connectors. */
async function run(
  rounds: Awaited<ReturnType<typeof addRounds>>,
  wrap: Wrap,
): Promise<readonly Result[]> {
  const judged = await runHere(stage, rounds, { wrap, factsMs: 3_000 });
  return judged.map(({ judgement }) => judgement.result);
}

const times = (result: Result): readonly Result[] => Array.from({ length: ROUNDS }, () => result);

/**
 * A deliberately wrong implementation: an unknown outcome of a publishing call counts as absence of
 * the post, without a search of the platform.
 */
const retryingBlindly: Wrap = (connector, on, sql) => ({
  ...scaled(connector, on, sql),
  maxResends: 1,
  reconcile: () => Promise.resolve({ kind: "absent" }),
});

test.concurrent("a post is published twice if a publishing call with an unknown outcome is retried without a search of the platform", async () => {
  const row = findRow("telegram", "text");
  expect(await run(await addRounds(row, findFault("drop after commit")), scaled)).toEqual(
    times("unknown"),
  );
  expect(await run(await addRounds(row, findFault("drop after commit")), retryingBlindly)).toEqual(
    times("twice"),
  );
});

async function isInCall(sql: Sql, { targetId }: Publication): Promise<boolean> {
  const rows = await sql`
    select 1
    from publish_tasks
    where target_id = ${targetId}
    and status = 'calling'`;
  return rows.length > 0;
}

/**
 * A deliberately wrong implementation: only the worker that still holds the publish task may record
 * the outcome of its publishing call.
 */
const fencingFacts: Wrap = (connector, on, sql) => {
  const real = scaled(connector, on, sql);
  return {
    ...real,
    publish: async (publication, handles, guard) => {
      const outcome = await real.publish(publication, handles, guard);
      if (await isInCall(sql, publication)) return outcome;
      return { kind: "unknown", message: "the fence has passed" };
    },
  };
};

test.concurrent.each(["held before the send", "held after the answer"])(
  "when the worker of a publishing call is %s, the outcome is lost if only the worker that still holds the task may record outcomes",
  { timeout: 60_000 },
  async (fault) => {
    const row = findRow("telegram", "text");
    expect(await run(await addRounds(row, findFault(fault)), scaled)).toEqual(times("published"));
    expect(await run(await addRounds(row, findFault(fault)), fencingFacts)).toEqual(times("lost"));
  },
);

/**
 * A deliberately wrong implementation: the platform is searched as soon as the outcome of a
 * publishing call is unknown, and a post that is not found counts as absent.
 */
const reconcilingEarly: Wrap = (connector, on, sql) => {
  const real = scaled(onePhase(connector, on), on, sql);
  return {
    ...real,
    publish: async (publication, handles, guard) => {
      const outcome = await real.publish(publication, handles, guard);
      if (outcome.kind === "unknown")
        await sql`
          update publish_tasks
          set call_until = called_at
          where target_id = ${publication.targetId}`;
      return outcome;
    },
    reconcile: (publication, handles, call, signal) =>
      real.reconcile(publication, handles, { ...call, looks: 99, callUntil: new Date(0) }, signal),
  };
};

/**
 * The post becomes visible so late that even a slow machine has already searched for it without
 * success and sent it again.
 */
const veryLate: Fault = {
  name: "commit very late",
  by: "simulator",
  rule: () => ({ mode: "commit_late", delayMs: 20_000 }),
};

/**
 * Publishes another post on the Facebook Page, because Facebook refuses a post only if it repeats
 * the newest one.
 */
async function postSomethingElse({ target, account }: Round): Promise<void> {
  const { baseUrl, version } = stage.config.facebook;
  const { token } = stage.world.account(target);
  const answer = await fetch(`${baseUrl}/${version}/${account}/feed`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ message: "Something else" }),
  });
  stage.otherPosts.add(((await answer.json()) as { id: string }).id);
}

async function untilVisible({ account }: Round): Promise<void> {
  await eventually(async () => (await stage.listVisible()).has(`facebook ${account}`));
}

async function runWithOtherPosts(fault: Fault, wrap: Wrap): Promise<readonly Result[]> {
  const rounds = await addRounds(findRow("facebook", "text"), fault);
  const results = run(rounds, wrap);
  await Promise.all(
    rounds.map(async (round) => {
      await untilVisible(round);
      await postSomethingElse(round);
    }),
  );
  return await results;
}

test.concurrent(
  "posts are published twice if the platform is searched before call_until, the deadline of the publishing call",
  { timeout: 120_000 },
  async () => {
    const inTime: Wrap = (connector, on, sql) => scaled(onePhase(connector, on), on, sql);
    const late = findFault("commit 90 s late");
    expect(await runWithOtherPosts(late, inTime)).toEqual(times("published"));
    expect(await runWithOtherPosts(veryLate, reconcilingEarly)).toEqual(times("twice"));
  },
);
