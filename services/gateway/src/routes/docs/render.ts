import { createHash } from "node:crypto";
import fastify from "fastify";
import { API_PATH } from "#src/routes/api-paths.ts";

/** Path of the API documentation page. The page loads its script relative to this path. */
export const DOCS_PATH = "/docs/";
export const SCRIPT_PATH = `${DOCS_PATH}js/scalar.js`;

export interface Docs {
  readonly page: string;
  /** Content security policy of the API documentation page. */
  readonly policy: string;
  readonly script: Buffer;
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/**
 * Returns the content security policy of the API documentation page. The page may run the package's script and its own
 * inline scripts, and connect to this host only.
 */
function toPolicy(page: string): string {
  const hashes = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    // The script of the API documentation page generates inline styles, so the policy allows them.
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

/**
 * Renders the API documentation page with the Scalar package and returns the page with its script. The package is
 * imported on first use, because it needs more memory than all of the gateway's own code.
 */
export async function renderDocs(): Promise<Docs> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const app = fastify();
  await app.register(scalar, {
    routePrefix: DOCS_PATH,
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
  const page = (await app.inject(DOCS_PATH)).body;
  const script = (await app.inject(SCRIPT_PATH)).rawPayload;
  await app.close();
  return { page, policy: toPolicy(page), script };
}
