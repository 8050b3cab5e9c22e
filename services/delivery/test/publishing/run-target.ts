import type { TestDatabase } from "@postrider/shared/testing/database";
import type { CallStatus } from "#src/calls/call.ts";
import {
  openDatabase,
  request,
  startWorker,
  untilStatus,
  World,
  type TestTarget,
  type WorkerOptions,
} from "./fixture.ts";

/**
 * A test database, simulated services around the delivery service, and one target. Disposing of it
 * closes the database.
 */
export interface TargetRun extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly sql: TestDatabase["sql"];
  readonly world: World;
  readonly target: TestTarget;
}

/** @param fakes How the simulated platform behaves, as properties of `World`. */
export async function openTargetRun(fakes: Partial<World> = {}): Promise<TargetRun> {
  const database = await openDatabase();
  const world = Object.assign(new World(), fakes);
  return {
    database,
    sql: database.sql,
    world,
    target: world.addTarget(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/**
 * Requests the publication of a target and waits until a worker has given its publish task the
 * status. The worker runs until the end of the test.
 */
export async function runTarget(
  status: CallStatus,
  fakes: Partial<World>,
  settings: WorkerOptions["settings"] = {},
): Promise<TargetRun> {
  await using stack = new AsyncDisposableStack();
  const run = stack.use(await openTargetRun(fakes));
  stack.use(startWorker(run.database, run.world, { settings }));
  await request(run.sql, run.target);
  await untilStatus(run.sql, run.target, status);
  const opened = stack.move();
  return { ...run, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
