import type { ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect, test } from "vitest";
import { PlatformCalls } from "./platform-calls.ts";

test("an access token that was renewed after a platform call refused it is also used for the later calls", async () => {
  const account = { workspaceId: "w", accountId: "a" };
  const credential = { ref: account, accountStatus: "active", externalId: "1", username: "ada" };
  const peer = createTestPeer((router: ConnectRouter) => {
    router.service(CredentialService, {
      batchGetCredentials: () => ({
        credentials: [{ ...credential, accessToken: "old", version: 1n }],
      }),
      refreshCredential: () => ({
        credential: { ...credential, accessToken: "new", version: 2n },
      }),
    });
  });
  const deps = {
    logger: createLogger({ service: "delivery", level: "silent" }),
    accounts: {
      credentials: peer.client(CredentialService),
      accounts: peer.client(AccountService),
    },
  };
  const calls = await PlatformCalls.open(deps, account, 1_000);
  const tokens: string[] = [];
  const call = ({ accessToken }: { readonly accessToken: string }) => {
    tokens.push(accessToken);
    const kind = accessToken === "old" ? ("token_refused" as const) : ("page" as const);
    return Promise.resolve({ kind, message: "" });
  };
  await calls.make(call);
  await calls.make(call);
  expect(tokens).toEqual(["old", "new", "new"]);
});
