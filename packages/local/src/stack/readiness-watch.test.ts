import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { watchReadiness } from "#src/stack/readiness-watch.ts";

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
