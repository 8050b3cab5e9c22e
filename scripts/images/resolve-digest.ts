import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs a program and returns what it writes to standard output. */
type Run = (program: string, args: readonly string[]) => Promise<string>;

const runProgram: Run = async (program, args) => {
  const { stdout } = await promisify(execFile)(program, args);
  return stdout;
};

/** Commands that ask the registry of an image for the digest of its index, which covers all platforms. */
const commandsFor = (tag: string) =>
  [
    ["skopeo", ["inspect", "--format", "{{.Digest}}", `docker://${tag}`]],
    ["docker", ["buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", tag]],
  ] as const;

/**
 * Returns the digest that an image's tag has in its registry now, such as `sha256:…`. It needs skopeo, or Docker with buildx,
 * and a network.
 *
 * @throws Error when no tool returns a digest.
 */
export async function resolveDigest(tag: string, run: Run = runProgram): Promise<string> {
  const faults: string[] = [];
  for (const [program, args] of commandsFor(tag))
    try {
      const digest = (await run(program, args)).trim();
      if (/^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
      faults.push(`${program}: ${digest} is not a digest`);
    } catch (error) {
      faults.push(`${program}: ${error instanceof Error ? error.message.trim() : String(error)}`);
    }

  throw new Error(
    `the digest of ${tag} is not known; install skopeo or docker with buildx, and check the network\n${faults.join("\n")}`,
  );
}
