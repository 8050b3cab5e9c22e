import { connect, type Socket } from "node:net";
import { eventually } from "@postrider/shared/testing/poll";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  admitted,
  createTestServer,
  POST_ID,
  WORKSPACE_ID,
  type Peers,
  postOf,
  pageOf,
} from "./fixture.ts";

const MEBIBYTE = 1024 * 1024;
/**
 * A text that is larger than all buffers of a connection together. So it cannot be sent completely
 * while the client does not read.
 */
const LONG = "x".repeat(12 * MEBIBYTE);
const OTHER_WORKSPACE = "01936a5e-7d2b-7000-8000-00000000000f";
const UNSENT_LIMITS = {
  totalBytes: 240 * MEBIBYTE,
  bytesWithoutWorkspace: 16 * MEBIBYTE,
  bytesPerCaller: 26 * MEBIBYTE,
  maxWaitMs: 100,
};

/** A gateway that calls a simulated posts service, whose only post has the text `content`. */
interface Gateway extends AsyncDisposable {
  readonly app: FastifyInstance;
  content: string;
  calls: number;
  /** The simulated posts service answers a call for a list when this promise is resolved. */
  mayList: Promise<void>;
  get(path: string, workspaceId?: string, method?: string): Promise<Response>;
  /** Requests a path and does not read the answer. */
  requestWithoutReading(path: string): Socket;
}

const sockets: Socket[] = [];

async function startGateway(patience: Peers["patience"]): Promise<Gateway> {
  const post = (workspaceId: string) => {
    gateway.calls += 1;
    return postOf({ workspaceId, content: gateway.content });
  };
  const app = await createTestServer(
    {
      posts: {
        listPosts: async ({ workspaceId }) => {
          post(workspaceId);
          await gateway.mayList;
          return pageOf({ content: gateway.content });
        },
        batchGetPosts: ({ refs }) => ({
          posts: refs.map(({ workspaceId }) => post(workspaceId)),
        }),
        retryPost: ({ workspaceId }) => ({ post: post(workspaceId) }),
      },
      patience: patience ?? {},
      unsentLimits: UNSENT_LIMITS,
    },
    ({ workspaceId = WORKSPACE_ID }) => admitted({ workspaceId }),
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const gateway: Gateway = {
    app,
    content: LONG,
    calls: 0,
    mayList: Promise.resolve(),
    get: (path, workspaceId = WORKSPACE_ID, method = "GET") =>
      fetch(`${url}/api/v1${path}`, {
        method,
        headers: { "x-workspace-id": workspaceId, "accept-encoding": "identity" },
      }),
    requestWithoutReading: (path) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.pause();
      socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return socket;
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
  return gateway;
}

const patient = await startGateway({});
const strict = await startGateway({ readingRate: { stallMs: 300, bytesPerSecond: 1_000 } });
afterAll(async () => {
  await patient[Symbol.asyncDispose]();
  await strict[Symbol.asyncDispose]();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const gateway of [patient, strict])
    Object.assign(gateway, { content: LONG, calls: 0, mayList: Promise.resolve() });
});

async function codeOf(answer: Response) {
  const { error } = (await answer.json()) as { error?: { code: string } };
  return [answer.status, error?.code];
}

async function statusOf(answer: Response) {
  await answer.arrayBuffer();
  return answer.status;
}

test("a large answer of the gateway arrives complete and with its Content-Length", async () => {
  const answer = await patient.get(`/posts/${POST_ID}`);
  const text = await answer.text();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-length")).toBe(String(text.length));
  expect((JSON.parse(text) as { content: string }).content).toBe(LONG);
});

test("while clients of a workspace leave large answers unread, the gateway refuses it further large answers and sends all other answers", async () => {
  for (let count = 0; count < 2; count += 1) patient.requestWithoutReading(`/posts/${POST_ID}`);
  await eventually(() => patient.calls === 2);
  const refused = await patient.get(`/posts/${POST_ID}`);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await codeOf(refused)).toEqual([429, "rate_limited"]);
  expect(await statusOf(await patient.get(`/posts/${POST_ID}`, OTHER_WORKSPACE))).toBe(200);
  patient.content = "short";
  expect(await statusOf(await patient.get(`/posts/${POST_ID}`))).toBe(200);
});

test("the gateway sends a large answer to a request that changed data even while the clients of the workspace leave other large answers unread", async () => {
  for (let count = 0; count < 2; count += 1) patient.requestWithoutReading(`/posts/${POST_ID}`);
  await eventually(() => patient.calls === 2);
  const answer = await patient.get(`/posts/${POST_ID}/retry`, WORKSPACE_ID, "POST");
  expect(await statusOf(answer)).toBe(202);
});

test("the gateway reads a list of posts only after it has reserved memory for the answer, and refuses a request that waits too long for the memory", async () => {
  // Each request for a list of posts reserves 2 MiB of the 26 MiB that the unsent answers to a
  // workspace may have.
  const gate = Promise.withResolvers<void>();
  Object.assign(patient, { content: "short", mayList: gate.promise });
  const waiting = Array.from({ length: 13 }, async () => statusOf(await patient.get("/posts")));
  await eventually(() => patient.calls === 13);
  expect(await codeOf(await patient.get("/posts"))).toEqual([429, "rate_limited"]);
  expect(patient.calls).toBe(13);
  const other = patient.get("/posts", OTHER_WORKSPACE);
  await eventually(() => patient.calls === 14);
  gate.resolve();
  expect(await statusOf(await other)).toBe(200);
  expect(await Promise.all(waiting)).toEqual(Array(13).fill(200));
  expect(await statusOf(await patient.get("/posts"))).toBe(200);
});

test("a request for a list of one post reserves less memory than a request for a whole page of posts", async () => {
  const gate = Promise.withResolvers<void>();
  Object.assign(patient, { content: "short", mayList: gate.promise });
  const lists = Array.from({ length: 14 }, async () =>
    statusOf(await patient.get("/posts?limit=1")),
  );
  await eventually(() => patient.calls === 14);
  gate.resolve();
  expect(await Promise.all(lists)).toEqual(Array(14).fill(200));
});

test("a list of posts that exceeds its reserved bytes takes the additional bytes from the limit of its workspace", async () => {
  for (let count = 0; count < 2; count += 1) patient.requestWithoutReading("/posts");
  await eventually(() => patient.calls === 2);
  expect(await codeOf(await patient.get("/posts"))).toEqual([429, "rate_limited"]);
  expect(await statusOf(await patient.get("/posts", OTHER_WORKSPACE))).toBe(200);
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually(async () => (await statusOf(await patient.get("/posts"))) === 200);
});

test("many concurrent requests for lists of posts are all answered when their client reads the answers", async () => {
  patient.content = "y".repeat(200_000);
  const answers = Array.from({ length: 60 }, async () => statusOf(await patient.get("/posts")));
  expect(await Promise.all(answers)).toEqual(Array(60).fill(200));
});

test("the gateway closes the connection of a client that does not read its answer", async () => {
  const closed = new Promise<void>((resolve) => {
    strict.app.server.once("connection", (socket: Socket) => socket.once("close", () => resolve()));
  });
  strict.requestWithoutReading(`/posts/${POST_ID}`);
  await closed;
  expect(strict.calls).toBe(1);
});
