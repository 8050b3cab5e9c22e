import { eventually } from "@postrider/shared/testing/poll";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { UnsentLimits } from "#src/routes/answer.ts";
import { addUnsentAnswerLimit } from "#src/routes/hooks/unsent-answers.ts";

const MEBIBYTE = 1024 * 1024;
const LIMITS = {
  totalBytes: 128 * MEBIBYTE,
  bytesWithoutWorkspace: 16 * MEBIBYTE,
  bytesPerCaller: 8 * MEBIBYTE,
  maxWaitMs: 1,
};

interface Caller {
  readonly workspaceId?: string;
  readonly address?: string;
}

/**
 * Ends the answers to requests for `/held`. Until then, each uses the bytes of its workspace like
 * an answer that its client does not read.
 */
let release: () => void;
let held: number;
let app: FastifyInstance;
let unread: Promise<unknown>[];

async function start(limits?: UnsentLimits): Promise<void> {
  const gate = Promise.withResolvers<string>();
  release = () => gate.resolve("");
  held = 0;
  unread = [];
  app = fastify();
  app.decorateRequest("caller", undefined);
  app.decorateRequest("bodyBytes", 0);
  app.addHook("onRequest", (request, _reply, done) => {
    const workspaceId = request.headers["x-workspace-id"];
    if (typeof workspaceId === "string")
      request.caller = {
        keyId: "",
        workspaceId,
        verified: true,
        isFrozen: false,
        scopes: new Set(),
        hasEnded: () => Promise.resolve(false),
      };
    done();
  });
  app.setErrorHandler((_error, _request, reply) => reply.code(429).send());
  addUnsentAnswerLimit(app, limits);
  const config = { answerBytes: 2 * MEBIBYTE, itemBytes: MEBIBYTE / 4 };
  const querystring = { type: "object", properties: { limit: { type: "integer" } } };
  app.get("/held", { config, schema: { querystring } }, () => {
    held += 1;
    return gate.promise;
  });
  app.get("/read", { config: { answerBytes: 2 * MEBIBYTE } }, () => "");
  await app.ready();
}

beforeEach(() => start(LIMITS));

afterEach(async () => {
  vi.useRealTimers();
  release();
  await Promise.all(unread);
  await app.close();
});

async function get(path: string, { workspaceId, address = "192.0.2.1" }: Caller): Promise<number> {
  const headers = workspaceId === undefined ? {} : { "x-workspace-id": workspaceId };
  const { statusCode } = await app.inject({ path, headers, remoteAddress: address });
  return statusCode;
}

/**
 * Requests an answer of 2 MiB for each caller, or a page that is limited to fewer bytes. Returns
 * once each request is refused or holds the bytes of its answer.
 */
async function holdAnswers(callers: readonly Caller[], path = "/held"): Promise<void> {
  let refused = 0;
  unread = callers.map(async (caller) => {
    if ((await get(path, caller)) === 429) refused += 1;
  });
  await eventually(() => held + refused === callers.length);
}

function repeat(count: number, toCaller: (index: number) => Caller): readonly Caller[] {
  return Array.from({ length: count }, (_, index) => toCaller(index));
}

test("twenty workspaces that do not read their large answers leave memory for the answers to another workspace", async () => {
  await holdAnswers(repeat(100, (index) => ({ workspaceId: `w${Math.floor(index / 5)}` })));
  expect(await get("/read", { workspaceId: "another" })).toBe(200);
});

test("one workspace can use its whole share of the memory for unsent answers while no other workspace has unsent answers", async () => {
  await holdAnswers(repeat(5, () => ({ workspaceId: "w" })));
  expect(held).toBe(4);
});

test("short pages of one workspace reserve only the bytes of their entries, so that more of them are read at once", async () => {
  await holdAnswers(
    repeat(40, () => ({ workspaceId: "w" })),
    "/held?limit=1",
  );
  expect(held).toBe(32);
});

test("a read waits nine seconds for the bytes of its answer, as it waits for its place among the calls", async () => {
  await app.close();
  await start();
  await holdAnswers(repeat(4, () => ({ workspaceId: "w" })));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const status = get("/read", { workspaceId: "w" });
  await eventually(() => vi.getTimerCount() === 1);
  await vi.advanceTimersByTimeAsync(9_000);
  release();
  expect(await status).toBe(200);
});

test.each(["abc", "0", "1&limit=2"])(
  "a page without entries is answered although its query has limit=%s",
  async (limit) => {
    expect(await get(`/read?limit=${limit}`, { workspaceId: "w" })).toBe(200);
  },
);

test("unsent answers to requests without a workspace do not use the memory that is reserved for workspaces", async () => {
  await holdAnswers(repeat(100, (index) => ({ address: `192.0.2.${index}` })));
  expect(held).toBe(8);
  expect(await get("/read", { workspaceId: "w" })).toBe(200);
});

test("all addresses of an IPv6 /64 network share one limit on the bytes of their unsent answers", async () => {
  await holdAnswers(repeat(100, (index) => ({ address: `2001:db8:1:2::${index.toString(16)}` })));
  expect(await get("/read", { address: "2001:db8:1:3::1" })).toBe(200);
});
