import { readFile } from "node:fs/promises";
import fastify from "fastify";

/** A file that the API documentation page loads. */
export interface PageFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly content: Buffer;
}

const SCALAR_PREFIX = "/scalar/";
const JAVASCRIPT = "text/javascript; charset=utf-8";

async function readOwn(name: string, type: string): Promise<PageFile> {
  const cacheControl = "no-cache";
  return {
    type,
    cacheControl,
    content: await readFile(new URL(`browser/${name}`, import.meta.url)),
  };
}

/**
 * Returns the script of the Scalar package, which shows the API description. The package is imported on first use,
 * because it needs more memory than all of the gateway's own code.
 */
async function readScalar(): Promise<PageFile> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const app = fastify();
  await app.register(scalar, { routePrefix: SCALAR_PREFIX, configuration: { content: {} } });
  const { rawPayload } = await app.inject(`${SCALAR_PREFIX}js/scalar.js`);
  await app.close();
  // The script has 4 MB and changes only with a release, so browsers may keep it.
  return { type: JAVASCRIPT, cacheControl: "public, max-age=3600", content: rawPayload };
}

/**
 * For each file that the API documentation page loads, the function that reads it. Paths are relative to the path of
 * the page.
 */
export const PAGE_FILES: Readonly<Record<string, () => Promise<PageFile>>> = {
  "page.css": () => readOwn("page.css", "text/css; charset=utf-8"),
  "js/page.js": () => readOwn("page.js", JAVASCRIPT),
  "js/scalar.js": readScalar,
};
