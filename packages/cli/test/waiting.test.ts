import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { createServiceServer } from "@postrider/shared/connect/server";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { ACCEPT_ANYONE } from "@postrider/shared/testing/identities";
import { expect, test } from "vitest";
import { identities, runTool } from "./tool.ts";

const BOOTSTRAP = join(import.meta.dirname, "../../../scripts/bootstrap.mjs");
const CONNECT = ["account", "connect", "youtube", "--workspace", "w", "--json"];

/**
 * Runs the operator's tool against one server with these RPCs, which stands in for every service.
 */
async function runAgainst(routes: (router: ConnectRouter) => void, words: readonly string[]) {
  const logger = createLogger({ service: "test", level: "silent" });
  const server = await createServiceServer({ routes, access: ACCEPT_ANYONE, logger });
  try {
    const url = await server.listen({ host: "127.0.0.1", port: 0 });
    const urls = { accounts: url, posts: url, media: url, delivery: url };
    return await runTool(words, { urls, identity: identities.of("operator") });
  } finally {
    await server.close();
  }
}

/** An accounts service whose connect link expires at `expiresAt`. */
function authorizations(
  expiresAt: Date,
  getAuthorization: NonNullable<ServiceImpl<typeof AuthorizationService>["getAuthorization"]>,
) {
  return (router: ConnectRouter) =>
    router.service(AuthorizationService, {
      issueConnectLink: () => ({
        id: "t",
        url: "http://connect.test",
        expiresAt: timestampFromDate(expiresAt),
      }),
      getAuthorization,
    });
}

test("`account connect` keeps waiting for the user's authorization while the accounts service does not answer", async () => {
  const answers = [
    () => Promise.reject(unavailable(undefined)),
    () => Promise.reject(new ServiceError("timeout", "upstream_timeout")),
    () =>
      Promise.resolve({
        status: "connected",
        accounts: [{ id: "a", platform: "youtube", username: "u" }],
      }),
  ];
  const soon = new Date(Date.now() + 600_000);
  const ended = await runAgainst(
    authorizations(soon, () => (answers.shift() ?? (() => Promise.reject(new Error("over"))))()),
    CONNECT,
  );
  expect(ended).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(ended.printed)).toEqual({ id: "a", platform: "youtube", username: "u" });
});

test("`account connect` fails when the accounts service has not answered by the time the connect link expires", async () => {
  const past = new Date(Date.now() - 1_000);
  const { exitCode, errors } = await runAgainst(
    authorizations(past, () => Promise.reject(unavailable(undefined))),
    CONNECT,
  );
  expect(exitCode).toBe(1);
  expect(errors).toContain("did not answer until the link expired");
});

test.each([
  { redriven: 2, failed: 1, exitCode: 1 },
  { redriven: 3, failed: 0, exitCode: 0 },
])(
  "`events redrive` exits with code $exitCode when the repeated handling of parked (dead-letter) events fails for $failed events",
  async ({ redriven, failed, exitCode }) => {
    const ended = await runAgainst(
      (router) =>
        router.service(ParkedEventService, { redriveParkedEvents: () => ({ redriven, failed }) }),
      ["events", "redrive", "--service", "delivery"],
    );
    expect(ended.exitCode).toBe(exitCode);
    expect(ended.printed + ended.errors).toContain(`${redriven} handled now, ${failed} failed`);
  },
);

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "the operator's tool ends when the command that started it receives %s",
  async (signal) => {
    const words = ["account", "connect", "bluesky", "--workspace", "w", "--handle", "h"];
    const started = spawn(process.execPath, [BOOTSTRAP, "postrider", ...words], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const closed = once(started, "close");
    try {
      // The operator's tool waits for the app password on standard input.
      await once(started.stderr, "data");
      started.kill(signal);
      // The output streams close only when the operator's tool has ended too, because the tool
      // inherits them from the command that starts it.
      expect(await closed).toEqual([128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal], null]);
      expect(await text(started.stdout)).toBe("");
    } finally {
      started.stdin.end();
      started.kill("SIGKILL");
    }
  },
);
