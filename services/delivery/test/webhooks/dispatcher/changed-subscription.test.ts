import type { ServerResponse } from "node:http";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { resetReceiver } from "#src/webhooks/db/leases.ts";
import { RETRY_POLICY } from "#src/webhooks/domain/receiver-state.ts";
import {
  attempted,
  insertDeliveries,
  insertSubscription,
  openWebhookDatabase,
  readDelivery,
  startReceiver,
  startTestDispatcher,
} from "./fixture.ts";

const database = await openWebhookDatabase();
afterAll(() => database[Symbol.asyncDispose]());

const SETTINGS = { retry: { ...RETRY_POLICY, waitsMs: [20, 20, 20] } };

/**
 * Changes a webhook subscription like the RPC UpdateWebhook of a person who resumes it, and gives
 * it an address.
 */
async function resume(id: string, url: string): Promise<void> {
  await database.sql.begin(async (tx) => {
    await tx`
      update webhook_subscriptions
      set version = version + 1, status = 'active', url = ${url}
      where id = ${id}`;
    await resetReceiver(tx, id);
  });
}

/**
 * Sends a delivery to a receiver that answers with `answer` only after a person has changed the
 * subscription. Later requests get 200.
 */
async function answerAfterChange(
  answer: (response: ServerResponse) => void,
  { moves, failingDays = 0 }: { readonly moves: boolean; readonly failingDays?: number },
) {
  await using stack = new AsyncDisposableStack();
  const { sql } = database;
  const waiting: ServerResponse[] = [];
  const old = stack.use(
    await startReceiver((response) => {
      if (waiting.length === 0) waiting.push(response);
      else response.end("ok");
    }),
  );
  const moved = stack.use(await startReceiver());
  const { id, workspaceId } = await insertSubscription(sql, { url: old.url });
  if (failingDays > 0)
    await sql`
      update webhook_leases set failing_since = now() - ${failingDays}::int * interval '1 day'
      where subscription_id = ${id}`;
  const [delivery] = await insertDeliveries(sql, { id, workspaceId }, 1);
  stack.use(startTestDispatcher(sql, { settings: SETTINGS }));
  await eventually(() => waiting.length === 1);
  await resume(id, moves ? moved.url : old.url);
  for (const response of waiting) answer(response);
  await attempted(sql, delivery?.id ?? "", 1);
  const opened = stack.move();
  return {
    id,
    workspaceId,
    deliveryId: delivery?.id ?? "",
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const readStatus = async (id: string) =>
  await database.sql`select status, disabled_reason from webhook_subscriptions where id = ${id}`;

test.each([
  ["resumed the webhook subscription", false],
  ["gave the webhook subscription another address", true],
])(
  "a 410 that arrives after a person %s neither disables it nor ends its delivery, which is sent again",
  async (_what, moves) => {
    await using sent = await answerAfterChange((response) => response.writeHead(410).end(), {
      moves,
    });
    await eventually(async () => {
      expect(await readDelivery(database.sql, sent.deliveryId)).toMatchObject({
        status: "succeeded",
        attemptCount: 2,
      });
    });
    expect(await readStatus(sent.id)).toEqual([{ status: "active", disabledReason: null }]);
  },
);

test("a failure that arrives after a person resumed a webhook subscription that failed for 5 days does not disable it again", async () => {
  await using sent = await answerAfterChange((response) => response.writeHead(500).end(), {
    moves: false,
    failingDays: 6,
  });
  await attempted(database.sql, sent.deliveryId, 2);
  expect(await readStatus(sent.id)).toEqual([{ status: "active", disabledReason: null }]);
});

test("a pause that a receiver asked for before a person resumed the webhook subscription does not delay its next deliveries", async () => {
  await using sent = await answerAfterChange(
    (response) => response.writeHead(429, { "retry-after": "3600" }).end(),
    { moves: false },
  );
  const [next] = await insertDeliveries(database.sql, sent, 1);
  expect(await attempted(database.sql, next?.id ?? "", 1)).toMatchObject({ status: "succeeded" });
});
