import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { nameRow, ROWS } from "./fault-matrix/cases.ts";
import { FAULTS, type Fault } from "./fault-matrix/faults.ts";
import {
  Peers,
  runKilled,
  runStopped,
  toKillBatches,
  toStopBatches,
  type Signalled,
} from "./fault-matrix/processes.ts";
import type { Judged, Result, Round } from "./fault-matrix/rounds.ts";
import { addAll, inTurns, runHere } from "./fault-matrix/run.ts";
import { Stage } from "./fault-matrix/stage.ts";
import { readTable, replaceTable } from "./fault-matrix/table.ts";

// oxlint-disable-next-line no-restricted-properties -- number of rounds, and whether the document is rewritten
const { FAULT_MATRIX_ROUNDS, FAULT_MATRIX_ONLY = "", FAULT_MATRIX_WRITE } = process.env;
/**
 * Number of rounds per cell of the fault matrix. The table in docs/guarantees.md is created with 20
 * rounds.
 */
const ROUNDS = Number(FAULT_MATRIX_ROUNDS ?? 1);
const GUARANTEES = fileURLToPath(new URL("../../../../docs/guarantees.md", import.meta.url));
const LONG = { timeout: 3_000_000 };

const all: Judged[] = [];
const caught = { kill: 0, stop: 0 };

const stage = await Stage.open();
const peers = await Peers.open(stage);
afterAll(async () => {
  await peers[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

function addRounds(count: number, ...by: readonly Fault["by"][]) {
  const rows = ROWS.filter((row) => nameRow(row).includes(FAULT_MATRIX_ONLY));
  const faults = FAULTS.filter((fault) => by.includes(fault.by));
  const cells = rows.flatMap((row) => faults.map((fault) => ({ row, fault })));
  return addAll(stage, cells, count);
}

const WANTED: readonly Result[] = ["published", "unknown"];

function expectOnce(judged: readonly Judged[]): void {
  all.push(...judged);
  const problems = judged
    .filter(({ judgement }) => !WANTED.includes(judgement.result))
    .map(({ round, judgement }) => [
      nameRow(round.row),
      round.fault.name,
      judgement.result,
      judgement.problem,
      round.target.targetId,
    ]);
  expect(problems).toEqual([]);
}

/**
 * Runs batches of rounds of the fault matrix concurrently, each batch in a delivery process of its
 * own that receives a signal.
 */
async function runSignalled(
  by: "kill" | "stop",
  batches: readonly (readonly Round[])[],
  run: (stage: Stage, peers: Peers, rounds: readonly Round[]) => Promise<Signalled>,
): Promise<void> {
  const ends = await inTurns(3, batches, (batch) => run(stage, peers, batch));
  caught[by] = ends.reduce((sum, end) => sum + end.caught, 0);
  expectOnce(ends.flatMap(({ judged }) => judged));
  expect(caught[by]).toBeGreaterThan(0);
}

test.concurrent(
  "each target is published once or reported as unknown when platforms and networks fail or workers are delayed",
  LONG,
  async () => {
    const rounds = await addRounds(ROUNDS, "simulator", "held");
    expectOnce(await runHere(stage, rounds));
    expect(await stage.listUnmet(rounds)).toEqual([]);
  },
);

test.concurrent(
  "each target is published once or reported as unknown when delivery processes are killed during their platform calls",
  LONG,
  async () => {
    // Half of the platform calls are interrupted before the platform processes them, so there are
    // at least two rounds.
    const batches = toKillBatches(await addRounds(Math.max(2, ROUNDS), "kill"));
    await runSignalled("kill", batches, runKilled);
  },
);

test.concurrent(
  "each target is published once when a delivery process is suspended between recording a call and sending it, and other workers take over",
  LONG,
  async () => {
    await runSignalled("stop", toStopBatches(await addRounds(ROUNDS, "stop")), runStopped);
  },
);

test("a run of the fault matrix has a result for every cell of the table in docs/guarantees.md, and rewrites the table if FAULT_MATRIX_WRITE=yes", () => {
  const document = readFileSync(GUARANTEES, "utf8");
  const written = replaceTable(document, { judged: all, caught });
  const rows = [...readTable(written).rows].filter(([name]) => name.includes(FAULT_MATRIX_ONLY));
  expect(rows.flatMap(([, cells]) => cells)).not.toContain("");
  if (FAULT_MATRIX_WRITE === "yes") writeFileSync(GUARANTEES, written);
});
