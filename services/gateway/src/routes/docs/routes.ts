import { createHash } from "node:crypto";
import scalar from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";
import { API_PATH } from "#src/routes/hooks/open-paths.ts";

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The page runs the package's script and its own few lines, and talks to this host only. */
function toPolicy(html: string): string {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    // Styles are made by the script.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** `GET /docs` shows the API description with a package of our own server: nothing comes from elsewhere. */
export async function registerDocs(app: FastifyInstance): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onRequest", (request, _reply, done) => {
      // The package makes an address of this header and fails when it is none; the address never leaves.
      request.raw.headers.host = "localhost";
      done();
    });
    docs.addHook("onSend", (_request, reply, payload, done) => {
      const type = String(reply.getHeader("content-type"));
      if (typeof payload === "string" && type.startsWith("text/html"))
        reply.header("content-security-policy", toPolicy(payload));
      // Four megabytes that change with a release only.
      if (type.startsWith("application/javascript"))
        reply.header("cache-control", "public, max-age=3600");
      done();
    });
    await docs.register(scalar, {
      routePrefix: "/docs",
      configuration: {
        url: `${API_PATH}/openapi.json`,
        pageTitle: "Postrider API",
        withDefaultFonts: false,
        hideClientButton: true,
        telemetry: false,
        proxyUrl: "",
        agent: { disabled: true },
        mcp: { disabled: true },
        showDeveloperTools: "never",
      },
    });
  });
}
