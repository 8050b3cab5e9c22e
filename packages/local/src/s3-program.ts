import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment } from "#src/config.ts";
import { root } from "#src/layout.ts";

const run = promisify(execFile);

/**
 * Versity's gateway over a folder (Apache 2.0): it checks signatures as AWS does, which the servers that npm or Maven
 * have do not.
 */
const module = "github.com/versity/versitygw/cmd/versitygw";
const version = "v1.7.0";
const folder = join(root, "node_modules/.cache/postrider");
/** From this one on Go fetches by itself the newer Go that a module asks for. */
const lowestMinor = 21;

/** The environment that Go is run with. */
export type GoEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Makes sure that the S3 server is built, once for each checkout; with nothing downloaded yet that takes about two
 * minutes.
 *
 * @returns The path of the program.
 * @throws Error in one line that names what is missing, or Go's own words.
 */
export async function ensureS3Program(env: GoEnvironment = environment): Promise<string> {
  const program = join(folder, `versitygw-${version}`);
  if (!existsSync(program)) {
    await build(await findGo(env), env, program);
  }
  return program;
}

/** Reads the minor version out of what `go version` prints: 26 from `go version go1.26.8 linux/amd64`. */
export function goMinorVersion(text: string): number | undefined {
  const match = /\bgo1\.(\d+)/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

async function findGo(env: GoEnvironment): Promise<string> {
  // Go's own archive installs it here, which PATH need not name.
  const places = [
    "go",
    ...(env.GOROOT ? [join(env.GOROOT, "bin/go")] : []),
    "/usr/local/go/bin/go",
  ];
  const found: string[] = [];
  for (const program of places) {
    const answer = await run(program, ["version"], { env }).catch(() => undefined);
    if ((goMinorVersion(answer?.stdout ?? "") ?? 0) >= lowestMinor) {
      return program;
    }
    found.push(`"${program}" is ${answer?.stdout.trim() ?? "not there"}`);
  }
  throw new Error(
    `The S3 server of the tests needs Go 1.${lowestMinor} or newer to be built: install it (https://go.dev/dl); ${found.join(", ")}`,
  );
}

// Into a folder of its own and renamed at the end, so that two runs at once or a cut build leave no half program.
async function build(go: string, env: GoEnvironment, program: string): Promise<void> {
  const unfinished = `${program}-unfinished-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await run(go, ["install", "-trimpath", "-ldflags=-s -w", `${module}@${version}`], {
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

/** Its last line; those before it only tell what was downloaded. */
function goReason(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  return said.split("\n").at(-1) || String(error);
}
