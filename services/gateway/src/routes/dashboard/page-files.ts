import { createHash } from "node:crypto";
import { glob, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";

const INDEX = "index.html";
/** Of the files that the build writes. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};
/** The build writes a compressed copy beside each file, the better one first. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;
/** These have a hash of their content in their name. */
const HASHED = "assets/";

export interface PageFile {
  readonly type: string;
  readonly tag: string;
  /** Whether its name changes with its content. */
  readonly isHashed: boolean;
  readonly content: Buffer;
  readonly compressed: readonly (readonly [encoding: string, content: Buffer])[];
}

type PageFiles = ReadonlyMap<string, PageFile>;

async function readPageFile(folder: string, name: string, names: ReadonlySet<string>) {
  const content = await readFile(join(folder, name));
  const copies = ENCODINGS.filter(([, ending]) => names.has(name + ending));
  return {
    type: TYPES[extname(name)] ?? "application/octet-stream",
    tag: `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`,
    isHashed: name.startsWith(HASHED),
    content,
    compressed: await Promise.all(
      copies.map(
        async ([encoding, ending]) =>
          [encoding, await readFile(join(folder, name + ending))] as const,
      ),
    ),
  };
}

async function readPageFiles(folder: string): Promise<PageFiles> {
  const found = await Array.fromAsync(glob("**/*.*", { cwd: folder }));
  const names = new Set(found);
  const served = found.filter((name) => TYPES[extname(name)] !== undefined);
  return new Map(
    await Promise.all(
      served.map(async (name) => [name, await readPageFile(folder, name, names)] as const),
    ),
  );
}

/** Whether a path has a file extension. Any other one is an address of the page itself. */
export function namesFile(path: string): boolean {
  return /\.[^/]*$/.test(path);
}

/**
 * Returns the file that a path below `/app/` names; undefined for one that the page does not have.
 */
type FindPageFile = (path: string) => Promise<PageFile | undefined>;

/**
 * Serves the files of a build from memory: they have less than a megabyte, and a path of a client
 * is never used as a path of the disk. The build is read when the first page is asked for, and
 * again when it was replaced, so that the start of the gateway does not wait for it. The page finds
 * out what to show at an address of its own.
 */
export function createPageFiles(folder: string): FindPageFile {
  let builtAt: number | undefined;
  let files: Promise<PageFiles> = Promise.resolve(new Map());
  const refresh = async (): Promise<void> => {
    const { mtimeMs } = (await stat(join(folder, INDEX)).catch(() => undefined)) ?? {};
    if (mtimeMs === builtAt) return;
    builtAt = mtimeMs;
    files = mtimeMs === undefined ? Promise.resolve(new Map()) : readPageFiles(folder);
    // A build that is replaced while it is read is read again by the next request.
    files.catch(() => (builtAt = undefined));
  };
  return async (path) => {
    const isFile = namesFile(path);
    if (!isFile || builtAt === undefined) await refresh();
    return (await files).get(isFile ? path : INDEX);
  };
}
