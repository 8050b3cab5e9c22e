import { Agent, get } from "node:http";
import { type AddressInfo, createConnection, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { DashboardEvent } from "@postrider/rest/dashboard/events";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, expect, test, vi } from "vitest";
import {
  EventStreams,
  STREAM_LIMITS,
  type StreamLimits,
} from "#src/routes/dashboard/event-streams.ts";
import { SESSION_HEADERS } from "./dashboard-fixture.ts";
import { admitted, createTestServer, POST_ID, WORKSPACE_ID, type Peers } from "./fixture.ts";

interface Wanted {
  readonly cursor: string;
  readonly workspaceIds: readonly string[];
}

type HintAnswer = Awaited<ReturnType<NonNullable<NonNullable<Peers["hints"]>["waitForHints"]>>>;

/** A server whose delivery service answers the next question when a test gives an answer. */
async function open(
  limits: Partial<StreamLimits> = {},
  admit?: NonNullable<Parameters<typeof createTestServer>[1]>,
  hasEnded: NonNullable<Peers["hasEnded"]> = () => Promise.resolve(false),
) {
  const asked: Wanted[] = [];
  let give = Promise.withResolvers<HintAnswer>();
  const closing = Promise.withResolvers<HintAnswer>();
  let workspaceId = WORKSPACE_ID;
  const app = await createTestServer(
    {
      hints: {
        waitForHints: async ({ cursor, workspaceIds }) => {
          asked.push({ cursor, workspaceIds });
          const answer = await Promise.race([give.promise, closing.promise]);
          give = Promise.withResolvers();
          // An answer without a hint never comes at once.
          await setImmediate();
          return answer;
        },
      },
      accounts: { disconnectAccount: () => ({ revocation: "unconfirmed" }) },
      posts: { validatePost: () => ({ targets: [] }) },
      streamLimits: { ...STREAM_LIMITS, gatherMs: 5, ...limits },
      hasEnded,
    },
    admit ?? (() => admitted({ keyId: undefined, sessionId: newId(), workspaceId })),
  );
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  let streams = new AbortController();
  const connect = async (own = WORKSPACE_ID) => {
    workspaceId = own;
    const answer = await fetch(`${url}/app/api/events`, {
      headers: SESSION_HEADERS,
      signal: streams.signal,
    });
    const events: DashboardEvent[] = [];
    const state = { text: "", isOver: false };
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const part of answer.body ?? []) {
        state.text += decoder.decode(part as Uint8Array);
        const found = [...state.text.matchAll(/^data: (.*)$/gm)];
        events.splice(0, events.length, ...found.map(([, json = ""]) => JSON.parse(json)));
      }
      state.isOver = true;
    };
    read().catch(() => {
      state.isOver = true;
    });
    return { answer, events, state };
  };
  stop = async () => {
    streams.abort();
    closing.resolve({});
    await app.close();
  };
  return {
    app,
    asked,
    connect,
    give: (answer: HintAnswer) => give.resolve(answer),
    disconnect: () => {
      streams.abort();
      streams = new AbortController();
    },
    close: () => {
      closing.resolve({});
      return app.close();
    },
  };
}

let stop: () => Promise<void> = () => Promise.resolve();
afterEach(() => {
  vi.useRealTimers();
  return stop();
});

const RESYNC = { type: "resync", id: null };
/** For what shows this account, and for lists of accounts. */
const CHANGED_ACCOUNT = [
  { type: "account", id: POST_ID },
  { type: "account", id: null },
];
const hint = (workspaceId: string, type: string, id: string, postId = "") => ({
  workspaceId,
  type,
  id,
  postId,
});

test("a stream begins with a request to read again, repeats it when the first hints can arrive, and sends hints of its own workspace only, each once", async () => {
  const server = await open();
  const other = newId();
  const mine = await server.connect();
  const theirs = await server.connect(other);
  server.give({ cursor: "c" });
  expect(mine.answer.status).toBe(200);
  expect(Object.fromEntries(mine.answer.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  await eventually(() =>
    expect(server.asked.at(-1)?.workspaceIds.toSorted()).toEqual([WORKSPACE_ID, other].toSorted()),
  );
  // What changed before the first answer has no hint.
  server.give({ cursor: "c0" });
  await eventually(() => expect(mine.events).toEqual([RESYNC, RESYNC]));
  await eventually(() => expect(server.asked.at(-1)?.cursor).toBe("c0"));
  server.give({
    cursor: "c1",
    hints: [
      hint(WORKSPACE_ID, "target", "t", POST_ID),
      hint(WORKSPACE_ID, "target", "t", POST_ID),
      hint(other, "quota", ""),
      hint(WORKSPACE_ID, "of a later release", "x"),
    ],
  });
  await eventually(() => {
    expect(mine.events).toEqual([
      RESYNC,
      RESYNC,
      { type: "target", id: "t", postId: POST_ID },
      { type: "post", id: null },
    ]);
    expect(theirs.events).toEqual([RESYNC, RESYNC, { type: "quota", id: null }]);
  });
  await eventually(() => expect(server.asked.at(-1)?.cursor).toBe("c1"));
});

test("a change through this gateway is a hint although it makes no event", async () => {
  const server = await open();
  const { events } = await server.connect();
  const url = `/api/v1/accounts/${POST_ID}`;
  const answer = await server.app.inject({ method: "DELETE", url, headers: SESSION_HEADERS });
  expect(answer.statusCode).toBe(204);
  await eventually(() => expect(events.slice(1)).toEqual(CHANGED_ACCOUNT));
});

test("a question that is sent as POST sends no hint: the page asks it while a person writes", async () => {
  const server = await open();
  const { events } = await server.connect();
  const send = (method: "POST" | "DELETE", url: string, payload?: object) =>
    server.app.inject({ method, url, headers: SESSION_HEADERS, ...(payload && { payload }) });
  const content = { content: "any", accountIds: [POST_ID] };
  expect((await send("POST", "/api/v1/posts/validate", content)).statusCode).toBe(200);
  await send("DELETE", `/api/v1/accounts/${POST_ID}`);
  await eventually(() => expect(events.slice(1)).toEqual(CHANGED_ACCOUNT));
  expect(events.map(({ type }) => type)).not.toContain("post");
});

test("a gap and very many hints at once make the pages read again", async () => {
  const server = await open();
  const { events } = await server.connect();
  server.give({ cursor: "c", isGap: true });
  await eventually(() => expect(events).toEqual([RESYNC, RESYNC]));
  const hints = Array.from({ length: 300 }, (_, n) => hint(WORKSPACE_ID, "post", `p${n}`));
  server.give({ cursor: "d", hints });
  await eventually(() => expect(events.slice(2).filter(({ id }) => id === null)).toEqual([RESYNC]));
});

test("nothing is asked for while no page is open", async () => {
  const server = await open();
  expect(server.asked).toEqual([]);
  await server.connect();
  await eventually(() => expect(server.asked).toHaveLength(1));
  server.disconnect();
  await server.app.inject({ url: "/livez" });
  server.give({ cursor: "c" });
  await eventually(async () => {
    await server.app.inject({ url: "/livez" });
    expect(server.asked.length).toBeLessThanOrEqual(2);
  });
});

test.each([
  [{ perWorkspace: 1 }, WORKSPACE_ID],
  [{ perProcess: 1 }, newId()],
])(
  "with the limits %j, a second stream is refused until the first one ends",
  async (limits, own) => {
    const server = await open(limits);
    await server.connect();
    const { answer } = await server.connect(own);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "5"]);
  },
);

test("a browser with many open pages has connections left for their requests, over HTTP/1.1 too", async () => {
  const sessionId = newId();
  const server = await open({}, () => admitted({ keyId: undefined, sessionId }));
  const { port } = server.app.server.address() as AddressInfo;
  // As many as browsers open to one host.
  const agent = new Agent({ keepAlive: true, maxSockets: 6 });
  const statuses: (number | undefined)[] = [];
  const ask = (path: string) =>
    get({ agent, port, path, headers: SESSION_HEADERS }, (answer) => {
      statuses.push(answer.statusCode);
      answer.resume();
    }).on("error", () => undefined);
  for (let page = 0; page < 8; page += 1) ask("/app/api/events");
  const requests = Array.from({ length: 3 }, () => ask("/app/api/cures"));
  try {
    await eventually(() => expect(statuses).toHaveLength(8 + requests.length));
    expect(statuses.filter((status) => status === 200)).toHaveLength(4 + requests.length);
  } finally {
    agent.destroy();
  }
});

test("the session of a page that is closed while its request is admitted is not checked for ever", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const admission = Promise.withResolvers<void>();
  let [asked, checks] = [0, 0];
  const admit = async () => {
    asked += 1;
    await admission.promise;
    return admitted({ keyId: undefined, sessionId: newId() });
  };
  const server = await open({}, admit, () => {
    checks += 1;
    return Promise.resolve(false);
  });
  const closed = Promise.withResolvers<void>();
  server.app.server.once("connection", (socket) => socket.once("close", () => closed.resolve()));
  const end = server.connect().then(
    () => "answered",
    () => "aborted",
  );
  await eventually(() => expect(asked).toBe(1));
  server.disconnect();
  expect(await end).toBe("aborted");
  await closed.promise;
  admission.resolve();
  await server.app.inject({ url: "/livez" });
  vi.advanceTimersByTime(60_000);
  expect(checks).toBe(0);
});

test("a stream ends within 5 s when its session ends", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let isOver = false;
  const server = await open({}, undefined, () => Promise.resolve(isOver));
  const { answer, state } = await server.connect();
  expect(answer.status).toBe(200);
  isOver = true;
  vi.advanceTimersByTime(5_000);
  await eventually(() => expect(state.isOver).toBe(true));
});

test("a stream whose page does not read is closed when its session ends, and gets no further heartbeat", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let isOver = false;
  const limits = { maxUnreadBytes: Number.POSITIVE_INFINITY, heartbeatMs: 10_000 };
  const server = await open(limits, undefined, () => Promise.resolve(isOver));
  const connected = Promise.withResolvers<Socket>();
  server.app.server.once("connection", connected.resolve);
  const { port } = server.app.server.address() as AddressInfo;
  const client = createConnection({ port, host: "127.0.0.1" });
  const headers = Object.entries(SESSION_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(`GET /app/api/events HTTP/1.1\r\nhost: a\r\n${headers.join("")}\r\n`);
  await new Promise((resolve) => client.once("readable", resolve));
  const socket = await connected.promise;
  // More than the operating system keeps for a connection.
  socket.write(Buffer.alloc(64 * 1024 * 1024));
  isOver = true;
  vi.advanceTimersByTime(5_000);
  await setImmediate();
  for (const _ of [1, 2, 3]) {
    vi.advanceTimersByTime(10_000);
    await setImmediate();
  }
  expect(socket.destroyed).toBe(true);
  client.destroy();
});

function toStream(writableLength: number, workspaceId = WORKSPACE_ID) {
  const seen = { texts: [] as string[], isCut: false, isEnded: false };
  const response = {
    write: (text: string) => seen.texts.push(text) > 0,
    end: () => {
      seen.isEnded = true;
      return response as never;
    },
    destroy: () => {
      seen.isCut = true;
      return response as never;
    },
    writableLength,
    destroyed: false,
  };
  const hasEnded = () => Promise.resolve(false);
  return { seen, workspaceId, sessionId: newId(), hasEnded, response };
}

test("when all streams of a process are taken, a workspace with fewer gets one of the workspace with the most, until they have equally many", () => {
  const streams = new EventStreams({ ...STREAM_LIMITS, perProcess: 4 }, () => undefined);
  const many = Array.from({ length: 4 }, () => toStream(0));
  for (const each of many) streams.add(each);
  const other = newId();
  const opened = [1, 2, 3].map(() => {
    const stream = toStream(0, other);
    if (!streams.hasRoom(stream)) return false;
    streams.add(stream);
    return true;
  });
  expect(opened).toEqual([true, true, false]);
  expect(many.map(({ seen }) => seen.isEnded)).toEqual([true, true, false, false]);
  expect(many.some((each) => streams.hasRoom(each))).toBe(false);
  streams.endAll();
});

test("a page that does not read is cut off, and the others of its workspace get the hint", async () => {
  const streams = new EventStreams({ ...STREAM_LIMITS, gatherMs: 1 }, () => undefined);
  const [reading, stuck] = [toStream(0), toStream(STREAM_LIMITS.maxUnreadBytes + 1)];
  streams.add(reading);
  streams.add(stuck);
  streams.send(WORKSPACE_ID, { type: "post", id: POST_ID });
  await eventually(() => expect(reading.seen.texts.join("")).toContain(POST_ID));
  expect(stuck.seen).toEqual({ texts: [], isCut: true, isEnded: false });
  streams.endAll();
});

test("silent streams get heartbeats, and end when the gateway stops", async () => {
  const server = await open({ heartbeatMs: 10 });
  const { state } = await server.connect();
  await eventually(() => expect(state.text).toContain(": heartbeat\n\n: heartbeat\n\n"));
  await server.close();
  await eventually(() => expect(state.isOver).toBe(true));
});
