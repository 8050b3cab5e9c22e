import { createSecretKey } from "node:crypto";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { newId } from "@postrider/shared/ids";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  insertSecret,
  listSecretKeys,
  listSigningSecrets,
  openSecret,
} from "#src/webhooks/db/secrets.ts";
import { createWebhookRoutes } from "#src/webhooks/rpc/routes.ts";
import { logger } from "../publishing/fixture.ts";
import {
  createBacklogs,
  newWebhook,
  SEALING_KEYS,
  startWebhooks,
  type Webhooks,
} from "./fixture.ts";

const NEWER = { id: "k2", secret: createSecretKey(Buffer.alloc(32, 8)) };
const OTHER = { id: "k3", secret: createSecretKey(Buffer.alloc(32, 9)) };

let webhooks: Webhooks;
beforeEach(async () => {
  webhooks = await startWebhooks();
});
afterEach(() => webhooks[Symbol.asyncDispose]());

/** Creates a webhook subscription with many signing secrets, and returns its id. */
async function createSecrets(count: number): Promise<string> {
  const request = newWebhook();
  const { webhook } = await webhooks.rpc.createWebhook(request);
  const at = { subscriptionId: webhook?.id ?? "", workspaceId: request.workspaceId };
  await webhooks.sql.begin(async (tx) => {
    for (let index = 1; index < count; index += 1)
      await insertSecret(tx, SEALING_KEYS, { ...at, id: newId(), secret: `whsec_${index}` });
  });
  return at.subscriptionId;
}

async function secretsOf(id: string, keys: readonly SealingKey[]) {
  const sealed = await listSigningSecrets(webhooks.sql, [id]);
  return sealed.map((secret) => openSecret(keys, secret));
}

/** Returns the RPCs of a delivery process that has these encryption keys. */
function rpcWith(sealingKeys: readonly SealingKey[]) {
  const routes = createWebhookRoutes({
    sql: webhooks.sql,
    logger,
    sealingKeys,
    outbound: { allow: [] },
    cursorKeys: deriveCursorKeys("delivery", ["secret"]),
    backlogs: createBacklogs(),
    nudgeDispatcher: () => undefined,
  });
  return createTestPeer(routes).client(WebhookService);
}

/**
 * Encrypts all pages of signing secrets again with the newest key, and returns the sums of the
 * responses.
 */
async function resealRound(keys: readonly SealingKey[]) {
  const rpc = rpcWith(keys);
  const pages: number[] = [];
  let unreadable = 0;
  for (let after = ""; ;) {
    const answer = await rpc.resealWebhookSecrets({ after });
    pages.push(answer.resealed);
    unreadable += answer.unreadable;
    if (answer.after === "") return { pages, unreadable, remaining: Number(answer.remaining) };
    ({ after } = answer);
  }
}

test("ResealWebhookSecrets encrypts the signing secrets of webhooks with the newest key, page by page, and changes no secret", async () => {
  const id = await createSecrets(250);
  const before = await secretsOf(id, SEALING_KEYS);

  const round = await resealRound([NEWER, ...SEALING_KEYS]);

  expect(round).toEqual({ pages: [200, 50, 0], unreadable: 0, remaining: 0 });
  expect(await listSecretKeys(webhooks.sql)).toEqual(["k2"]);
  expect(await secretsOf(id, [NEWER])).toEqual(before);
  expect(await resealRound([NEWER])).toEqual({ pages: [0], unreadable: 0, remaining: 0 });
});

test("ResealWebhookSecrets leaves signing secrets that it cannot decrypt unchanged, and counts them", async () => {
  const id = await createSecrets(3);
  const before = await secretsOf(id, SEALING_KEYS);

  const round = await resealRound([OTHER]);

  expect(round).toEqual({ pages: [0, 0], unreadable: 3, remaining: 3 });
  expect(await secretsOf(id, SEALING_KEYS)).toEqual(before);
});

test("encrypting the signing secrets of webhooks again skips a secret that a rotation has locked; the next pass encrypts it", async () => {
  await createSecrets(3);
  const keys = [NEWER, ...SEALING_KEYS];

  const first = await webhooks.sql.begin(async (tx) => {
    await tx`select 1 from webhook_secrets order by id limit 1 for update`;
    return await resealRound(keys);
  });
  const second = await resealRound(keys);

  expect(first).toEqual({ pages: [2, 0], unreadable: 0, remaining: 1 });
  expect(second).toEqual({ pages: [1, 0], unreadable: 0, remaining: 0 });
});

test("ResealWebhookSecrets refuses a position that is not the id of a signing secret", async () => {
  await expect(rpcWith(SEALING_KEYS).resealWebhookSecrets({ after: "x" })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});
