import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CommentActionCompletedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { newId } from "@postrider/shared/ids";
import { afterAll, expect, test } from "vitest";
import { insertRuns } from "#src/engagement/db/automation-runs.ts";
import { insertActions, type ActionRow } from "#src/engagement/db/comment-actions.ts";
import { listAutomationRuns } from "#src/engagement/operations/list-automation-runs.ts";
import { listCommentActions } from "#src/engagement/operations/to-comment-action.ts";
import { record, startEvents } from "./compose-fixture.ts";

const topic = "engagement.events.v1";

const events = await startEvents({ listAutomationRuns, listCommentActions });
afterAll(() => events[Symbol.asyncDispose]());

async function readData(workspaceId: string): Promise<readonly unknown[]> {
  const queued = await events.queued(workspaceId);
  return queued.map(({ payload }) => (JSON.parse(payload) as { data: unknown }).data);
}

test("the payload of a webhook event about a comment action is read from the stored action, and a private reply is never shown", async () => {
  const { workspaceId } = await events.subscribe();
  const action: ActionRow = {
    id: newId(),
    workspaceId,
    accountId: newId(),
    platform: "instagram",
    mediaId: "m1",
    commentId: "c1",
    type: "hide",
    text: null,
    callKey: "visibility",
    ruleId: null,
    runId: null,
    sendBefore: null,
  };
  const privateReply: ActionRow = {
    ...action,
    id: newId(),
    type: "private_reply",
    text: "secret",
    callKey: "private_reply",
    ruleId: newId(),
    runId: newId(),
    sendBefore: new Date(Date.now() + 60_000),
  };
  await events.sql.begin((tx) => insertActions(tx, [action, privateReply]));
  const occurredAt = timestampFromDate(new Date());
  await events.publish(
    topic,
    [action, privateReply].map(({ id: actionId }) =>
      record(CommentActionCompletedSchema, { workspaceId, actionId, version: 1n, occurredAt }),
    ),
  );

  await events.compose();

  const data = await readData(workspaceId);
  expect(data).toHaveLength(2);
  expect(data).toContainEqual(
    expect.objectContaining({ id: action.id, accountId: action.accountId, type: "hide" }),
  );
  expect(data).toContainEqual({ id: privateReply.id });
});

test("the event about the end of a run of an automation rule becomes a webhook event with the stored run", async () => {
  const { workspaceId } = await events.subscribe();
  const ruleId = newId();
  const run = {
    id: newId(),
    workspaceId,
    accountId: newId(),
    ruleId,
    commentId: "c1",
    mediaId: "m1",
    authorId: null,
    authorUsername: "bike.fan",
    status: "prepared",
    reason: "sending_blocked",
  } as const;
  await events.sql`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, created_at, updated_at
    )
    values (
      ${ruleId}, ${workspaceId}, ${run.accountId}, 'instagram', 'r', '{hello}', 'any', '{}', 'm', now(), now()
    )`;
  await events.sql.begin((tx) => insertRuns(tx, [run]));
  const appended = await events.sql<{ type: string; key: string; payload: string }[]>`
    delete from outbox
    returning type, key, payload`;
  await events.publish(
    topic,
    appended.map(({ type, key, payload }) => ({
      key,
      value: payload,
      headers: {
        ce_id: newId(),
        ce_type: type,
        ce_time: new Date().toISOString(),
        requestid: "request-1",
      },
    })),
  );

  await events.compose();

  expect(await readData(workspaceId)).toEqual([
    {
      id: run.id,
      ruleId,
      commentId: "c1",
      mediaId: "m1",
      author: { id: null, username: "bike.fan" },
      status: "prepared",
      reason: "sending_blocked",
      createdAt: expect.any(String) as string,
    },
  ]);
});
