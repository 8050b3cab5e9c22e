import { createHash } from "node:crypto";
import { glob, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { notFound } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { matchesAny } from "#src/http/entity-tags.ts";
import { DASHBOARD_PATH } from "#src/routes/api-paths.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { PAGE_HEADERS } from "#src/routes/hooks/answer-headers.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

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

interface PageFile {
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
function namesFile(path: string): boolean {
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
function createPageFiles(folder: string): FindPageFile {
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

const HTML = "text/html; charset=utf-8";
/** A year. A changed file has another name. */
const FOREVER = "public, max-age=31536000, immutable";
const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Postrider</title>
<p>The dashboard is not built. <code>npm start</code> builds it, and so does the image of the gateway.</p>
</html>
`;

/**
 * The page runs scripts of this server only. It sends files to the object store if that takes
 * uploads from browsers, and shows files of the person's computer (`blob:`).
 */
function policyOf(uploadOrigins: readonly string[]): string {
  const own = ["'self'", ...uploadOrigins].join(" ");
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${own} blob:`,
    "media-src 'self' blob:",
    `connect-src ${own}`,
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Undefined for a client that takes no encoding of which there is a copy. */
function findCopy({ compressed }: PageFile, acceptEncoding: string | undefined) {
  const accepted = (acceptEncoding ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => !/;\s*q=0(?:\.0*)?$/.test(each))
    .map((each) => each.split(";", 1)[0]);
  return compressed.find(([encoding]) => accepted.includes(encoding));
}

/** Every file but one with a hash in its name is asked for again, and is then mostly unchanged. */
function sendFile(request: FastifyRequest, reply: FastifyReply, file: PageFile): FastifyReply {
  const { headers } = request;
  reply.headers({
    "cache-control": file.isHashed ? FOREVER : "no-cache",
    etag: `W/${file.tag}`,
    vary: "Accept-Encoding",
  });
  if (matchesAny(headers["if-none-match"], file.tag)) return reply.status(304).send();
  const copy = findCopy(file, headers["accept-encoding"]);
  if (copy !== undefined) reply.header("content-encoding", copy[0]);
  return reply.type(file.type).send(copy?.[1] ?? file.content);
}

/**
 * The page of the dashboard and its files. No address of it contains a secret that is sent here.
 */
export function registerDashboardPage(
  app: FastifyInstance,
  {
    dashboardFolder,
    dashboardUploadOrigins,
  }: Pick<ServerDeps, "dashboardFolder" | "dashboardUploadOrigins">,
): void {
  if (dashboardFolder === undefined) return;
  const find = createPageFiles(dashboardFolder);
  const page = { "content-security-policy": policyOf(dashboardUploadOrigins), ...PAGE_HEADERS };
  const options = { schema: HIDDEN, config: { openLimit: "dashboard" as const } };
  const send = async (path: string, request: FastifyRequest, reply: FastifyReply) => {
    const file = await find(path);
    if (file === undefined && namesFile(path)) throw notFound();
    if (file === undefined || file.type === HTML) reply.headers(page);
    return file === undefined
      ? reply.status(404).type(HTML).send(NOT_BUILT)
      : sendFile(request, reply, file);
  };
  app.get(DASHBOARD_PATH, options, async (request, reply) => await send("", request, reply));
  app.get<{ Params: { "*": string } }>(`${DASHBOARD_PATH}/*`, options, async (request, reply) => {
    const path = request.params["*"];
    // What the dashboard asks for is never a page.
    if (path === "api" || path.startsWith("api/")) throw notFound();
    return await send(path, request, reply);
  });
}
