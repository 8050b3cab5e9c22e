// Every `npm run` command starts here, on a machine that may have nothing but Node 20 and npm: this
// installs the packages and runs the command on the project's Node 24. It is plain JavaScript
// without dependencies because both versions of Node run it: after the first install `npm run`
// finds Node 24 first on the PATH.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const pnpm = "pnpm@10.34.8";
const ownFolder = join(root, "node_modules/.postrider");
const echoMs = 500;

/** @param leads Whether they start processes. */
const ofThisFolder = (names, leads) =>
  Object.fromEntries(
    names.map((name) => [name, { script: `scripts/${name}.ts`, first: [], leads }]),
  );

/**
 * The script of each command. A command with `leads` has its own process group and is stopped by a
 * single SIGTERM. One with `needsTypes` runs the compiler, which needs the types of the client.
 */
const commands = {
  start: { script: "packages/local/src/cli.ts", first: ["start"], leads: true },
  serve: { script: "packages/serve/src/main.ts", first: [], leads: true },
  demo: { script: "packages/local/src/cli.ts", first: ["demo"], leads: true },
  dev: { script: "packages/local/src/cli.ts", first: ["dev"], leads: true },
  test: { script: "scripts/check.ts", first: [], leads: true, needsTypes: true },
  check: { script: "scripts/check.ts", first: [], leads: true, needsTypes: true },
  "test:pds": { script: "scripts/test-pds.ts", first: [], leads: true },
  "test:third-party": { script: "scripts/test-third-party.ts", first: [], leads: true },
  pictures: { script: "e2e/pictures.ts", first: [], leads: true },
  postrider: { script: "packages/cli/src/main.ts", first: [], leads: false },
  ...ofThisFolder(["cells-walk", "cluster", "compose-check", "drill", "fault-matrix"], true),
  ...ofThisFolder(["images", "recovery", "release", "schemathesis"], true),
  ...ofThisFolder(["client-package", "helm", "manifests", "observability"], false),
  ...ofThisFolder(["openapi-changes", "pin-images", "sbom"], false),
};

function fail(message) {
  process.stderr.write(`postrider: ${message}\n`);
  process.exit(1);
}

/**
 * Identifies the packages that must be installed: the lockfile lists them, and the architecture
 * chooses the optional ones.
 */
function wantedStamp() {
  const hash = createHash("sha256").update(`${pnpm} ${process.platform} ${process.arch}\n`);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml"])
    hash.update(readFileSync(join(root, file)));

  return hash.digest("hex");
}

/**
 * Returns whether packages had to be installed. Writes only to stderr, because another program may
 * read the standard output of the command.
 */
function install() {
  const stampFile = join(ownFolder, "installed");
  const wanted = wantedStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted) return false;

  process.stderr.write("postrider: installing packages (the first time takes about a minute) …\n");
  rmSync(stampFile, { force: true });
  const started = Date.now();
  const result = spawnSync(
    "npx",
    ["--yes", pnpm, "install", "--frozen-lockfile", "--reporter=append-only"],
    {
      cwd: root,
      stdio: ["ignore", 2, 2],
      // Without CI pnpm asks before it replaces packages that another HOME installed, and aborts
      // without a terminal.
      env: { ...process.env, CI: "true" },
    },
  );
  if (result.error !== undefined)
    fail(
      `"npx" cannot be run (${result.error.message}): install Node 20 or newer together with npm`,
    );

  if (result.signal !== null)
    fail("the install was interrupted; run the command again to continue");

  if (result.status !== 0)
    fail(`the install failed (see above; npx ${pnpm} ended with code ${result.status})`);

  mkdirSync(ownFolder, { recursive: true });
  writePnpmShim();
  writeFileSync(stampFile, wanted);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stderr.write(`postrider: packages installed in ${seconds} s\n`);
  return true;
}

/**
 * Writes the types of the client, which are generated and not committed. It is done after each
 * installation, so that an editor and a compiler find them, and before each check.
 */
function writeTypes() {
  const script = join(root, "scripts/client-types.ts");
  const { status } = spawnSync(findNode24(), [script, "--types"], {
    stdio: ["ignore", 2, 2],
    env: environment(),
  });
  if (status !== 0) fail("the types of the client could not be generated (see above)");
}

function findNode24() {
  const binary = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  if (existsSync(binary)) return binary;

  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;

  return fail(
    `no Node 24 is packaged for ${process.platform}-${process.arch}: install Node 24 and run this again`,
  );
}

/**
 * turbo needs a `pnpm` on the PATH, and a workspace package of that name would break turbo: hence
 * this shim. The shim prefers pnpm's cache, because turbo hides proxies and certificates from its
 * children, and a request to the registry would hang.
 */
function writePnpmShim() {
  const shim = join(ownFolder, "pnpm");
  writeFileSync(shim, `#!/bin/sh\nexec npx --yes --prefer-offline ${pnpm} "$@"\n`);
  chmodSync(shim, 0o755);
}

function environment() {
  const path = [ownFolder, join(root, "node_modules/.bin"), process.env.PATH ?? ""];
  return {
    // A warm cache halves the start time of each process.
    NODE_COMPILE_CACHE: join(ownFolder, "compile-cache"),
    ...process.env,
    PATH: path.join(delimiter),
    TURBO_TELEMETRY_DISABLED: "1",
  };
}

/**
 * Runs the command and exits with its exit code. A leading command has its own process group, so
 * Ctrl-C reaches only this process. This process then sends one SIGTERM to the group, ignores the
 * repeated signals that npm and turbo send for the same key press, and kills the group on a later
 * signal. If this process is killed, the command notices that the channel between them is closed.
 * Any other command gets every signal that this process gets.
 */
function run({ script, first, leads }, args) {
  const child = spawn(findNode24(), [join(root, script), ...first, ...args], {
    cwd: leads ? root : process.cwd(),
    env: environment(),
    detached: leads,
    stdio: leads ? ["inherit", "inherit", "inherit", "ipc"] : "inherit",
  });
  let stoppingSince;
  const stop = () => {
    if (stoppingSince === undefined) {
      stoppingSince = Date.now();
      child.kill("SIGTERM");
    } else if (Date.now() - stoppingSince > echoMs) killGroup(child.pid);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, leads ? stop : () => child.kill(signal));

  child.on("error", (error) => fail(`${script} cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exit(signal === null ? code : 128 + (constants.signals[signal] ?? 0));
  });
}

function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process group of the command has already ended.
  }
}

const [name = "", ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command === undefined)
  fail(`unknown command "${name}"; there are ${Object.keys(commands).join(", ")}`);

if (install() || command.needsTypes) writeTypes();

run(command, args);
