import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { DRAFTS_ONLY } from "#src/routes/mcp/draft-policy.ts";
import { ACCOUNT_ID, admitted, createTestServer, PUBLIC_URL } from "./fixture.ts";

/** An operation as the API description lists it. */
interface ListedOperation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The scope that its API key needs; undefined for the upload with a grant. */
  readonly scope: string | undefined;
}

interface Described {
  readonly operationId?: string;
  readonly "x-postrider-scope"?: string;
}

/**
 * Returns all operations of the committed API description, which another test compares with the
 * server.
 */
function listOperations(): readonly ListedOperation[] {
  const file = fileURLToPath(new URL("../openapi.json", import.meta.url));
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as {
    paths: Record<string, Record<string, Described>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const { operationId: id, "x-postrider-scope": scope } = described;
      if (id === undefined) return [];
      return [{ id, method: method.toUpperCase() as ListedOperation["method"], path, scope }];
    }),
  );
}

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
