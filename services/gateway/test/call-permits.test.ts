import { setImmediate } from "node:timers/promises";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { connectPeer } from "@postrider/shared/connect/client";
import { createServiceServer } from "@postrider/shared/connect/server";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, onTestFinished, test } from "vitest";
import { createCallPermits } from "#src/clients/call-permits.ts";

/**
 * Starts a service that answers calls of the workspaces `quick…` at once, and all other calls
 * never.
 */
async function startService() {
  const held: string[] = [];
  const identities = createTestIdentities();
  const hold = async () => {
    const { workspaceId = "" } = findContext() ?? {};
    if (workspaceId.startsWith("quick")) return {};
    held.push(workspaceId);
    return await new Promise<never>(() => {});
  };
  const server = await createServiceServer({
    access: identities.accessOf("media"),
    logger: createLogger({ service: "test", level: "silent" }),
    routes: (router) => {
      router.service(MediaService, { deleteMedia: hold, completeUpload: hold });
      router.service(WebhookService, { listWebhooks: hold });
    },
  });
  const baseUrl = await server.listen({ host: "127.0.0.1", port: 0 });
  const identity = identities.of("gateway");
  const peer = connectPeer({ service: "media", baseUrl, identity, permits: createCallPermits() });
  onTestFinished(async () => {
    await peer.abortCalls();
    server.server.closeAllConnections();
    await server.close();
  });
  return { peer, held };
}

function as<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
  return runInContext({ requestId: workspaceId, workspaceId }, work);
}

test("calls of a workspace that a service does not answer leave calls to the service for other workspaces", async () => {
  const { peer, held } = await startService();
  const media = peer.client(MediaService);
  const hanging = Array.from({ length: 200 }, () =>
    as("slow", () => media.deleteMedia({})).catch(() => undefined),
  );
  await eventually(() => expect(held.length).toBeGreaterThan(10));

  for (let count = 0; count < 20; count++) await as("quick", () => media.deleteMedia({}));
  expect(held.length).toBeLessThan(32);
  await peer.abortCalls();
  await Promise.all(hanging);
});

test("calls of many workspaces that wait for a platform or for an inspection leave half of the calls to a service for other operations", async () => {
  const { peer, held } = await startService();
  const media = peer.client(MediaService);
  const hanging = Array.from({ length: 100 }, (_, number) =>
    as(`slow ${number}`, () => media.completeUpload({})).catch(() => undefined),
  );
  await eventually(() => expect(held).toHaveLength(32));

  const webhooks = peer.client(WebhookService);
  await as("quick", () => webhooks.listWebhooks({}));
  expect(held).toHaveLength(32);
  await peer.abortCalls();
  await Promise.all(hanging);
});

test("a workspace that has no waiting call may wait, however many long calls of five other workspaces wait", async () => {
  const permits = createCallPermits();
  const refused: string[] = [];
  const ask = (workspaceId: string) => {
    const permit = as(workspaceId, () => permits(MediaService.method.importMedia));
    permit.catch(() => refused.push(workspaceId));
  };
  for (let number = 0; number < 1_500; number++) ask(`hostile ${number % 5}`);
  for (let number = 0; number < 200; number++) ask(`normal ${number}`);
  await setImmediate();
  expect(refused).toEqual([]);
});
