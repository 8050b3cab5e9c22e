import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { UNKNOWN_ID } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests one request for each way in which the gateway refuses requests; the gateway's own tests
 * cover every case.
 */

const system = await useSharedSystem();
const tenant = await openTenant(system);

/** Sends POST /posts with a raw body, and returns the status and the error code of the answer. */
async function postRaw(body: string): Promise<string> {
  const answer = await fetch(`${system.local().baseUrl}/api/v1/posts`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body,
  });
  const { error } = (await answer.json()) as { error?: { code?: string } };
  return `${answer.status} ${error?.code}`;
}

const toUnknown = (content: string) => JSON.stringify({ content, accountIds: [UNKNOWN_ID] });

test.each<[string, string, string]>([
  ["a body that is not valid JSON", "{", "400 invalid_request"],
  ["NUL in the text", toUnknown("a\u0000b"), "400 invalid_request"],
  ["more than 256 KiB of text", toUnknown("x".repeat(300 * 1024)), "413 payload_too_large"],
  ["a body of 2 MiB", toUnknown("x".repeat(2 * 1024 * 1024)), "413 payload_too_large"],
  ["an unknown account", toUnknown("x"), "422 validation_failed"],
])("POST /posts refuses %s and stores nothing", async (_, body, expected) => {
  expect(await postRaw(body)).toBe(expected);
  const rows = await system.sql`select 1 from posts.posts where workspace_id = ${tenant.id}`;
  expect(rows).toEqual([]);
});

test("every gateway refuses an API key within 5 s after the key is revoked, and refuses a wrong API key at once", async () => {
  const words = ["key", "create", "--name", "short", "--workspace", tenant.id, "--scopes", "all"];
  const { id, key } = await system.operate<{ id: string; key: string }>(...words);
  // Each gateway has its own cache of API keys.
  const statusesWith = async (bearer: string) =>
    await Promise.all(
      system.local().services.gateway.map(async ({ url }) => {
        const headers = { authorization: `Bearer ${bearer}` };
        return (await fetch(`${url}/api/v1/accounts`, { headers })).status;
      }),
    );
  expect(new Set(await statusesWith(key))).toEqual(new Set([200]));
  const flipped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  for (const wrong of ["pr_live_", flipped, "x".repeat(5000)])
    expect(new Set(await statusesWith(wrong))).toEqual(new Set([401]));
  await system.operate("key", "revoke", id);
  await eventually(async () => expect(new Set(await statusesWith(key))).toEqual(new Set([401])), {
    timeoutMs: 5000,
  });
});
