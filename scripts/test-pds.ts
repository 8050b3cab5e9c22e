import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runInForeground, stopCommands } from "./check/run-command.ts";

const FOLDER = join(root, "e2e/real-pds");
const PNPM = "pnpm@10.34.8";
/** File with the hash of the installed lockfile; deleting `node_modules` deletes the file too. */
const STAMP = join(FOLDER, "node_modules/.installed");

function wantedStamp(): string {
  const lockfile = readFileSync(join(FOLDER, "pnpm-lock.yaml"));
  return createHash("sha256").update(lockfile).digest("hex");
}

/** Installs Bluesky's own server (PDS), unless the packages of this lockfile are installed already. */
async function install(): Promise<boolean> {
  const wanted = wantedStamp();
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return true;
  const args = ["--yes", PNPM, "--dir", FOLDER, "install", "--frozen-lockfile"];
  const startedAt = performance.now();
  const isInstalled = await runInForeground("npx", [...args, "--reporter=append-only"], {
    CI: "true",
  });
  if (!isInstalled) return false;
  writeFileSync(STAMP, wanted);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`Bluesky's server was installed in ${seconds} s\n`);
  return true;
}

/** Installs Bluesky's own server and runs the tests of the Bluesky connectors against it. */
async function main(): Promise<void> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const ok =
    (await install()) &&
    (await runInForeground(process.execPath, [vitest, "run", "--project", "pds"], {}));
  process.exitCode = ok ? 0 : 1;
}

process.once("SIGTERM", stopCommands);
process.once("SIGINT", stopCommands);
process.once("disconnect", stopCommands);

await main();
if (process.connected) process.disconnect();
