import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { lastWords, watchReadiness } from "#src/stack/readiness.ts";

test("a replica counts as ready only while its readiness check answers 200", async () => {
  const answer = { status: 200 };
  const server = createServer((_request, response) => response.writeHead(answer.status).end("{}"));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port: metricsPort } = server.address() as AddressInfo;
  // On port 1, no process listens.
  const ports = { port: 4000, metricsPort };
  const silent = { port: 4001, metricsPort: 1 };
  await using watch = watchReadiness([ports, silent]);

  await eventually(() => !watch.isReady(4001));
  expect(watch.isReady(4000)).toBe(true);
  answer.status = 503;
  await eventually(() => !watch.isReady(4000));
  answer.status = 200;
  await eventually(() => watch.isReady(4000));

  server.close();
  server.closeAllConnections();
});

test("the message about a failed process of the local stack quotes the last error of the log in one line without the stack trace", () => {
  const log = [
    '{"level":"info","msg":"starting"}',
    "Error: an older one",
    "    at file:///a.ts:1:1",
    "ConfigError: The configuration has 2 fault(s):",
    "  - PORT is required",
    "  - MEDIA_KEY needs at least 32 characters",
    "    at loadConfig (file:///config.ts:1:1)",
    "",
    "Node.js v24.21.0",
    "",
  ].join("\n");

  expect(lastWords(log)).toBe(
    "ConfigError: The configuration has 2 fault(s): - PORT is required - MEDIA_KEY needs at least 32 characters",
  );
});

test("the message about a failed process of the local stack quotes nothing from a log that contains no error", () => {
  expect(lastWords('{"level":"info","msg":"Error: quoted"}\n')).toBe("");
});
