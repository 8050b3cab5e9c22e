import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdentitySource } from "#src/identity/token-source.ts";
import { addProbes, createHealth } from "#src/process/health.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { createServiceServer } from "./server.ts";

const identities = createTestIdentities();
const identity = createIdentitySource(identities.of("gateway"), "posts");
const PATH = `/${PostService.typeName}/GetPost`;

let app: FastifyInstance;
let calls = 0;
beforeAll(async () => {
  app = await createServiceServer({
    access: identities.accessOf("posts"),
    logger: pino({ level: "silent" }),
    routes: (router) =>
      router.service(PostService, {
        getPost: () => {
          calls += 1;
          return {};
        },
      }),
  });
  addProbes(app, createHealth());
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

/**
 * Sends the headers of a request whose body has 16 MB, and only a few bytes of the body. Returns
 * what the server sends until it closes the connection.
 */
async function announce(headers: readonly string[]): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const said = text(socket);
  const head = [`POST ${PATH} HTTP/1.1`, "Host: a", "Content-Length: 16000000", ...headers];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write("{");
  return await said;
}

test.each([
  ["binary protobuf", "application/proto"],
  ["JSON", "application/json"],
  ["gRPC-web", "application/grpc-web+proto"],
])(
  "an RPC sent as %s without a valid identity token is refused before its body is read",
  async (_, type) => {
    const contentType = `Content-Type: ${type}`;
    for (const token of [[], ["X-Identity: wrong"]]) {
      const said = await announce([contentType, ...token]);
      expect(said).toMatch(/^HTTP\/1\.1 401 .*connection: close.*"code":"unauthenticated"/is);
    }
    expect(calls).toBe(0);
  },
);

test("a health probe needs no identity token, and an RPC with a valid token is answered", async () => {
  expect((await app.inject({ url: "/livez" })).statusCode).toBe(200);
  const answer = await fetch(
    `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${PATH}`,
    {
      method: "POST",
      headers: { ...(await identity()), "content-type": "application/json" },
      body: "{}",
    },
  );
  expect([answer.status, calls]).toEqual([200, 1]);
});
