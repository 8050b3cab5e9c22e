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
const keyOf = (cell?: string) => formatApiKey(new Uint8Array(32).fill(7), "key", cell);

/** A gateway, whose accounts service knows some keys and records what it is asked. */
async function openCell(own: string, keys: readonly string[]) {
  const known = new Set(keys.map((key) => hashApiKey(key).toString("hex")));
  let lookUps = 0;
  const admission = createAdmission({
    client: {
      admit: ({ queries = [] }) => {
        lookUps += queries.length;
        const isKnown = (hash?: Uint8Array) => known.has(Buffer.from(hash ?? []).toString("hex"));
        const key = { id: "k", scopes: ["posts:read"], workspaceIds: [WORKSPACE_ID] };
        const answers = queries.map(({ keyHash }) => (isKnown(keyHash) ? { key } : {}));
        const limit = { requestsPerMinute: 600, granted: 600, remaining: 0, emptyForMs: 0 };
        const workspaces = [{ id: WORKSPACE_ID, verified: true, ...limit }];
        return Promise.resolve(create(AdmitResponseSchema, { answers, workspaces }));
      },
    },
    logger: createLogger({ service: "test", level: "silent" }),
    cells: { own, addresses: ADDRESSES },
  });
  const posts = { listPosts: () => ({ json: '{"posts":[],"nextCursor":null}' }) };
  const app = await createTestServer({ posts }, (request) => admission.admit(request));
  const ask = async (key: string, url = "/api/v1/posts") => {
    const method = url === "/mcp" ? "POST" : "GET";
    return await app.inject({ method, url, headers: { authorization: `Bearer ${key}` } });
  };
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
  "at %s, each of two cells sends the client of a key of the other one there, without a look-up",
  async (url) => {
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
