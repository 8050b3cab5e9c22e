import { readFile } from "node:fs/promises";
import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import fastify, { type FastifyInstance } from "fastify";
import { BACKFILL_EXAMPLE } from "#src/routes/automations/backfill-schemas.ts";
import { EXAMPLE_IDS } from "#src/routes/description/examples/example.ts";
import { toPageDocument } from "#src/routes/docs/document.ts";
import { PAGE_HEADERS } from "#src/routes/hooks/answer-headers.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

const { "comment_action.completed": action } = EXAMPLE_DATA;

/** An example value in the API documentation that readers can replace by one of their own. */
interface Replaceable {
  readonly label: string;
  /** The value that the examples contain, such as the id of the example post. */
  readonly value: string;
  /**
   * For the ids of a list's items: the path of the list, and the field of its answer that holds the
   * items. The form offers the newest item's id as replacement.
   */
  readonly list?: readonly [path: string, field: string];
}

const RULES = "automations/partner-dm-rules";
const BACKFILLS = "automations/partner-dm-backfills";

const REPLACEABLE: readonly Replaceable[] = [
  { label: "Post", value: EXAMPLE_IDS.post, list: ["posts?limit=1", "posts"] },
  { label: "Media", value: EXAMPLE_IDS.media },
  { label: "Address of a file to import", value: "https://example.com/shop.jpg" },
  { label: "Queue slot rule", value: EXAMPLE_IDS.queueSlotRule, list: ["queue-slots", "rules"] },
  { label: "Webhook", value: EXAMPLE_IDS.webhook, list: ["webhooks?limit=1", "webhooks"] },
  { label: "Address that receives webhooks", value: "https://example.com/postrider" },
  { label: "Webhook delivery", value: EXAMPLE_IDS.delivery },
  { label: "Platform's id of a media", value: action.mediaId },
  { label: "Platform's id of a comment", value: action.commentId },
  { label: "Action on a comment", value: action.id },
  { label: "Automation rule", value: EXAMPLE_IDS.rule, list: [`${RULES}?limit=1`, "rules"] },
  {
    label: "Backfill job",
    value: BACKFILL_EXAMPLE.id,
    list: [`${BACKFILLS}?limit=1`, "backfills"],
  },
];

function field({ label, value, list }: Replaceable): string {
  const source = list === undefined ? "" : ` data-path="${list[0]}" data-field="${list[1]}"`;
  return `<label>${label} <input data-example="${value}"${source} autocomplete="off" spellcheck="false" /></label>`;
}

function choice(label: string, value: string): string {
  return `<label>${label} <select data-example="${value}"></select></label>`;
}

/** A form for the key and the ids in the examples, above the reference. */
function renderPage(): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Postrider API</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="page.css" />
    <script src="js/page.js" defer></script>
    <script src="js/scalar.js" defer></script>
  </head>
  <body>
    <form id="values" aria-label="Values of the examples">
      <label>API key <input type="password" autocomplete="off" placeholder="pr_live_…" required disabled /></label>
      <button disabled>Use this key</button>
      <output role="status">With your key, every example can be sent as it stands.</output>
      <fieldset hidden>
        <legend>In the examples</legend>
        ${choice("Account", EXAMPLE_IDS.account)}
        ${choice("Second account", EXAMPLE_IDS.otherAccount)}
        <details>
          <summary>More ids</summary>
          ${REPLACEABLE.map(field).join("\n          ")}
        </details>
      </fieldset>
    </form>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The API description is at /api/v1/openapi.json.</noscript>
  </body>
</html>
`;
}

/** A file that the API documentation page loads. */
interface PageFile {
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
 * Returns the script of the Scalar package, which shows the API description. The package is
 * imported on first use, because it needs more memory than all of the gateway's own code.
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
 * For each file that the API documentation page loads, the function that reads it. Paths are
 * relative to the path of the page.
 */
const PAGE_FILES: Readonly<Record<string, () => Promise<PageFile>>> = {
  "page.css": () => readOwn("page.css", "text/css; charset=utf-8"),
  "js/page.js": () => readOwn("page.js", JAVASCRIPT),
  "js/scalar.js": readScalar,
};

const DOCS_PATH = "/docs/";
const OPTIONS = { schema: HIDDEN, config: { openLimit: "documents" as const } };
/** The page runs scripts of this server only, and connects to this server only. */
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

function serveFile(app: FastifyInstance, path: string, read: () => Promise<PageFile>): void {
  let file: Promise<PageFile> | undefined;
  app.get(DOCS_PATH + path, OPTIONS, async (_request, reply) => {
    const { type, cacheControl, content } = await (file ??= read());
    return await reply.header("cache-control", cacheControl).type(type).send(content);
  });
}

/**
 * Serves the document that the API documentation page shows. The document is built once per UTC
 * day, because building it takes many milliseconds and only its dates change.
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

/** The page and its files come from this server, so that no other host is contacted. */
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
