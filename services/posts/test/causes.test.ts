import { toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { newId } from "@postrider/shared/ids";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { expect, test } from "vitest";
import { attempt, deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";

const COUNT = 5;

const posts = await startPostsForFile();

function causeOf(number: number) {
  const traceId = String(number + 1).padStart(32, "0");
  return { requestid: `request-${number}`, traceparent: `00-${traceId}-${"1".repeat(16)}-01` };
}

/** Runs `work` in the context of a request, which is identified by a number. */
async function inRequest<T>(number: number, work: () => Promise<T>): Promise<T> {
  const { requestid: requestId, traceparent } = causeOf(number);
  return await runInContext({ requestId, traceparent }, work);
}

async function accept(change: { readonly scheduledInMs?: number } = {}): Promise<ShownPost> {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const { scheduledInMs } = change;
  if (scheduledInMs === undefined) return await posts.createPost({ workspaceId, accountIds });
  const scheduledAt = timestampFromDate(new Date(Date.now() + scheduledInMs));
  return await posts.createPost({ workspaceId, accountIds, scheduledAt });
}

async function listCauses(post: ShownPost, type: string): Promise<readonly unknown[]> {
  const rows = await posts.sql<{ headers: unknown }[]>`
    select headers
    from outbox
    where key = ${post.id}
    and type = ${`postrider.posts.v1.${type}`}
    order by id`;
  return rows.map(({ headers }) => headers);
}

test("when one batch of reports ends several posts, each post's event carries the request id and trace of its own report", async () => {
  const accepted = await Promise.all(Array.from({ length: COUNT }, () => accept()));
  const records = accepted.map((post, number) => ({
    key: post.id,
    headers: { ce_id: newId(), ce_type: TargetUpdatedSchema.typeName, ...causeOf(number) },
    value: toJsonString(
      TargetUpdatedSchema,
      deliveryOf(post)(0, "published", { attemptCount: 1, attempt: attempt(1, "published") }),
    ),
  }));

  await posts.consume(records);

  expect(await Promise.all(accepted.map((post) => listCauses(post, "PostPublished")))).toEqual(
    accepted.map((_, number) => [causeOf(number)]),
  );
});

test("when several posts start in one batch, each event carries the request id and trace of the request that created its post", async () => {
  const accepted = await Promise.all(
    Array.from({ length: COUNT }, (_, number) =>
      inRequest(number, () => accept({ scheduledInMs: 3_600_000 })),
    ),
  );
  await posts.sql`update posts set scheduled_at = now() where id in ${posts.sql(accepted.map(({ id }) => id))}`;

  await posts.startDue();

  expect(
    await Promise.all(accepted.map((post) => listCauses(post, "PostPublishRequested"))),
  ).toEqual(accepted.map((_, number) => [causeOf(number)]));
});

test("a repeated publish request carries the request id and trace of the request that created the post", async () => {
  const post = await inRequest(8, () => accept());
  await posts.sql`delete from outbox`;
  await posts.sql`update targets set last_report_at = now() - interval '1 hour'`;

  await posts.sweep();

  expect(await listCauses(post, "PostPublishRequested")).toEqual([causeOf(8)]);
});
