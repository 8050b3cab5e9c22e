import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { expect, test } from "vitest";
import { findStop, isSettled } from "#src/find-stop.ts";
import type { Services } from "#src/services.ts";

/** The accounts service with one workspace that is being moved. It knows no removals. */
function withFrozen(frozenAt: number): Pick<Services, "client"> {
  const move = { frozenAt: timestampFromMs(frozenAt), cell: "eu2", handoverHash: Buffer.of(171) };
  const transport = createRouterTransport(({ service }) =>
    service(WorkspaceService, { batchGetWorkspaces: () => ({ workspaces: [{ move }] }) }),
  );
  return { client: (_name, service) => createClient(service, transport) };
}

test("a workspace is quiet once the time in which requests end has passed since its stop", () => {
  const atAgo = (ms: number) => new Date(Date.now() - ms).toISOString();
  expect(isSettled(atAgo(60_000), 120)).toBe(false);
  expect(isSettled(atAgo(180_000), 120)).toBe(true);
});

test("a move that has waited needs no clock that agrees with the database's, and its wait is good for this stop only", async () => {
  const ahead = Date.now() + 5_000;
  const at = new Date(ahead).toISOString();
  const stop = await findStop(withFrozen(ahead), "a", at);
  expect(stop).toEqual({ at, handoverHash: "ab" });
  expect(await findStop(withFrozen(ahead - 180_000), "a", at)).toBeNull();
});
