import { createServer } from "node:http";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import { publishOn } from "./support/requests/engagement.ts";
import { upload } from "./support/requests/media.ts";
import { openTenant, type Tenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Uses the documentation page as a reader does, in a browser, and sends every example of a request.
 */

const PICTURE = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const CREATE = "tag/posts/POST/api/v1/posts";
/**
 * Examples of `POST /posts` that the tests send in a browser, because the page fills ids into them
 * in different ways: into a list of accounts, into the names of options, and into a list of media.
 */
const IN_BROWSER = { now: "now", override: "override", media: "media" };

/** Browser script that logs violations of the page's content security policy to the console. */
const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (violation) =>
  console.error("policy violation:", violation.violatedDirective, violation.blockedURI));`;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly example?: string;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, Example>> }>
    >;
  };
}
interface Example {
  readonly summary: string;
  readonly value: object;
}
interface PageDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "image/jpeg" }).end(sampleJpeg());
});
const { url: outside, ...fileServer } = await listen(server, system.examplePorts.docsPage);
afterAll(async () => {
  await browser.close();
  await fileServer[Symbol.asyncDispose]();
});

/** Returns the API description that the docs page shows. */
async function readDocument(): Promise<PageDocument> {
  const answer = await fetch(`${system.local().baseUrl}/docs/document.json`);
  return (await answer.json()) as PageDocument;
}

/** Returns the name under which the docs page shows an example of `POST /posts`. */
async function readSummary(name: string): Promise<string> {
  const { requestBody } = (await readDocument()).paths["/api/v1/posts"]?.["post"] ?? {};
  return requestBody?.content["application/json"]?.examples?.[name]?.summary ?? name;
}

/** Opens the documentation of `POST /posts`, and collects the errors that the browser reports. */
async function openDocs(): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  const complaints: string[] = [];
  const { origin } = new URL(system.local().baseUrl);
  await page.addInitScript({ content: REPORT_VIOLATIONS });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) complaints.push(url);
  });
  await page.goto(`${origin}/docs#${CREATE}`);
  return { page, complaints };
}

/** Enters the API key on the docs page with the keyboard only. */
async function typeKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key", { exact: true }).and(page.locator(":enabled")).focus();
  await page.keyboard.type(key);
  await page.keyboard.press("Enter");
  await page.getByText("The examples have your key and ids.").waitFor();
}

/**
 * Sends one of the examples in the API client of the docs page, and returns the status and body of
 * the answer.
 */
async function send(page: Page, example: string): Promise<{ status: number; body: string }> {
  const section = page.locator(`section[id$="${CREATE}"]`);
  await section.getByTestId("example-picker").click();
  await page.getByRole("listbox").getByRole("option", { name: example, exact: true }).click();
  await section.getByRole("button", { name: "Test Request" }).click();
  const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
  await page.getByRole("button", { name: /^Send/ }).first().click();
  const answer = await answered;
  await page.getByRole("dialog").getByText(String(answer.status())).first().waitFor();
  const body = await answer.text();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  return { status: answer.status(), body };
}

/**
 * Creates a workspace with two accounts that accept texts and pictures. The docs page shows the
 * newer one first.
 */
async function openReader(): Promise<Tenant> {
  const tenant = await openTenant(system);
  await tenant.connect("telegram");
  await tenant.connect("bluesky");
  return tenant;
}

// The page takes ten seconds of processor time to load, so one reader does everything.
test("the docs page reports an invalid API key, sends the examples of POST /posts unchanged with a valid one, links error codes to the list of codes, and violates no content security policy", async () => {
  const tenant = await openReader();
  const { id } = await upload(tenant.api, PICTURE);
  const { page, complaints } = await openDocs();
  await page.getByLabel("API key", { exact: true }).fill("pr_live_wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("No valid API key was sent.").waitFor();
  await page.getByLabel("API key", { exact: true }).fill("");

  await typeKey(page, tenant.key);
  await page.getByText("More ids").click();
  await page.getByLabel("Media", { exact: true }).fill(id);
  await page.keyboard.press("Tab");
  for (const name of Object.values(IN_BROWSER)) {
    const { status, body } = await send(page, await readSummary(name));
    expect(status, `${name}: ${body}`).toBe(202);
  }
  await eventually(async () => {
    expect(await tenant.countVisible("We are open on Sunday.")).toBe(2);
  });
  const kept = await page.evaluate(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])",
  );
  expect(kept).not.toContain(tenant.key);

  const section = page.locator(`section[id$="${CREATE}"]`);
  await section.getByRole("link", { name: "unsupported_media_type" }).click();
  await page.waitForURL(/#description\/codes-of-errors$/);
  await page.getByRole("heading", { name: "Codes of errors" }).waitFor();
  // Chromium complains about the refused key, and would complain about each violation of the
  // content security policy.
  expect(complaints).toEqual([expect.stringContaining("401")]);
  await page.close();
});

/** Creates a resource through the API and returns its id. */
async function make({ api }: Tenant, path: string, body: object): Promise<string> {
  const answer = await api.call<{ id: string }>("POST", path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body.id;
}

/**
 * What a reader must fill into the examples of an operation: path parameters and fields of the
 * body.
 */
interface Filled {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, string | readonly string[]>>;
}
type Fill = () => Promise<Filled>;

/**
 * Creates the resources that the examples name, on a post with more comments than fit on one page
 * of a backfill job.
 */
async function fillIds(tenant: Tenant): Promise<Readonly<Record<string, Fill>>> {
  const media = await publishOn(tenant, "instagram");
  const { accountId, id: mediaId } = media;
  const comments = Array.from({ length: 51 }, (_, index) => ({ text: `Which price? ${index}` }));
  const [commentId = ""] = await Promise.all(
    comments.map((each) => system.simulator.addComment(media, each)),
  );
  const rule = { accountId, name: "Prices", keywords: ["price"], message: "See the list." };
  const slots = { name: "Mondays", weekdays: ["mon"], times: ["09:30"], timezone: "Asia/Seoul" };
  const accountIds = [await tenant.connect("bluesky")];
  const x = await tenant.connect("x");
  const newRule = () => make(tenant, "/automations/partner-dm-rules", rule);
  const newJob = async () =>
    await make(tenant, "/automations/partner-dm-backfills", { ruleId: await newRule(), mediaId });
  const inPath = (makeId: () => Promise<string>) => async () => ({ path: { id: await makeId() } });
  await make(tenant, "/queue-slots", { ...slots, name: "Every Monday" });
  const draft = inPath(() => make(tenant, "/posts", { content: "A", accountIds, isDraft: true }));
  return {
    createPost: async () => ({ body: { accountIds } }),
    updatePost: draft,
    publishPost: draft,
    updateMedia: inPath(async () => (await upload(tenant.api, PICTURE)).id),
    updateQueueSlotRule: inPath(() => make(tenant, "/queue-slots", slots)),
    updateWebhook: inPath(() => make(tenant, "/webhooks", { url: outside, events: ["*"] })),
    createWebhook: async () => ({ body: { url: outside } }),
    importMedia: async () => ({ body: { url: outside } }),
    createAutomationRule: async () => ({ body: { accountId } }),
    updateAutomationRule: inPath(newRule),
    createBackfill: async () => ({ body: { ruleId: await newRule(), mediaId } }),
    updateBackfill: inPath(newJob),
    requestCommentAction: async () => ({ path: { id: accountId, mediaId, commentId } }),
    updateAccountSettings: async () => ({ path: { id: x } }),
    presignUpload: async () => ({}),
    createQueueSlotRule: async () => ({}),
  };
}

test("every example of a request on the docs page is accepted when its ids are filled in", async () => {
  const tenant = await openTenant(system);
  const fill = await fillIds(tenant);
  const { paths } = await readDocument();
  const refused: string[] = [];
  const sent = new Set<string>();
  for (const [template, operations] of Object.entries(paths))
    for (const [method, { operationId, requestBody }] of Object.entries(operations))
      for (const [name, { value }] of Object.entries(
        requestBody?.content["application/json"]?.examples ?? {},
      )) {
        // The test above sends the examples of `createPost` in `IN_BROWSER`. The examples of
        // `validatePost` are the same as those of `createPost`.
        if (operationId === "validatePost") continue;
        if (operationId === "createPost" && name in IN_BROWSER) continue;
        const filled = (await fill[operationId]?.()) ?? {};
        const path = template
          .replace("/api/v1", "")
          .replaceAll(/\{(\w+)\}/g, (_, each: string) => filled.path?.[each] ?? "");
        const body = { ...value, ...filled.body };
        const answer = await tenant.api.call(method.toUpperCase(), path, { body });
        if (answer.status >= 300)
          refused.push(`${operationId} ${name}: ${JSON.stringify(answer.body)}`);
        sent.add(operationId);
      }
  expect(refused).toEqual([]);
  expect([...sent].toSorted()).toEqual(Object.keys(fill).toSorted());
});
