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
 * Lets web pages of the configured origins call the routes with `isCrossOrigin` and read their answers, including
 * errors. Cookies are not allowed. For any other origin, the CORS headers are absent and the browser blocks the answer.
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
