import { afterAll, expect, test } from "vitest";
import { DRAFTS_ONLY } from "#src/routes/mcp/draft-policy.ts";
import { ACCOUNT_ID, admitted, createTestServer, PUBLIC_URL } from "./fixture.ts";
import { listOperations, type ListedOperation } from "./operations.ts";

const SCOPES = ["accounts", "posts", "webhooks", "comments", "automations"].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);
const OPERATIONS = listOperations();

const app = await createTestServer({}, () =>
  admitted({ scopes: new Set([...SCOPES, DRAFTS_ONLY]) }),
);
afterAll(() => app.close());

async function send({ method, path }: ListedOperation): Promise<string> {
  const { body } = await app.inject({
    method,
    url: path.replaceAll(/\{\w+\}/g, ACCOUNT_ID),
    headers: { authorization: "Bearer key", host: new URL(PUBLIC_URL).host },
  });
  return body;
}

const writes = OPERATIONS.filter(({ scope }) => scope?.endsWith(":write"));
const reads = OPERATIONS.filter(({ scope }) => scope?.endsWith(":read"));

test("every operation of the API needs a scope that reads or a scope that writes, except the upload with a grant", () => {
  const others = OPERATIONS.filter((each) => !writes.includes(each) && !reads.includes(each));
  expect(others.map(({ id }) => id)).toEqual(["uploadFile"]);
  expect(writes.length).toBeGreaterThan(15);
});

test.each(writes)(
  "the operation $id refuses an API key that is limited to drafts",
  async (operation) => {
    expect(JSON.parse(await send(operation))).toMatchObject({
      error: {
        code: "insufficient_scope",
        details: [{ code: "mcp:drafts", message: expect.stringContaining("draft-only") as string }],
      },
    });
  },
);

test.each(reads)(
  "the operation $id accepts an API key that is limited to drafts",
  async (operation) => {
    expect(await send(operation)).not.toContain("insufficient_scope");
  },
);
