import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startEmbeddedPostgres } from "#src/postgres/embedded-postgres.ts";
import { poll } from "#src/processes/poll.ts";
import { identifyProcess } from "#src/processes/process-identity.ts";

let folder: string;
let dataDir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-postgres-test-"));
  chmodSync(folder, 0o711);
  dataDir = join(folder, "data");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<Record<string, unknown> | undefined> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const rows = await sql.unsafe(text);
  await sql.end();
  return rows[0];
}

test("a new Postgres cluster is UTF-8 and durable, and listens on the loopback address only", async () => {
  await using server = await startEmbeddedPostgres({ dataDir });

  const shown = await query(
    server.url,
    `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as address`,
  );

  expect(shown).toEqual({ encoding: "UTF8", fsync: "on", commit: "on", address: "127.0.0.1" });
});

test("a killed Postgres starts again on the same port with every committed row", async () => {
  const first = await startEmbeddedPostgres({ dataDir });
  await query(first.url, "create table kept as select 7 as number");
  process.kill(first.pid, "SIGKILL");
  await first.exited;

  await using second = await startEmbeddedPostgres({ dataDir, port: first.port });

  expect(second.port).toBe(first.port);
  expect(await query(second.url, "select number from kept")).toEqual({ number: 7 });
});

test("Postgres starts although the pid in its old pid file now belongs to another process", async () => {
  const first = await startEmbeddedPostgres({ dataDir });
  const left = readFileSync(join(dataDir, "postmaster.pid"), "utf8");
  await first[Symbol.asyncDispose]();
  writeFileSync(
    join(dataDir, "postmaster.pid"),
    left.replace(String(first.pid), String(process.pid)),
  );

  await using second = await startEmbeddedPostgres({ dataDir });

  expect(await query(second.url, "select 1 as one")).toEqual({ one: 1 });
});

test("a second Postgres on the same data folder is refused with one line that names the process of the first Postgres", async () => {
  await using first = await startEmbeddedPostgres({ dataDir });

  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(
    `a Postgres (process ${first.pid}) already runs on ${dataDir}`,
  );
});

test("the error for a taken port names the port and quotes the message of Postgres", async () => {
  await using first = await startEmbeddedPostgres({ dataDir });

  await expect(
    startEmbeddedPostgres({ dataDir: join(folder, "other"), port: first.port }),
  ).rejects.toThrow(new RegExp(`port ${first.port}[\\s\\S]*could not bind`));
});

test.runIf(process.getuid?.() === 0)(
  "the error of a start as root names the folder that the user `nobody` cannot enter",
  async () => {
    chmodSync(folder, 0o700);

    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`cannot enter ${folder}`);
  },
);

test("stopping Postgres frees its port and leaves no process behind", async () => {
  const server = await startEmbeddedPostgres({ dataDir });

  await server[Symbol.asyncDispose]();

  expect(identifyProcess(server.pid)).toBeUndefined();
});

test("Postgres ends when the process that started it is killed", async () => {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(join(import.meta.dirname, "../src/postgres/embedded-postgres.ts"))};
    const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
    process.stdout.write(String(server.pid), () => process.kill(process.pid, "SIGKILL"));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = Number(await new Response(child.stdout).text());

  const gone = await poll(() => (identifyProcess(pid) === undefined ? true : undefined), {
    everyMs: 20,
    timeoutMs: 10_000,
  });

  expect(pid).toBeGreaterThan(0);
  expect(gone).toBe(true);
});
