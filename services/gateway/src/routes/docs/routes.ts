import type { FastifyInstance } from "fastify";
import { type Docs, DOCS_PATH, renderDocs, SCRIPT_PATH } from "#src/routes/docs/render.ts";
import { PAGE_HEADERS } from "#src/routes/hooks/security-headers.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

const OPTIONS = { schema: HIDDEN, config: { isOpen: true } };

/**
 * Serves `GET /docs`, the API reference. The page and its script come from this server, so that no other host is
 * contacted.
 */
export function registerDocs(app: FastifyInstance): void {
  let docs: Promise<Docs> | undefined;
  const load = async (): Promise<Docs> => await (docs ??= renderDocs());

  app.get("/docs", OPTIONS, async (_request, reply) => await reply.redirect(DOCS_PATH));
  app.get(DOCS_PATH, OPTIONS, async (_request, reply) => {
    const { page, policy } = await load();
    return await reply
      .header("content-security-policy", policy)
      .headers(PAGE_HEADERS)
      .type("text/html; charset=utf-8")
      .send(page);
  });
  app.get(SCRIPT_PATH, OPTIONS, async (_request, reply) => {
    const { script } = await load();
    // The script of the API documentation page has 4 MB and changes only with a release, so browsers may cache it.
    return await reply
      .header("cache-control", "public, max-age=3600")
      .type("application/javascript; charset=utf-8")
      .send(script);
  });
}
