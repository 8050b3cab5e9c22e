import { notFound } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { matchesAny } from "#src/http/entity-tags.ts";
import { DASHBOARD_PATH } from "#src/routes/api-paths.ts";
import { createPageFiles, namesFile, type PageFile } from "#src/routes/dashboard/page-files.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { PAGE_HEADERS } from "#src/routes/hooks/answer-headers.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

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
