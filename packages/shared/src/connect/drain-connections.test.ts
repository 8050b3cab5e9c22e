import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "#src/testing/poll.ts";
import { drainConnections } from "./drain-connections.ts";

let app: FastifyInstance;
let port: number;
let agent: Agent;
let answer: PromiseWithResolvers<string>;

beforeEach(async () => {
  app = fastify({ return503OnClosing: false });
  drainConnections(app);
  app.get("/now", () => "here");
  app.get("/later", () => answer.promise);
  answer = Promise.withResolvers();
  port = Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  await app.close();
});

/** Sends one request over the connection that all requests of this test share. */
async function ask(path: string): Promise<{ readonly text: string; readonly connection: unknown }> {
  const sent = request({ host: "127.0.0.1", port, path, agent });
  sent.end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const part of response) text += String(part);
  return { text, connection: response.headers.connection };
}

test("a stopping server still answers the next request on a kept-alive connection, then closes this connection", async () => {
  expect(await ask("/now")).toEqual({ text: "here", connection: "keep-alive" });
  const closed = app.close();
  expect(await ask("/now")).toEqual({ text: "here", connection: "close" });
  await closed;
});

test("a stopping server still answers requests on new connections", async () => {
  await ask("/now");
  const closed = app.close();
  const others = await Promise.all(
    [1, 2, 3].map(async () => await (await fetch(`http://127.0.0.1:${port}/now`)).text()),
  );
  expect(others).toEqual(["here", "here", "here"]);
  await closed;
  await expect(fetch(`http://127.0.0.1:${port}/now`)).rejects.toThrow("fetch failed");
});

test("a stopping server waits for requests in flight", async () => {
  const asked = ask("/later");
  await once(app.server, "request");
  const closed = app.close();
  await eventually(() => !app.server.listening);
  answer.resolve("at last");
  expect(await asked).toEqual({ text: "at last", connection: "close" });
  await closed;
});

test("a connection without any request does not delay the stop of a server", async () => {
  const unused = connect(port, "127.0.0.1");
  await once(unused, "connect");
  await eventually(
    async () =>
      await new Promise<boolean>((resolve) =>
        app.server.getConnections((_error, count) => resolve(count === 1)),
      ),
  );
  const since = performance.now();
  await app.close();
  expect(performance.now() - since).toBeLessThan(10_000);
  unused.destroy();
});
