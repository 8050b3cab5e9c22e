import type { FastifyInstance, FastifyReply } from "fastify";
import type { ServerDeps } from "#src/routes/dependencies.ts";

const ALLOWED = {
  "access-control-allow-methods": "PUT",
  "access-control-allow-headers": "authorization, content-type, content-digest, x-request-id",
  "access-control-max-age": "600",
};
const EXPOSED = { "access-control-expose-headers": "x-request-id, retry-after" };

function allow(reply: FastifyReply, origin: string, isPreflight: boolean): void {
  reply.header("access-control-allow-origin", origin);
  reply.headers(isPreflight ? ALLOWED : EXPOSED);
}

/**
 * Lets web pages of the configured origins call the routes with `isCrossOrigin` and read their
 * answers, including errors. Cookies are not allowed. For any other origin, the CORS headers are
 * absent and the browser blocks the answer.
 */
export function addCrossOrigin(
  app: FastifyInstance,
  { uploadOrigins }: Pick<ServerDeps, "uploadOrigins">,
): void {
  const origins = new Set(uploadOrigins);
  app.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    if (request.routeOptions.config?.isCrossOrigin === true) {
      reply.header("vary", "Origin");
      if (origin !== undefined && origins.has(origin))
        allow(reply, origin, request.method === "OPTIONS");
    }
    done();
  });
}

/**
 * Value of `Strict-Transport-Security`: one year, without `includeSubDomains`, because other hosts
 * of the domain may belong to other services.
 */
const TRANSPORT_SECURITY = "max-age=31536000";

/** Additional headers of HTML pages: windows of other origins get no access to the pages. */
export const PAGE_HEADERS = { "cross-origin-opener-policy": "same-origin" };

/**
 * Returns the security headers of every answer: an answer must not be framed, sniffed, stored by a
 * cache, or embedded by another site. Browsers are told to use only https if the public URL is
 * https.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  const isSecure = publicUrl.startsWith("https:");
  return {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    // An answer in JSON loads nothing, so the policy allows nothing. HTML pages set a content
    // security policy of their own.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    ...(isSecure ? { "strict-transport-security": TRANSPORT_SECURITY } : {}),
  };
}
