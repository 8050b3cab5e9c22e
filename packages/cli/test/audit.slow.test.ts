import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { createAuditService } from "@postrider/shared/audit/service";
import { createServiceServer } from "@postrider/shared/connect/server";
import { newId } from "@postrider/shared/ids";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import { findPerson } from "#src/run.ts";
import {
  createServiceDatabase,
  identities,
  INSTANT,
  MAIN,
  runTool,
  SEALING_KEYS,
  startService,
} from "./tool.ts";

const NAMES = ["accounts", "posts", "media", "delivery"] as const;
const URLS = ["ACCOUNTS_URL", "POSTS_URL", "MEDIA_SERVICE_URL", "DELIVERY_URL"];
const LARGE = 100_000;
/**
 * Maximum heap of the operator's tool in MiB. The tool needs 28 MB to start. If it held all entries
 * of the audit log in memory, it would need 60 MB more.
 */
const HEAP_MB = 64;
const logger = createLogger({ service: "test", level: "silent" });

const opened: AsyncDisposable[] = [];
const databases = new Map<string, TestDatabase>();
let settings: Settings;

/**
 * Starts a server that answers only the RPC of the audit log, from the tables of the given service.
 */
async function startAudit(service: (typeof NAMES)[number]): Promise<string> {
  const database = await createServiceDatabase(service);
  databases.set(service, database);
  const server = await createServiceServer({
    access: identities.accessOf(service),
    logger,
    routes: (router) => router.service(AuditService, createAuditService(database)),
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
  opened.push({ [Symbol.asyncDispose]: () => server.close() }, database);
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const urls: Record<string, string> = {};
  for (const name of NAMES) urls[name] = await startAudit(name);
  settings = { urls: urls as Settings["urls"], identity: identities.of("operator") };
});
afterAll(async () => {
  for (const each of opened) await each[Symbol.asyncDispose]();
});

/**
 * Returns a connection with the migration role, because the runtime role cannot choose the time of
 * an entry.
 */
function sqlOf(service: string) {
  const database = databases.get(service);
  if (database === undefined) throw new Error(`there is no database of ${service}`);
  return database.migrationSql;
}

/**
 * Inserts an entry with a given time, because entries of several databases have to be in a known
 * order.
 */
async function insert(service: string, at: string, entry: Entry): Promise<void> {
  const { workspaceId, subjectId, action = "key.create" } = entry;
  await sqlOf(service)`
    insert into audit_log (id, at, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
    values (${newId()}, ${at}, ${workspaceId}, 'operator', 'operator', ${action}, 'key', ${subjectId}, '{}')`;
}

interface Entry {
  readonly workspaceId: string;
  readonly subjectId: string;
  readonly action?: string;
}

interface Printed {
  readonly at: string;
  readonly id: string;
  readonly subject: { readonly id: string };
}

async function list(...words: readonly string[]): Promise<readonly Printed[]> {
  const { printed, errors } = await runTool(["audit", "list", ...words, "--json"], settings);
  expect(errors).toBe("");
  return (JSON.parse(printed) as { entries: readonly Printed[] }).entries;
}

const idsOf = (entries: readonly Printed[]) => entries.map(({ subject }) => subject.id);

test("`audit list` merges the audit logs of all services, newest entry first, and filters and limits them", async () => {
  const workspace = newId();
  const order = ["accounts", "delivery", "posts", "accounts", "media", "delivery"];
  for (const [index, service] of order.entries()) {
    const action = index === 4 ? "workspace.set_storage_limit" : "key.create";
    const at = `2026-11-20T09:00:00.00${index}Z`;
    await insert(service, at, { workspaceId: workspace, subjectId: `s${index}`, action });
    await insert(service, at, { workspaceId: newId(), subjectId: "foreign" });
  }
  expect(idsOf(await list("--workspace", workspace))).toEqual(["s5", "s4", "s3", "s2", "s1", "s0"]);
  expect(idsOf(await list("--workspace", workspace, "--limit", "2"))).toEqual(["s5", "s4"]);
  const inMedia = ["--workspace", workspace, "--service", "media"];
  expect(idsOf(await list(...inMedia))).toEqual(["s4"]);
  const limits = ["--action", "workspace.set_storage_limit", "--workspace", workspace];
  expect(idsOf(await list(...limits))).toEqual(["s4"]);
  const since = "2026-11-20T09:00:00.004Z";
  expect(idsOf(await list("--workspace", workspace, "--since", since))).toEqual(["s5", "s4"]);
  const before = ["--workspace", workspace, "--before", since];
  expect(idsOf(await list(...before))).toEqual(["s3", "s2", "s1", "s0"]);
  const { printed } = await runTool(["audit", "list", "--workspace", workspace], settings);
  expect(printed.split("\n")[0]).toMatch(/^TIME +ACTION +SUBJECT +ACTOR +FROM +WORKSPACE$/);
  expect(printed).toContain("key s5");
});

test.each([
  ["audit list --action key.steal", "--action must be one of"],
  ["audit list --since yesterday", "--since must be a time"],
  ["audit list --limit 1001", "--limit must be at most 1000"],
  ["audit list --service gateway", "--service must be one of"],
  ["audit export --format csv", "--format must be jsonl"],
])("the operator's tool refuses the command line `%s`", async (text, message) => {
  const { exitCode, errors } = await runTool(text.split(" "), settings);
  expect(exitCode).toBe(2);
  expect(errors).toContain(message);
});

test("a change by the operator's tool leaves audit entries with the operator's user, computer and address, and with one request id in all services", async () => {
  await using database = await createServiceDatabase("accounts");
  await using accounts = await startService("accounts", database, {
    CREDENTIAL_KEYS: SEALING_KEYS,
  });
  const real = { ...settings, urls: { ...settings.urls, accounts: accounts.url } };
  const created = await runTool(["workspace", "create", "--name", "Acme", "--json"], real);
  const { id } = JSON.parse(created.printed) as { id: string };
  const { printed } = await runTool(["audit", "export", "--workspace", id], real);
  expect(JSON.parse(printed)).toEqual({
    id: expect.any(String) as string,
    at: INSTANT,
    service: "accounts",
    workspaceId: id,
    actor: { kind: "operator", id: "operator", name: findPerson() },
    action: "workspace.create",
    subject: { type: "workspace", id },
    details: { name: "Acme", verified: false },
    via: null,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    sourceAddress: "127.0.0.1",
  });
});

test("`audit list --key` lists what was done with an API key in all services, page by page, with the address and the interface", async () => {
  const [key, workspaceId] = [newId(), newId()];
  const order = ["posts", "media", "delivery", "posts", "accounts"];
  for (const [index, service] of order.entries())
    for (const actor of [key, newId()])
      await sqlOf(service)`
        insert into ${sqlOf(service)(service === "accounts" ? "audit_log" : "audit_log_deeds")} (
          id, at, workspace_id, actor_kind, actor_id, via, action, subject_type, subject_id, details, source_address
        )
        values (
          ${newId()}, ${`2026-11-21T09:00:00.00${index >> 1}Z`}, ${workspaceId}, 'key', ${actor}, 'mcp', 'post.create',
          'post', ${`p${index}`}, '{}', '198.51.100.9'
        )`;
  const whole = await list("--key", key);
  expect(idsOf(whole).toSorted()).toEqual(["p0", "p1", "p2", "p3", "p4"]);
  expect(whole[0]).toMatchObject({
    actor: { kind: "key", id: key },
    via: "mcp",
    sourceAddress: "198.51.100.9",
    workspaceId,
  });
  const paged: string[] = [];
  for (let next: string | null | undefined; next !== null;) {
    const place = next === undefined ? [] : ["--after", next];
    const words = ["audit", "list", "--key", key, "--limit", "2", ...place, "--json"];
    const { printed } = await runTool(words, settings);
    const page = JSON.parse(printed) as { entries: readonly Printed[]; next: string | null };
    paged.push(...idsOf(page.entries));
    next = page.next;
  }
  expect(paged).toEqual(idsOf(whole));
  expect(idsOf(await list("--key", key, "--workspace", newId()))).toEqual([]);
  const { printed } = await runTool(["audit", "list", "--key", key], settings);
  expect(printed).toContain(`key ${key} (mcp)`);
  expect((await runTool(["audit", "list", "--after", "yesterday"], settings)).errors).toContain(
    "--after",
  );
});

/**
 * Starts the operator's tool as a process whose heap is too small to hold all entries of a large
 * audit log.
 */
function startExport(workspaceId: string) {
  const { IDENTITY_KEYS } = identities.env("operator");
  const urls = NAMES.map((name, index) => [URLS[index], settings.urls[name]]);
  return spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, MAIN, "audit", "export", "--workspace", workspaceId],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...compileCacheEnv(),
        IDENTITY_KEYS,
        ...(Object.fromEntries(urls) as Record<string, string>),
      },
    },
  );
}

/**
 * Inserts audit entries of a workspace into the audit logs of two services, half of them into each.
 */
async function insertMany(count: number): Promise<string> {
  const workspaceId = newId();
  for (const name of ["accounts", "delivery"])
    await sqlOf(name)`
      insert into audit_log (id, at, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
      select gen_random_uuid(), date_trunc('milliseconds', now() - n * interval '7 ms'), ${workspaceId},
        'operator', 'operator', 'key.create', 'key', n::text, jsonb_build_object('name', repeat('x', 200))
      from generate_series(1, ${count / 2}::int) as n`;
  return workspaceId;
}

test("`audit export` prints 100,000 entries in the order of time with a heap of 64 MiB", async () => {
  const tool = startExport(await insertMany(LARGE));
  const ended = once(tool, "exit");
  let [count, last, isOrdered] = [0, "", true];
  for await (const line of createInterface({ input: tool.stdout })) {
    const { at, id } = JSON.parse(line) as Printed;
    const key = `${at} ${id}`;
    isOrdered &&= last < key;
    last = key;
    count += 1;
  }
  expect(await ended).toEqual([0, null]);
  expect({ count, isOrdered }).toEqual({ count: LARGE, isOrdered: true });
}, 300_000);

test("the command `audit export` ends when the operator interrupts it, and when the program that reads its output closes the pipe", async () => {
  const workspaceId = await insertMany(LARGE / 10);
  const interrupted = startExport(workspaceId);
  await once(interrupted.stdout, "data");
  interrupted.kill("SIGINT");
  expect(await once(interrupted, "exit")).toEqual([null, "SIGINT"]);
  const closed = startExport(workspaceId);
  await once(closed.stdout, "data");
  closed.stdout.destroy();
  expect(await once(closed, "exit")).toEqual([0, null]);
});
