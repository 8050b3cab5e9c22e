import { createServer, type Server } from "node:http";
import { sampleJpeg } from "@postrider/local/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./support/browser.ts";
import { justAfterNow, publishOn } from "./support/engagement.ts";
import { upload } from "./support/media.ts";
import { joinSharedSystem } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

/** Uses the documentation page as a reader does, in a browser, and sends every example of a request. */

const CREATE = "tag/posts/POST/api/v1/posts";

let system: Awaited<ReturnType<typeof joinSharedSystem>>;
let browser: Browser;
let fileServer: Server;
let outside: string;

beforeAll(async () => {
  [system, browser] = await Promise.all([joinSharedSystem(), launchBrowser()]);
  fileServer = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "image/jpeg" }).end(sampleJpeg());
  });
  const port = system.examplePorts.docsPage;
  await new Promise<void>((resolve) => {
    fileServer.listen(port, "127.0.0.1", resolve);
  });
  outside = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await browser.close();
  fileServer.close();
  await system[Symbol.asyncDispose]();
});

/** Opens the documentation of the creation of posts, and collects what the browser complains of. */
async function openDocs(host: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  const complaints: string[] = [];
  const { port } = new URL(system.local().baseUrl);
  const origin = `http://${host}:${port}`;
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      console.error(`policy violation: ${violatedDirective} ${blockedURI}`);
    });
  });
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

/** Gives the page the key with the keyboard only, as the first thing on the page. */
async function typeKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").and(page.locator(":enabled")).focus();
  await page.keyboard.type(key);
  await page.keyboard.press("Enter");
  await page.getByText("The examples have your key and ids.").waitFor();
}

/** Sends one of the examples in the client of the page and returns the status and the body of the answer. */
async function send(page: Page, example: string): Promise<{ status: number; body: string }> {
  const section = page.locator(`section[id$="${CREATE}"]`);
  await section.getByTestId("example-picker").click();
  await page.getByRole("option", { name: example, exact: true }).click();
  await section.getByRole("button", { name: "Test Request" }).click();
  const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
  await page.getByRole("button", { name: /^Send/ }).first().click();
  const answer = await answered;
  await page.getByRole("dialog").getByText(`${answer.status()} Accepted`).waitFor();
  const body = await answer.text();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  return { status: answer.status(), body };
}

test.each(["localhost", "127.0.0.1"])(
  "the docs page at %s publishes a post with the reader's key, and violates no policy",
  async (host) => {
    const tenant = await openTenant(system);
    await tenant.connect("telegram");
    await tenant.connect("bluesky");
    const { page, complaints } = await openDocs(host);
    await typeKey(page, tenant.key);
    const { status, body } = await send(page, "Publish now on two accounts");
    expect(status, body).toBe(202);
    await eventually(async () => {
      expect(await tenant.countVisible("We are open on Sunday.")).toBe(2);
    });
    expect(complaints).toEqual([]);
    const kept = await page.evaluate(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])",
    );
    expect(kept).not.toContain(tenant.key);
    await page.close();
  },
);
