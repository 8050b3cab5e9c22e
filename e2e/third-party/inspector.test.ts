import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { openTenant } from "../support/requests/tenant.ts";
import { useSharedSystem } from "../support/system/system.ts";

const PACKAGE = join(import.meta.dirname, "node_modules/@modelcontextprotocol/inspector");
const INSPECTOR = join(PACKAGE, "clients/launcher/build/index.js");
const run = promisify(execFile);

const home = mkdtempSync(join(tmpdir(), "postrider-inspector-"));
const system = await useSharedSystem();
const tenant = await openTenant(system);
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
});

/** Runs the command-line program of the MCP Inspector against `/mcp`. */
async function inspect(...args: readonly string[]) {
  const target = [new URL("/mcp", system.local().baseUrl).href];
  const header = ["--header", `Authorization: Bearer ${tenant.key}`];
  const words = [INSPECTOR, "--cli", ...target, ...header, "--method", ...args];
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" };
  const { stdout, stderr } = await run(process.execPath, words, { env, maxBuffer: 10_000_000 });
  return { result: JSON.parse(stdout) as Record<string, unknown>, stderr };
}

test("the MCP Inspector lists the tools, and none has a schema that some agents cannot read", async () => {
  const { result, stderr } = await inspect("tools/list", "--strict");
  const tools = result["tools"] as readonly { readonly name: string }[];
  expect(tools.map(({ name }) => name)).toContain("create_post");
  expect(tools).toHaveLength(14);
  expect(stderr).toBe("");
});

test("the MCP Inspector lists the accounts and creates a draft", async () => {
  const bluesky = await tenant.connect("bluesky");
  const listed = await inspect("tools/call", "--tool-name", "list_accounts");
  expect(listed.result["structuredContent"]).toMatchObject({ accounts: [{ id: bluesky }] });
  const { result } = await inspect(
    "tools/call",
    "--tool-name",
    "create_post",
    "--tool-arg",
    "content=Written with the Inspector",
    `accountIds=${JSON.stringify([bluesky])}`,
    `idempotencyKey=${crypto.randomUUID()}`,
  );
  expect(result["structuredContent"]).toMatchObject({
    post: { status: "draft", content: "Written with the Inspector", createdVia: "mcp" },
  });
  expect(await tenant.countVisible("Written with the Inspector")).toBe(0);
});
