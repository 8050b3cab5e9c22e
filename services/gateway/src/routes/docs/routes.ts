import type { FastifyInstance } from "fastify";
import { toPageDocument } from "#src/routes/docs/document.ts";
import { PAGE_FILES, type PageFile } from "#src/routes/docs/files.ts";
import { renderPage } from "#src/routes/docs/page.ts";
import { PAGE_HEADERS } from "#src/routes/hooks/security-headers.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

/** Path of the API documentation page. The page loads its files relative to this path. */
const DOCS_PATH = "/docs/";
const OPTIONS = { schema: HIDDEN, config: { openLimit: "documents" as const } };
/**
 * Content security policy of the API documentation page: it runs scripts of this server only, and connects to this
 * server only.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The script of the Scalar package generates inline styles, so the policy allows them.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Serves a file of the API documentation page. The file is read when it is first requested. */
function serveFile(app: FastifyInstance, path: string, read: () => Promise<PageFile>): void {
  let file: Promise<PageFile> | undefined;
  app.get(DOCS_PATH + path, OPTIONS, async (_request, reply) => {
    const { type, cacheControl, content } = await (file ??= read());
    return await reply.header("cache-control", cacheControl).type(type).send(content);
  });
}

/**
 * Serves the document that the API documentation page shows. The document is built once per UTC day, because building it
 * takes many milliseconds and only its dates change.
 */
function serveDocument(app: FastifyInstance): void {
  let built: { readonly day: string; readonly json: string } | undefined;
  app.get(`${DOCS_PATH}document.json`, OPTIONS, async (_request, reply) => {
    const now = new Date();
    const day = now.toISOString().slice(0, 10);
    if (built?.day !== day)
      built = { day, json: JSON.stringify(toPageDocument(app.swagger(), now)) };
    return await reply.type("application/json; charset=utf-8").send(built.json);
  });
}

/**
 * Serves `GET /docs`, the API reference. The page and its files come from this server, so that no other host is
 * contacted.
 */
export function registerDocs(app: FastifyInstance): void {
  const page = renderPage();
  app.get("/docs", OPTIONS, async (_request, reply) => await reply.redirect(DOCS_PATH));
  app.get(
    DOCS_PATH,
    OPTIONS,
    async (_request, reply) =>
      await reply
        .header("content-security-policy", POLICY)
        .headers(PAGE_HEADERS)
        .type("text/html; charset=utf-8")
        .send(page),
  );
  serveDocument(app);
  for (const [path, read] of Object.entries(PAGE_FILES)) serveFile(app, path, read);
}
