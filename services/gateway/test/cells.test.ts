import { create } from "@bufbuild/protobuf";
import { AdmitResponseSchema } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { afterAll, expect, test } from "vitest";
import { createAdmission } from "#src/admission/admission.ts";
import { summary } from "./error-body.ts";
import { createTestServer, WORKSPACE_ID } from "./fixture.ts";

const ADDRESSES = new Map([
  ["eu1", "https://eu1.example.com"],
  ["us1", "https://us1.example.com"],
]);
const keyOf = (cell?: string, fill = 7) => formatApiKey(new Uint8Array(32).fill(fill), "key", cell);

/** A gateway, whose accounts service knows some keys and records what it is asked. */
async function openCell(
  own: string,
  keys: readonly string[],
  {
    scopes = ["posts:read"],
    knownCells = [],
    grant = {},
  }: {
    readonly scopes?: string[];
    readonly knownCells?: string[];
    readonly grant?: { isFrozen?: boolean; movedTo?: string; isImporting?: boolean };
  } = {},
) {
  const known = new Set(keys.map((key) => hashApiKey(key).toString("hex")));
  let lookUps = 0;
  const admission = createAdmission({
    client: {
      admit: ({ queries = [] }) => {
        lookUps += queries.length;
        const isKnown = (hash?: Uint8Array) => known.has(Buffer.from(hash ?? []).toString("hex"));
        const key = { id: "k", scopes, workspaceIds: [WORKSPACE_ID] };
        const answers = queries.map(({ keyHash }) => (isKnown(keyHash) ? { key } : {}));
        const limit = { requestsPerMinute: 600, granted: 600, remaining: 0, emptyForMs: 0 };
        const workspaces = [{ id: WORKSPACE_ID, verified: true, ...limit, ...grant }];
        return Promise.resolve(create(AdmitResponseSchema, { answers, workspaces, knownCells }));
      },
    },
    logger: createLogger({ service: "test", level: "silent" }),
    cells: { own, addresses: ADDRESSES },
  });
  const posts = { listPosts: () => ({ json: '{"posts":[],"nextCursor":null}' }) };
  const app = await createTestServer({ posts }, (request) => admission.admit(request));
  const ask = async (
    key: string,
    url = "/api/v1/posts",
    method: "GET" | "POST" = url === "/mcp" ? "POST" : "GET",
  ) => await app.inject({ method, url, headers: { authorization: `Bearer ${key}` } });
  const close = async () => {
    await app.close();
    await admission[Symbol.asyncDispose]();
  };
  return { ask, close, lookUps: () => lookUps };
}

const eu1 = await openCell("eu1", [keyOf(), keyOf("eu1")]);
const us1 = await openCell("us1", [keyOf("us1")]);
afterAll(async () => {
  await Promise.all([eu1.close(), us1.close()]);
});

test("each of two cells answers its own keys, and those of the first cell from before it had a name", async () => {
  const answers = [
    await eu1.ask(keyOf()),
    await eu1.ask(keyOf("eu1")),
    await us1.ask(keyOf("us1")),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
});

test.each(["/api/v1/posts", "/api/v1/nothing", "/mcp"])(
  "at %s, each of two cells sends the client of a key of the other one there, and looks one of these keys up in two seconds",
  async (url) => {
    await Promise.all([eu1.ask(keyOf("us1", 8)), us1.ask(keyOf("eu1", 8))]);
    const before = eu1.lookUps() + us1.lookUps();
    const [atEu1, atUs1] = [await eu1.ask(keyOf("us1"), url), await us1.ask(keyOf("eu1"), url)];
    expect(summary(atEu1)).toEqual([421, "wrong_cell"]);
    expect(summary(atUs1)).toEqual([421, "wrong_cell"]);
    expect(atEu1.headers["x-postrider-cell-address"]).toBe("https://us1.example.com");
    expect(atUs1.headers["x-postrider-cell-address"]).toBe("https://eu1.example.com");
    expect(eu1.lookUps() + us1.lookUps()).toBe(before);
  },
);

test("a key whose cell was exchanged, a key of an unknown cell, and the old key of another cell are refused with 401", async () => {
  const exchanged = keyOf("eu1").replace("eu1", "us1");
  for (const key of [exchanged, keyOf("ap1"), keyOf()])
    expect(summary(await us1.ask(key))).toEqual([401, "unauthenticated"]);
  expect(summary(await eu1.ask(exchanged))).toEqual([401, "unauthenticated"]);
});

test("a key that came with a workspace from another cell works here, and an unknown key of that cell is sent there", async () => {
  const moved = await openCell("us1", [keyOf("eu1")], { knownCells: ["eu1"] });
  expect((await moved.ask(keyOf("eu1"))).statusCode).toBe(200);
  const unknown = await moved.ask(keyOf("eu1", 8));
  expect(summary(unknown)).toEqual([421, "wrong_cell"]);
  // Also after an answer about another key of the cell, which is looked up each time.
  expect((await moved.ask(keyOf("eu1"))).statusCode).toBe(200);
  await moved.close();
});

test("a frozen workspace is read, and a write is refused with 503 and a time after which the client repeats it", async () => {
  const scopes = ["posts:read", "posts:write"];
  const frozen = await openCell("eu1", [keyOf("eu1")], { scopes, grant: { isFrozen: true } });
  expect((await frozen.ask(keyOf("eu1"))).statusCode).toBe(200);
  const write = await frozen.ask(keyOf("eu1"), "/api/v1/posts", "POST");
  expect(summary(write)).toEqual([503, "unavailable"]);
  expect(write.headers["retry-after"]).toBe("30");
  expect(write.json()).toMatchObject({
    error: { code: "unavailable", message: expect.stringContaining("is being moved") },
  });
  await frozen.close();
});

test("the keys of a workspace that was moved get the address of its cell, for reads and writes", async () => {
  const scopes = ["posts:read", "posts:write"];
  const grant = { isFrozen: true, movedTo: "us1" };
  const moved = await openCell("eu1", [keyOf("eu1"), keyOf()], { scopes, grant });
  for (const key of [keyOf("eu1"), keyOf()])
    for (const method of ["GET", "POST"] as const) {
      const answer = await moved.ask(key, "/api/v1/posts", method);
      expect(summary(answer)).toEqual([421, "wrong_cell"]);
      expect(answer.headers["x-postrider-cell-address"]).toBe("https://us1.example.com");
    }
  await moved.close();
});

test("the keys of a workspace whose import has not ended get 503, not 401 and not the address of its old cell", async () => {
  const grant = { isImporting: true };
  const held = await openCell("us1", [keyOf("eu1")], { knownCells: ["eu1"], grant });
  const answer = await held.ask(keyOf("eu1"));
  expect(summary(answer)).toEqual([503, "unavailable"]);
  expect(answer.headers["retry-after"]).toBe("5");
  await held.close();
});
