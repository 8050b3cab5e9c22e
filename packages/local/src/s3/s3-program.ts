import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment } from "#src/config.ts";
import { root } from "#src/stack/layout.ts";

const run = promisify(execFile);

/**
 * Versity's S3 gateway over a folder (Apache 2.0), for tests: it checks signatures as AWS does,
 * which the S3 servers on npm and Maven do not.
 */
const module = "github.com/versity/versitygw/cmd/versitygw";
const version = "v1.7.0";
const folder = join(root, "node_modules/.cache/postrider");
/** Lowest Go 1.x that downloads by itself the newer Go version that a module requires. */
const lowestMinor = 21;

export type GoEnvironment = Readonly<Record<string, string | undefined>>;

const BUILD_FLAGS = ["-trimpath", "-ldflags=-s -w"];
/**
 * Without debug data and optimizations the build takes 79 instead of 108 s of CPU time. Benchmarks
 * need the optimized server.
 */
const CI_FLAGS = ["-gcflags=all=-N -l -dwarf=false"];

/**
 * The flags of all Go builds. Programs that are built with the same flags share what Go has
 * compiled of its own library.
 */
export function goBuildFlags(env: GoEnvironment): readonly string[] {
  return env.CI === "true" ? [...BUILD_FLAGS, ...CI_FLAGS] : BUILD_FLAGS;
}

/**
 * Once a checkout; the first build takes about two minutes. Throws in one line that names the
 * missing program, or quotes Go's own message.
 */
export async function ensureS3Program(env: GoEnvironment = environment): Promise<string> {
  const program = join(folder, `versitygw-${version}`);
  if (!existsSync(program)) await build(await findGo(env), env, program);

  return program;
}

/**
 * Parses the minor version in the output of `go version`: 26 from
 * `go version go1.26.8 linux/amd64`.
 */
export function goMinorVersion(text: string): number | undefined {
  const match = /\bgo1\.(\d+)/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

async function findGo(env: GoEnvironment): Promise<string> {
  // Go's installation archive puts Go into this folder, which may be missing on PATH.
  const places = [
    "go",
    ...(env.GOROOT ? [join(env.GOROOT, "bin/go")] : []),
    "/usr/local/go/bin/go",
  ];
  const found: string[] = [];
  for (const program of places) {
    const answer = await run(program, ["version"], { env }).catch(() => undefined);
    if ((goMinorVersion(answer?.stdout ?? "") ?? 0) >= lowestMinor) return program;

    found.push(`"${program}" is ${answer?.stdout.trim() ?? "not there"}`);
  }
  throw new Error(
    `The S3 server of the tests needs Go 1.${lowestMinor} or newer to be built: install it (https://go.dev/dl); ${found.join(", ")}`,
  );
}

// Builds the S3 server in a temporary folder and renames the program at the end, so that concurrent
// or interrupted builds leave no incomplete program.
async function build(go: string, env: GoEnvironment, program: string): Promise<void> {
  const unfinished = `${program}-unfinished-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await run(go, ["install", ...goBuildFlags(env), `${module}@${version}`], {
      env: { ...env, GOBIN: unfinished },
      maxBuffer: 16_000_000,
    });
    renameSync(join(unfinished, "versitygw"), program);
  } catch (error) {
    throw new Error(`Go could not build the S3 server: ${goReason(error)}`, { cause: error });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** The earlier lines only name downloads. */
function goReason(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  return said.split("\n").at(-1) || String(error);
}
