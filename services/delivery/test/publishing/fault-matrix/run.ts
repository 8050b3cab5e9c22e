import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { request } from "../fixture.ts";
import { nameRow, type Row } from "./cases.ts";
import { isApplicable, type Fault } from "./faults.ts";
import type { Judged, Round } from "./rounds.ts";
import { scaled } from "./scaled.ts";
import {
  countAtWork,
  openMatrixDatabase,
  startMatrixWorker,
  targetsOf,
  untilEnded,
  type Stage,
  type Wrap,
} from "./stage.ts";

/**
 * Maximum number of publish tasks in work. With more, the machine becomes so slow that the time to
 * send a recorded publishing call expires before the call is sent.
 */
const MAX_AT_WORK = 60;

export async function addAll(
  stage: Stage,
  cells: readonly { readonly row: Row; readonly fault: Fault }[],
  count: number,
): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (const { row, fault } of cells)
    if (isApplicable(fault, row.step)) rounds.push(...(await stage.addRounds(row, fault, count)));
  return rounds;
}

/**
 * Orders the rounds so that the cells of the fault matrix take turns and the load is spread over
 * the platforms.
 */
function mix(rounds: readonly Round[]): readonly Round[] {
  const cells = Map.groupBy(rounds, ({ row, fault }) => `${nameRow(row)} ${fault.name}`);
  const lists = [...cells.values()];
  const most = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: most }, (_unused, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  ).flat();
}

/** Requests the publication of all rounds of the fault matrix, a limited number at a time. */
async function requestAll(sql: Sql, rounds: readonly Round[]): Promise<void> {
  const waiting = [...mix(rounds)];
  while (waiting.length > 0) {
    const free = await eventually(
      async () => {
        const atWork = await countAtWork(sql);
        return atWork < MAX_AT_WORK && MAX_AT_WORK - atWork;
      },
      { timeoutMs: 300_000 },
    );
    await request(sql, ...targetsOf(waiting.splice(0, free)));
  }
}

export interface RunOptions {
  readonly wrap?: Wrap;
  readonly factsMs?: number;
}

/** Publishes the targets of the fault matrix's rounds with two workers of the test process. */
export async function runHere(
  stage: Stage,
  rounds: readonly Round[],
  { wrap = scaled, ...options }: RunOptions = {},
): Promise<readonly Judged[]> {
  await using database = await openMatrixDatabase();
  await using _one = startMatrixWorker(stage, database, wrap);
  await using _two = startMatrixWorker(stage, database, wrap);
  await requestAll(database.sql, rounds);
  await untilEnded(database.sql, rounds, options);
  return await stage.judgeAll(database.sql, rounds);
}

/**
 * Runs a function for all items, for `width` items concurrently. Returns the results in the order
 * of the items.
 */
export async function inTurns<T, R>(
  width: number,
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results[next[0]] = await run(next[1]);
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}
