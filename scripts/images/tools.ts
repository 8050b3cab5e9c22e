import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** How a program is run. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const SHOWN_LINES = 30;

/**
 * Runs a program to its end.
 *
 * @returns What it wrote to its standard output.
 * @throws Error with the end of what it said, when it fails or cannot be run.
 */
export async function execute(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  try {
    const settings = { ...options, maxBuffer: MAX_OUTPUT_BYTES };
    const { stdout } = await promisify(execFile)(program, args, settings);
    return stdout;
  } catch (error) {
    options.signal?.throwIfAborted();
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-SHOWN_LINES).join("\n");
    const command = [program, ...args].join(" ").slice(0, 200);
    throw new Error(`${command} … failed:\n${said === "" ? String(error) : said}`, {
      cause: error,
    });
  }
}

/** The Debian package of each program that the check of the images needs. */
const PACKAGES = {
  mmdebstrap: "mmdebstrap",
  buildah: "buildah",
  podman: "podman",
  runc: "runc",
  catatonit: "catatonit",
  java: "openjdk-17-jre-headless",
  mvn: "maven",
} as const;

function isInstalled(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** What is missing on this machine for building and running images, in words; empty = nothing. */
export function missingTools(path: string, uid: number | undefined): readonly string[] {
  const missing = Object.entries(PACKAGES).filter(([program]) => !isInstalled(program, path));
  const packages = missing.map(([, name]) => name).join(" ");
  return [
    ...(uid === 0 ? [] : ["only root can build and run images without a daemon"]),
    ...(["kubectl", "kustomize"].some((program) => isInstalled(program, path))
      ? []
      : ["kubectl or kustomize, which renders what is played"]),
    ...(packages === "" ? [] : [`apt-get install --no-install-recommends ${packages}`]),
  ];
}
