import { afterAll, beforeEach, expect, test } from "vitest";
import { storeSending } from "#src/engagement/db/automation-sending.ts";
import { endBlockedReplies } from "#src/engagement/jobs/end-waiting-runs.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { DEPLOYMENT, logger, openDatabase } from "../publishing/fixture.ts";
import {
  CommentWorld,
  readActions,
  requestPrivateReply,
  startActionWorker,
  untilAllEnded,
} from "./fixture.ts";

let world: CommentWorld;

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = new CommentWorld();
  await database.migrationSql`truncate comment_actions, comment_action_queues, automation_sending`;
});

const sql = () => database.sql;

/**
 * Blocks the sending of private replies and enables it again, like two restarts with changed
 * settings.
 */
async function interruptSending(): Promise<void> {
  await storeSending(sql(), false);
  await storeSending(sql(), true);
}

test("a private reply that was requested before sending was blocked is not sent after sending is enabled again", async () => {
  await requestPrivateReply(sql(), world.addAccount());
  await interruptSending();
  const later = await requestPrivateReply(sql(), world.addAccount());
  await using _worker = startActionWorker(database, world);

  expect(await untilAllEnded(sql())).toMatchObject([
    { status: "failed", errorCode: "sending_blocked", callNumber: 0 },
    { id: later, status: "succeeded" },
  ]);
  expect(world.calls).toHaveLength(1);
});

test("waiting private replies end while their sending is blocked, and stay while it is enabled", async () => {
  const guard = createPublishingGuard({ sql: sql(), logger, deploymentId: DEPLOYMENT });
  const deps = { sql: sql(), guard, onEvents: () => undefined };
  await requestPrivateReply(sql(), world.addAccount());
  await endBlockedReplies(deps);
  expect(await readActions(sql())).toMatchObject([{ status: "queued" }]);
  await storeSending(sql(), false);
  await endBlockedReplies(deps);

  expect(await readActions(sql())).toMatchObject([
    { status: "failed", errorCode: "sending_blocked", callNumber: 0 },
  ]);
});
