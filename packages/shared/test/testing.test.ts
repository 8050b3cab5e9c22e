import type { ServiceImpl } from "@connectrpc/connect";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { expect, test } from "vitest";
import { conflict, ServiceError } from "#src/errors.ts";
import { openSql } from "#src/postgres.ts";
import { findContext, runInContext } from "#src/telemetry/request-context.ts";
import { createTestPeer } from "#src/testing/router.ts";
import { createDatabase } from "./test-service.ts";

function peerWith(service: Partial<ServiceImpl<typeof ParkedEventService>>) {
  return createTestPeer((router) => router.service(ParkedEventService, service)).client(
    ParkedEventService,
  );
}

test("a test double of an RPC service in memory runs the handler in the caller's request context", async () => {
  const client = peerWith({
    listParkedEvents: () => ({ events: [{ id: findContext()?.requestId ?? "none" }] }),
  });
  const answer = await runInContext({ requestId: "req-7" }, () => client.listParkedEvents({}));
  expect(answer.events[0]?.id).toBe("req-7");
});

test("a test double of an RPC service in memory fails with the handler's reason, and hides unexpected errors", async () => {
  const client = peerWith({
    listParkedEvents: () => {
      throw conflict("post_not_editable");
    },
    redriveParkedEvents: () => {
      throw new Error("secret detail");
    },
  });
  await expect(client.listParkedEvents({})).rejects.toMatchObject({
    kind: "conflict",
    reason: "post_not_editable",
  });
  const failure = await client.redriveParkedEvents({}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServiceError);
  expect(failure).toMatchObject({ reason: "internal", message: "internal" });
});

test("a test database is migrated, has the timeouts of the service's role, and shares no data with another test database", async () => {
  await using first = await createDatabase(1);
  await using second = await createDatabase(1);
  await first.sql`insert into effects (group_name, key, value) values ('g', 'k', 'v')`;
  expect(await second.sql`select 1 from effects`).toHaveLength(0);
  const pool = openSql({ url: first.url, poolSize: 1, applicationName: "test" });
  const [settings] = await pool`
    select
      current_user as role,
      current_schema() as schema,
      current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle,
      current_setting('transaction_timeout') as transaction`;
  expect(settings).toEqual({
    role: "postrider_sample",
    schema: "sample",
    statement: "10s",
    idle: "10s",
    transaction: "15s",
  });
  await pool.end();
});
