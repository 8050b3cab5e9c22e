import {
  AccountService,
  type BatchGetPostingAccountsRequest,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAccountDirectory, createPlatformDirectory } from "./accounts.ts";

let calls: {
  readonly workspaces: BatchGetPostingAccountsRequest["workspaces"];
  readonly requestId?: string;
}[] = [];
let fails = false;
/** Ends when the accounts service of the test may answer. */
let answering = Promise.resolve();
beforeEach(() => {
  calls = [];
  fails = false;
  answering = Promise.resolve();
});
afterEach(() => vi.useRealTimers());

const directory = createAccountDirectory(
  createTestPeer((router) => {
    router.service(AccountService, {
      batchGetPostingAccounts: async ({ workspaces }) => {
        const requestId = findContext()?.requestId;
        calls.push({ workspaces, ...(requestId === undefined ? {} : { requestId }) });
        await answering;
        if (fails) throw unavailable();
        const accounts = workspaces.flatMap(({ workspaceId, accountIds }) =>
          accountIds
            .filter((id) => id !== "missing")
            .map((id) => ({
              workspaceId,
              id,
              platform: "x",
              username: `user-${id}`,
              status: "active",
              traits: {},
              settings: null,
              available: null,
            })),
        );
        return { accounts: JSON.stringify(accounts) };
      },
    });
  }).client(AccountService),
);

/** Looks accounts up on behalf of the request with this id. */
async function find(requestId: string, workspaceId: string, ids: readonly string[]) {
  const found = await runInContext({ requestId }, () => directory.findAccounts(workspaceId, ids));
  return [...found].map(([id, { username }]) => ({ id, username }));
}

test("a lookup of several accounts is one call to the accounts service with the id of the client's request, and its result omits missing accounts", async () => {
  expect(await find("request-1", "w1", ["a1", "missing", "a2"])).toEqual([
    { id: "a1", username: "user-a1" },
    { id: "a2", username: "user-a2" },
  ]);
  expect(calls).toMatchObject([
    { requestId: "request-1", workspaces: [{ accountIds: { length: 3 } }] },
  ]);
});

test("account lookups of two client requests share one call to the accounts service, which carries neither request id", async () => {
  const results = await Promise.all([
    find("request-1", "w1", ["a1"]),
    find("request-2", "w2", ["a2"]),
  ]);
  expect(results.flat().map(({ id }) => id)).toEqual(["a1", "a2"]);
  expect(calls).toHaveLength(1);
  expect(["request-1", "request-2"]).not.toContain(calls[0]?.requestId);
});

test("all account lookups that share a failed call fail, and the next lookup calls the accounts service again", async () => {
  fails = true;
  const results = await Promise.allSettled([
    find("request-1", "w1", ["a1"]),
    find("request-2", "w2", ["a2"]),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await find("request-3", "w1", ["a1"])).toHaveLength(1);
});

test("account lookups that arrive while a call to the accounts service runs share the next call", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { promise, resolve } = Promise.withResolvers<void>();
  answering = promise;
  const lookups: Promise<unknown>[] = [];
  for (const id of ["a1", "a2", "a3", "a4"]) {
    lookups.push(find(`request-${id}`, "w1", [id]));
    await vi.advanceTimersByTimeAsync(2);
  }
  resolve();
  await vi.waitFor(() => expect(calls).toHaveLength(2));
  await Promise.all(lookups);
  expect(calls.map(({ workspaces }) => workspaces.length)).toEqual([1, 3]);
});

test("the question for the platforms, whose answer several requests share, has no deadline of the first one", async () => {
  const deadlines: (number | undefined)[] = [];
  const peer = createTestPeer((router) => {
    router.service(PlatformService, {
      listPlatforms: () => {
        deadlines.push(findContext()?.deadlineAt);
        return { platforms: [{ platform: "x", available: true }] };
      },
    });
  });
  const platforms = createPlatformDirectory(peer.client(PlatformService));
  const request = { requestId: "request-1", deadlineAt: performance.now() + 5_000 };
  expect(await runInContext(request, () => platforms.listAvailable())).toEqual(new Set(["x"]));
  expect(deadlines).toEqual([undefined]);
});
