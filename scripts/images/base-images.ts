import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../check/run-command.ts";

/** Of our own base image, and of Postgres, Kafka, the S3 store and Caddy. */
const FILES = ["Dockerfile", "compose*.yaml", "deploy/compose/*.yaml", "deploy/k8s/**/*.yaml"];

/**
 * Matches the reference of an image in a Dockerfile (`ARG …_IMAGE=` and `FROM`), a compose file or
 * a Kubernetes manifest.
 */
const REFERENCE = /^(ARG \w+_IMAGE=|FROM (?:--\S+ )*|\s*(?:- )?image: )(["']?)([^\s"'$]+)/gm;
const DIGEST = /@sha256:[0-9a-f]{64}$/;

export function listImageFiles(): readonly string[] {
  return globSync(FILES, { cwd: root }).filter((file) => existsSync(join(root, file)));
}

export function readImageFile(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** Neither one of our own images nor a stage of a Dockerfile. */
function isForeign(reference: string): boolean {
  return /[:/@]/.test(reference) && !/^(?:postrider\/|&)/.test(reference);
}

/** With tag and, where it is pinned, digest. */
export function findImages(text: string): readonly string[] {
  const references = [...text.matchAll(REFERENCE)].map(([, , , reference = ""]) => reference);
  return [...new Set(references.filter(isForeign))];
}

/** Images that a new push to their tag would replace. */
export function findUnpinned(text: string): readonly string[] {
  return findImages(text).filter((reference) => !DIGEST.test(reference));
}

export function toTag(reference: string): string {
  return reference.replace(DIGEST, "");
}

export function pinImages(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(REFERENCE, (all, before: string, quote: string, reference: string) => {
    const tag = toTag(reference);
    const digest = digests.get(tag);
    return digest === undefined ? all : `${before}${quote}${tag}@${digest}`;
  });
}

type Run = (program: string, args: readonly string[]) => Promise<string>;

const runProgram: Run = async (program, args) => {
  const { stdout } = await promisify(execFile)(program, args);
  return stdout;
};

/** The index covers all platforms. */
const commandsFor = (tag: string) =>
  [
    ["skopeo", ["inspect", "--format", "{{.Digest}}", `docker://${tag}`]],
    ["docker", ["buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", tag]],
  ] as const;

/** Needs skopeo or Docker with buildx, and a network. Throws when no tool returns a digest. */
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
