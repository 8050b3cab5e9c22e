import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { findStablePort } from "@postrider/local/processes/free-port";
import { afterAll, describe, expect, test } from "vitest";
import { listNodes } from "../scripts/client-package/list-runtimes.ts";
import { packPackage } from "../scripts/client-package/pack-package.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Runs the packed program `packages/mcp`, which agents that can only start programs use to reach
 * `/mcp` through standard input and output.
 */

const DEPENDENCIES = join(
  import.meta.dirname,
  "../packages/mcp/node_modules/@modelcontextprotocol",
);

const folder = mkdtempSync(join(tmpdir(), "postrider-mcp-user-"));
installBridge();
const system = await useSharedSystem();
const tenant = await openTenant(system);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

/** Unpacks `packages/mcp` beside its dependencies, as npm would install it from a registry. */
function installBridge(): void {
  const tarball = packPackage("mcp", folder);
  const installed = join(folder, "node_modules/@postrider/mcp");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  symlinkSync(DEPENDENCIES, join(folder, "node_modules/@modelcontextprotocol"));
}

function environment(): Record<string, string> {
  return { POSTRIDER_URL: system.local().baseUrl, POSTRIDER_API_KEY: tenant.key };
}

/**
 * Starts `packages/mcp` with the given settings, as an agent with a modern or legacy version of MCP
 * does.
 */
function startAgent(
  era: "modern" | "legacy",
  env: Record<string, string>,
  node: string = process.execPath,
) {
  const transport = new StdioClientTransport({
    command: node,
    args: [join(folder, "node_modules/@postrider/mcp/src/main.js")],
    env,
    stderr: "pipe",
  });
  const client = new Client(
    { name: "agent", version: "1" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  const printed = transport.stderr === null ? undefined : buffer(transport.stderr as never);
  return {
    client,
    connect: () => client.connect(transport),
    /** Ends the program and returns what it has written to standard error. */
    end: async () => {
      await client.close();
      return String(await printed);
    },
  };
}

describe.each(listNodes())("with Node $version", ({ path }) => {
  test.each(["modern", "legacy"] as const)(
    "an agent with a %s version of MCP lists accounts and creates a draft through the program @postrider/mcp",
    async (era) => {
      const accountId = await tenant.connect("bluesky");
      const { client, connect, end } = startAgent(era, environment(), path);
      await connect();
      expect((await client.listTools()).tools).toHaveLength(14);
      const listed = await client.callTool({ name: "list_accounts", arguments: {} });
      expect(JSON.stringify(listed.structuredContent)).toContain(accountId);
      const input = {
        content: "Written through the bridge",
        accountIds: [accountId],
        idempotencyKey: crypto.randomUUID(),
      };
      const created = await client.callTool({ name: "create_post", arguments: input });
      expect(created.structuredContent).toMatchObject({
        post: { status: "draft", createdVia: "mcp" },
      });
      expect(await end()).toBe("");
    },
  );
});

test("the program @postrider/mcp tells an agent that its API key is wrong", async () => {
  const { connect, end } = startAgent("legacy", { ...environment(), POSTRIDER_API_KEY: "wrong" });
  const message = "Postrider refuses the key in POSTRIDER_API_KEY. Create a new one.";
  await expect(connect()).rejects.toThrow(message);
  expect(await end()).toBe(`postrider-mcp: ${message}\n`);
});

test("the program @postrider/mcp tells an agent that Postrider cannot be reached", async () => {
  const address = `http://127.0.0.1:${await findStablePort()}`;
  const { connect, end } = startAgent("legacy", { ...environment(), POSTRIDER_URL: address });
  const message = `Postrider cannot be reached at ${address} (fetch failed, ECONNREFUSED). Check POSTRIDER_URL, and that it runs.`;
  await expect(connect()).rejects.toThrow(message);
  expect(await end()).toBe(`postrider-mcp: ${message}\n`);
});

test("the program @postrider/mcp names every missing setting and exits", async () => {
  const { connect, end } = startAgent("legacy", {});
  await expect(connect()).rejects.toThrow("Connection closed");
  expect(await end()).toBe(
    "postrider-mcp: POSTRIDER_URL must be the address of Postrider, without a password, such as https://postrider.example.com\n" +
      "POSTRIDER_API_KEY must be an API key of Postrider\n",
  );
});
