import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { MAX_CALLS_IN_FLIGHT } from "@postrider/shared/connect/client";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect, test } from "vitest";
import { refreshCredential } from "./accounts.ts";

test("token servers of one workspace that do not answer hold at most a quarter of the calls to the accounts service", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const refreshed: string[] = [];
  const peer = createTestPeer((router) =>
    router.service(CredentialService, {
      refreshCredential: async ({ ref }) => {
        refreshed.push(ref?.workspaceId ?? "");
        if (ref?.workspaceId === "silent") await end;
        return { credential: { accountStatus: "active", version: 2n } };
      },
    }),
  );
  const clients = {
    credentials: peer.client(CredentialService),
    accounts: peer.client(AccountService),
  };
  const refresh = (workspaceId: string) =>
    refreshCredential(clients, { workspaceId, accountId: "a" }, 1n);
  const silent = Promise.all(Array.from({ length: 100 }, () => refresh("silent")));
  expect(await refresh("other")).toMatchObject({ version: 2n });
  expect(refreshed.filter((id) => id === "silent")).toHaveLength(MAX_CALLS_IN_FLIGHT / 4);
  resolve();
  await silent;
});
