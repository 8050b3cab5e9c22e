import { create, toJsonString } from "@bufbuild/protobuf";
import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { parkEvent } from "@postrider/shared/bus/parking";
import { newId } from "@postrider/shared/ids";
import { asOperator, BY_OPERATOR, runAudited } from "@postrider/shared/testing/audit";
import { expect, test } from "vitest";
import { startPosts } from "./fixture.ts";

test("redriving a parked event of the posts service leaves one audit entry, which operators can list", async () => {
  await using posts = await startPosts();
  const event = {
    eventId: newId(),
    type: TargetUpdatedSchema.typeName,
    key: newId(),
    payload: toJsonString(TargetUpdatedSchema, create(TargetUpdatedSchema)),
    headers: {},
  };
  const topic = "posts.events.v1";
  const error = new Error("the broker refused the event");
  await posts.sql.begin((tx) => parkEvent(tx, { direction: "out", topic, event, error, tries: 5 }));
  const redrive = () => asOperator(() => posts.parkedEvents.redriveParkedEvents({}));
  const subject = ["event", event.eventId];
  expect(await runAudited(posts.database, ["parked_events", "outbox"], redrive)).toEqual([
    {
      action: "event.redrive",
      workspaceId: null,
      subject,
      details: { type: event.type, topic, direction: "out" },
      ...BY_OPERATOR,
    },
  ]);
  const { entries } = await posts.audit.listAuditEntries({ limit: 10 });
  expect(entries.map(({ action, subjectId }) => [action, subjectId])).toEqual([
    ["event.redrive", event.eventId],
  ]);
});

test("a change of the limits of a workspace's posts leaves one audit entry with the limits before and after", async () => {
  await using posts = await startPosts();
  const workspaceId = newId();
  const entry = {
    action: "workspace.set_post_limits",
    workspaceId,
    subject: ["workspace", workspaceId],
    ...BY_OPERATOR,
  };
  const set = (change: { drafts?: bigint; bytes?: bigint; reset?: boolean }) => () =>
    asOperator(() => posts.limits.setPostLimits({ workspaceId, ...change }));
  const [none, first, both] = [
    { drafts: null, bytes: null },
    { drafts: 5, bytes: null },
    { drafts: 5, bytes: 3_000_000_000_000 },
  ];
  const audited = async (change: Parameters<typeof set>[0]) =>
    await runAudited(posts.database, ["post_limits"], set(change));
  const details = (before: object, after: object) => [{ ...entry, details: { before, after } }];
  expect(await audited({ drafts: 5n })).toEqual(details(none, first));
  expect(await audited({ bytes: 3_000_000_000_000n })).toEqual(details(first, both));
  expect(await audited({ reset: true })).toEqual(details(both, none));
});
