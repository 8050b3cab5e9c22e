import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../check/run-command.ts";

/**
 * Files that name third-party container images: the base image of our own images, and the images of Postgres, Kafka and
 * the S3 store.
 */
const FILES = ["Dockerfile", "compose.yaml", "deploy/compose/*.yaml", "deploy/k8s/**/*.yaml"];

/** Matches the reference of an image in a Dockerfile (`ARG …_IMAGE=` and `FROM`), a compose file or a Kubernetes manifest. */
const REFERENCE = /^(ARG \w+_IMAGE=|FROM (?:--\S+ )*|\s*(?:- )?image: )(["']?)([^\s"'$]+)/gm;
const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** Lists the paths of the files that name container images, relative to the root of the checkout. */
export function listImageFiles(): readonly string[] {
  return globSync(FILES, { cwd: root }).filter((file) => existsSync(join(root, file)));
}

/** Reads a file of the checkout. */
export function readImageFile(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** Whether a reference is a third-party image: neither one of our own images nor a stage of a Dockerfile. */
function isForeign(reference: string): boolean {
  return /[:/@]/.test(reference) && !reference.startsWith("postrider/");
}

/** Lists the references in a file to third-party images, each with its tag and, where it is pinned, its digest. */
export function findImages(text: string): readonly string[] {
  const references = [...text.matchAll(REFERENCE)].map(([, , , reference = ""]) => reference);
  return [...new Set(references.filter(isForeign))];
}

/**
 * Lists the references in a file to third-party images that are not pinned by digest, so that a new push to their tag
 * replaces them.
 */
export function findUnpinned(text: string): readonly string[] {
  return findImages(text).filter((reference) => !DIGEST.test(reference));
}

/** Returns the reference of an image without its digest. */
export function toTag(reference: string): string {
  return reference.replace(DIGEST, "");
}

/** Returns the text of a file in which each image has the digest that `digests` has for its tag. */
export function pinImages(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(REFERENCE, (all, before: string, quote: string, reference: string) => {
    const tag = toTag(reference);
    const digest = digests.get(tag);
    return digest === undefined ? all : `${before}${quote}${tag}@${digest}`;
  });
}

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
