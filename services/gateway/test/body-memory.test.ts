import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { unprocessable } from "@postrider/shared/errors";
import { eventually } from "@postrider/shared/testing/poll";
import type { FastifyInstance } from "fastify";
import { afterEach, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import type { BodyLimits } from "#src/routes/dependencies.ts";
import { ACCOUNT_ID, admitted, createTestServer, WORKSPACE_ID } from "./fixture.ts";

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const OTHER_WORKSPACE_ID = "01936a5e-7d2b-7000-8000-0000000000ff";
const LIMITS: BodyLimits = {
  totalBytes: 16 * MEBIBYTE,
  bytesWithoutWorkspace: MEBIBYTE,
  bytesPerCaller: 2 * MEBIBYTE,
  maxWaitMs: 300,
  rate: { bytesPerSecond: 16_000, stallMs: 60_000 },
};

const apps: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** Starts a gateway in which the API key of a request is the id of its workspace. */
async function startGateway(
  limits: Partial<BodyLimits> = {},
  validatePost: () => object = () => ({ targets: [] }),
): Promise<FastifyInstance> {
  const scopes = new Set(["posts:read", "posts:write"]);
  const admit = ({ key = WORKSPACE_ID }: { key?: string | undefined }): AdmissionResult =>
    admitted({ scopes, workspaceId: key });
  const posts = { validatePost };
  const app = await createTestServer({ posts, bodyLimits: { ...LIMITS, ...limits } }, admit);
  apps.push(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  return app;
}

async function send(app: FastifyInstance, bytes: string): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

function headOf(workspaceId: string, length: string, path = "/api/v1/posts/validate"): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: a",
    `authorization: Bearer ${workspaceId}`,
    "content-type: application/json",
    length,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Sends the head of a request and all of its body but the last byte. */
const sendUnfinished = (app: FastifyInstance, workspaceId: string) =>
  send(app, headOf(workspaceId, `content-length: ${MEBIBYTE}`) + " ".repeat(MEBIBYTE - 1));

const BODY = JSON.stringify({ content: "a".repeat(20 * KIBIBYTE), accountIds: [ACCOUNT_ID] });
const validate = (app: FastifyInstance, workspaceId: string, payload = BODY) =>
  app.inject({
    method: "POST",
    url: "/api/v1/posts/validate",
    headers: { authorization: `Bearer ${workspaceId}`, "content-type": "application/json" },
    payload,
  });

test("a workspace whose unfinished request bodies use up its bytes gets 429 until the bodies are gone, while another workspace is served", async () => {
  const app = await startGateway();
  const sockets = await Promise.all([1, 2].map(() => sendUnfinished(app, WORKSPACE_ID)));
  await eventually(async () => {
    const refused = await validate(app, WORKSPACE_ID);
    expect([refused.statusCode, refused.json<{ error: { code: string } }>().error.code]).toEqual([
      429,
      "rate_limited",
    ]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  });
  expect((await validate(app, OTHER_WORKSPACE_ID)).statusCode).toBe(200);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => {
    expect((await validate(app, WORKSPACE_ID)).statusCode).toBe(200);
  });
});

test("the gateway does not read the bodies of a workspace beyond its bytes", async () => {
  const app = await startGateway({ maxWaitMs: 60_000 });
  const read = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => read.add(socket));
  const sockets = await Promise.all(
    Array.from({ length: 12 }, () => sendUnfinished(app, WORKSPACE_ID)),
  );
  await eventually(() => {
    const whole = [...read].filter(({ bytesRead }) => bytesRead >= MEBIBYTE);
    expect(whole).toHaveLength(2);
  });
  const bytes = [...read].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  expect(bytes).toBeLessThan(4 * MEBIBYTE);
  for (const socket of sockets) socket.destroy();
});

test("the gateway carries out one request with a large body per workspace at a time, and requests of other workspaces beside it", async () => {
  const held: (() => void)[] = [];
  const app = await startGateway({ maxWaitMs: 60_000 }, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(resolve);
    await promise;
    return { targets: [] };
  });
  const own = [validate(app, WORKSPACE_ID), validate(app, WORKSPACE_ID)];
  await eventually(() => expect(held).toHaveLength(1));
  const other = validate(app, OTHER_WORKSPACE_ID);
  await eventually(() => expect(held).toHaveLength(2));
  held.forEach((release) => release());
  expect((await other).statusCode).toBe(200);
  await eventually(() => expect(held).toHaveLength(3));
  held.forEach((release) => release());
  expect((await Promise.all(own)).map(({ statusCode }) => statusCode)).toEqual([200, 200]);
});

test("a large body is not parsed before the request with a large body of the same workspace before it is answered", async () => {
  const { promise: isHeld, resolve: release } = Promise.withResolvers<void>();
  let started = 0;
  const app = await startGateway({ maxWaitMs: 60_000 }, async () => {
    started += 1;
    await isHeld;
    return { targets: [] };
  });
  const first = validate(app, WORKSPACE_ID);
  await eventually(() => expect(started).toBe(1));
  const answered: string[] = [];
  const sendInvalid = async (workspaceId: string) => {
    const { statusCode } = await validate(app, workspaceId, BODY.slice(0, -1));
    answered.push(`${statusCode} ${workspaceId}`);
  };
  const own = sendInvalid(WORKSPACE_ID);
  await sendInvalid(OTHER_WORKSPACE_ID);
  expect(answered).toEqual([`400 ${OTHER_WORKSPACE_ID}`]);
  release();
  expect((await first).statusCode).toBe(200);
  await own;
  expect(answered).toEqual([`400 ${OTHER_WORKSPACE_ID}`, `400 ${WORKSPACE_ID}`]);
});

test("a client that disconnects while its large body waits for its turn keeps no later request waiting", async () => {
  const held: (() => void)[] = [];
  const app = await startGateway({ maxWaitMs: 60_000 }, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(resolve);
    await promise;
    return { targets: [] };
  });
  const first = validate(app, WORKSPACE_ID);
  await eventually(() => expect(held).toHaveLength(1));
  const opened = once(app.server, "connection");
  const head = headOf(WORKSPACE_ID, `content-length: ${Buffer.byteLength(BODY)}`);
  const client = await send(app, head + BODY);
  const [received] = (await opened) as [Socket];
  await eventually(() => expect(received.bytesRead).toBe(head.length + BODY.length));
  client.destroy();
  await once(received, "close");
  held[0]?.();
  expect((await first).statusCode).toBe(200);
  const last = validate(app, WORKSPACE_ID);
  await eventually(() => {
    for (const release of held) release();
    expect(held.length).toBeGreaterThan(1);
  });
  expect((await last).statusCode).toBe(200);
});

test("a request without an announced length reserves the bytes that its route allows", async () => {
  const app = await startGateway({ bytesPerCaller: MEBIBYTE });
  const socket = await send(app, `${headOf(WORKSPACE_ID, "transfer-encoding: chunked")}1\r\n{\r\n`);
  await eventually(async () => {
    expect((await validate(app, WORKSPACE_ID)).statusCode).toBe(429);
  });
  socket.destroy();
});

test("a request body that arrives below the minimum rate is answered with 408", async () => {
  const app = await startGateway({ rate: { bytesPerSecond: 16_000, stallMs: 240 } });
  const socket = await send(app, `${headOf(WORKSPACE_ID, `content-length: ${MEBIBYTE}`)}{`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
});

test.each([
  ["/queue-slots", 64 * KIBIBYTE],
  ["/media/presign", 64 * KIBIBYTE],
  ["/posts/validate", MEBIBYTE],
])("POST %s refuses a body of more than %i bytes before it reads it", async (path, limit) => {
  const app = await startGateway();
  const length = `content-length: ${limit + 1}`;
  const socket = await send(app, headOf(WORKSPACE_ID, length, `/api/v1${path}`));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

test("a request with a large body and a large compressed answer does not make Node warn of too many listeners", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  const violation = { code: "content_too_long", path: "/content", accountId: ACCOUNT_ID };
  const app = await startGateway({}, () => {
    throw unprocessable(
      "validation_failed",
      Array.from({ length: 100 }, () => violation),
    );
  });
  const { port } = app.server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/posts/validate`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${WORKSPACE_ID}`,
      "content-type": "application/json",
      "accept-encoding": "gzip",
    },
    body: JSON.stringify({ content: "x".repeat(100 * KIBIBYTE), accountIds: [ACCOUNT_ID] }),
  });
  expect([answer.status, answer.headers.get("content-encoding")]).toEqual([422, "gzip"]);
  const { error } = (await answer.json()) as { error: { details: readonly object[] } };
  expect(error.details).toHaveLength(100);
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
