import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createClient } from "../packages/client/src/client.ts";
import { findStablePorts } from "../packages/local/src/processes/free-port.ts";
import { makeTestFolder } from "../packages/local/src/stack/test-folder.ts";
import { startSimulator } from "../packages/simulator/src/simulator.ts";
import { type Cell, openCell, startNginx } from "./cells/cell.ts";
import { runScript } from "./check/run-command.ts";

// Tries deploy/cells/nginx.conf and the steps of docs/scale.md with two cells on this machine, each
// `npm run serve` with a Postgres of its own. Needs nginx and openssl:
//   npm run cells-walk [path of nginx]
const [nginx = "nginx"] = process.argv.slice(2);
const began = Date.now();

function say(line: string): void {
  process.stdout.write(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);
}

interface Tenant {
  readonly key: string;
  readonly accountId: string;
}

async function openTenant({ tool }: Cell, name: string): Promise<Tenant> {
  const words = ["workspace", "create", "--name", name, "--verified", "--with-key"];
  const { id, key } = (await tool(...words)) as { readonly id: string; readonly key: string };
  const connect = ["account", "connect", "bluesky", "--workspace", id, "--simulated"];
  const account = (await tool(...connect)) as { readonly id: string };
  return { key, accountId: account.id };
}

/** In an installation without cells, which then stops. */
async function openTenantBefore(cell: Cell, address: string): Promise<Tenant> {
  await using _running = await cell.start({ PUBLIC_URL: address });
  return await openTenant(cell, "Before cells");
}

async function publish(baseUrl: string, { key, accountId }: Tenant, followCells = false) {
  const client = createClient({ baseUrl, apiKey: key, followCells });
  const { accounts } = await client.listAccounts();
  assert.deepEqual(
    accounts.map(({ id }) => id),
    [accountId],
  );
  const { id } = await client.createPost({
    content: `Hello by ${baseUrl}`,
    accountIds: [accountId],
  });
  assert.equal((await client.waitForPost(id)).status, "published");
}

/** A gateway of a machine with too much work refuses requests for a moment. */
async function send(url: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const answer = await fetch(url, init);
    if (answer.status !== 503) return answer;
    await setTimeout(Number(answer.headers.get("retry-after")) * 1000);
  }
}

async function ask(address: string, key?: string) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const answer = await send(`${address}/api/v1/posts`, { headers });
  const { error } = (await answer.json()) as { readonly error?: { readonly code: string } };
  const cell = answer.headers.get("x-postrider-cell-address");
  return `${answer.status} ${error?.code ?? "ok"}${cell === null ? "" : ` ${cell}`}`;
}

async function listTools(address: string, key: string): Promise<number> {
  const answer = await send(`${address}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  await answer.text();
  return answer.status;
}

async function walk(): Promise<void> {
  const folder = makeTestFolder("cells");
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const simulator = opened.use(await startSimulator({ host: "127.0.0.1", port: 0 }));
  const [shared = 0, eu1Port = 0, us1Port = 0] = await findStablePorts(3);
  const open = async (name: string) =>
    opened.use(await openCell(join(folder, name), simulator.url));
  mkdirSync(join(folder, "nginx"));
  const [first, second] = [await open("eu1"), await open("us1")];
  const eu1 = `https://eu1.example.com:${eu1Port}`;
  const us1 = `https://us1.example.com:${us1Port}`;
  const api = `https://api.example.com:${shared}`;

  const old = await openTenantBefore(first, eu1);
  say(`an installation without cells made a key: ${old.key.slice(0, 12)}…`);

  const addresses = { CELL_ADDRESSES: `eu1=${eu1},us1=${us1}` };
  opened.use(await first.start({ PUBLIC_URL: eu1, CELL: "eu1", ...addresses }));
  opened.use(await second.start({ PUBLIC_URL: us1, CELL: "us1", ...addresses }));
  const cells = {
    eu1: { own: eu1Port, gateway: first.port },
    us1: { own: us1Port, gateway: second.port },
  };
  opened.use(await startNginx(nginx, join(folder, "nginx"), { shared, cells }));
  const [inEu1, inUs1] = [await openTenant(first, "In eu1"), await openTenant(second, "In us1")];
  say(`the cells eu1 and us1 run: ${inEu1.key.slice(0, 16)}…, ${inUs1.key.slice(0, 16)}…`);

  for (const tenant of [old, inEu1, inUs1]) await publish(api, tenant);
  say("one address: three keys each see their own account, and publish");
  assert.deepEqual([await listTools(api, inEu1.key), await listTools(api, inUs1.key)], [200, 200]);
  assert.equal(await ask(api), "401 unauthenticated");
  say("one address: /mcp answers both keys; a request without a key is refused by the first cell");

  const forged = inUs1.key.replace("us1", "eu1");
  const answers = [
    ["a key of us1 at eu1", await ask(eu1, inUs1.key), `421 wrong_cell ${us1}`],
    ["a key of eu1 at us1", await ask(us1, inEu1.key), `421 wrong_cell ${eu1}`],
    ["the old key at us1", await ask(us1, old.key), "401 unauthenticated"],
    ["a key of us1 that names eu1, at us1", await ask(us1, forged), "401 unauthenticated"],
    ["the old key at eu1", await ask(eu1, old.key), "200 ok"],
  ];
  for (const [what, answer, expected] of answers) {
    assert.equal(answer, expected, what);
    say(`${what}: ${answer}`);
  }
  await publish(eu1, inUs1, true);
  say("the client with followCells publishes with a key of us1, given the address of eu1");
}

await runScript("cells-walk", async () => {
  await walk();
  return true;
});
