import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { pino } from "pino";
import { expect, test } from "vitest";
import { readProcessConfig } from "#src/process/service.ts";
import { loadConfig } from "../config.ts";
import { connectPeer } from "./client.ts";
import { addPlainRoutes } from "./plain-routes.ts";
import { createServiceServer } from "./server.ts";

const OLD = "o".repeat(32);
const NEW = "n".repeat(32);
const logger = pino({ level: "silent" });

/** Starts a process with this value of the setting `INTERNAL_SECRET`. */
async function startProcess(value: string) {
  const { internalSecret, acceptedSecrets } = loadConfig({ INTERNAL_SECRET: value }, (read) =>
    readProcessConfig(read, "sample", 0),
  );
  const app = await createServiceServer({
    internalSecret: acceptedSecrets,
    logger,
    routes: (router) => router.service(PostService, { getPost: () => ({ post: { id: "p" } }) }),
  });
  await addPlainRoutes(app, {
    internalSecret: acceptedSecrets,
    logger,
    routes: (plain) => plain.get("/bytes", () => "bytes"),
  });
  const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  return { internalSecret, baseUrl, [Symbol.asyncDispose]: () => app.close() };
}

type Process = Awaited<ReturnType<typeof startProcess>>;

/**
 * Whether the process `to` accepts calls of the process `from`: by our own client, by Connect's client, and by plain
 * HTTP.
 */
async function answers(from: Process, to: Process): Promise<readonly boolean[]> {
  const { baseUrl } = to;
  const headers = { authorization: `Bearer ${from.internalSecret}` };
  await using peer = connectPeer({ baseUrl, internalSecret: from.internalSecret });
  const stock = createClient(PostService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
  const calls = await Promise.allSettled([
    peer.client(PostService).getPost({ id: "p" }),
    stock.getPost({ id: "p" }, { headers }),
    fetch(`${baseUrl}/bytes`, { headers }).then((answer) => {
      if (!answer.ok) throw new Error("refused");
    }),
  ]);
  return calls.map(({ status }) => status === "fulfilled");
}

test("the internal secret can be rotated in three steps, and services one step apart accept each other's calls", async () => {
  await using before = await startProcess(OLD);
  await using accepting = await startProcess(`${OLD},${NEW}`);
  await using sending = await startProcess(`${NEW},${OLD}`);
  await using after = await startProcess(NEW);
  for (const [one, next] of [
    [before, accepting],
    [accepting, sending],
    [sending, after],
  ] as const) {
    expect(await answers(one, next)).toEqual([true, true, true]);
    expect(await answers(next, one)).toEqual([true, true, true]);
  }
  expect(await answers(before, after)).toEqual([false, false, false]);
  expect(await answers(after, before)).toEqual([false, false, false]);
});
