import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { listen } from "@postrider/shared/testing/listen";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { blocksIn, EXAMPLE_ACCOUNT, runShell } from "./support/observers/guides.ts";
import { publishOn } from "./support/requests/engagement.ts";
import { openTenant, type Tenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Runs the shell examples of docs/api unchanged and in order against the running system. Only ids
 * and addresses in them are replaced by real ones, as the guides tell their readers to do.
 */

const GUIDES = new URL("../docs/api/", import.meta.url);
const OTHER_ACCOUNT = "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1b";
const MEDIA = "01a19c11-2d4e-7f60-9182-a3b4c5d6e7f8";
/**
 * The shell variables in which the guides keep the id of a created resource. The keys are the last
 * segment of the path of the request that creates the resource.
 */
const CREATED: Readonly<Record<string, string>> = {
  posts: "POST_ID",
  "from-url": "MEDIA_ID",
  presign: "MEDIA_ID",
  "queue-slots": "RULE_ID",
  webhooks: "WEBHOOK_ID",
  actions: "ACTION_ID",
  "partner-dm-rules": "RULE_ID",
};

type Variables = Record<string, string>;
type Prepare = (tenant: Tenant) => Promise<Variables>;

const system = await useSharedSystem();
const folder = mkdtempSync(join(tmpdir(), "guides-"));
writeFileSync(join(folder, "shop.jpg"), sampleJpeg());
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "image/jpeg" }).end(sampleJpeg());
});
const outside = await listen(server, system.examplePorts.guides);
afterAll(async () => {
  await outside[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the shell examples of a guide that send requests. */
function examplesIn(name: string): readonly string[] {
  return blocksIn(`api/${name}`, "sh").filter((block) => block.includes("curl "));
}

/**
 * Replaces the ids, addresses and dates of an example by those of the test's workspace and of
 * today.
 */
function adapt(
  example: string,
  { ACCOUNT_ID = "", OTHER_ACCOUNT_ID = "", MEDIA_ID = "" }: Variables,
): string {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  return example
    .replaceAll(EXAMPLE_ACCOUNT, ACCOUNT_ID)
    .replaceAll(OTHER_ACCOUNT, OTHER_ACCOUNT_ID)
    .replaceAll(MEDIA, MEDIA_ID)
    .replaceAll("https://example.com/shop.jpg", `${outside.url}/shop.jpg`)
    .replaceAll("https://example.com/postrider", `${outside.url}/postrider`)
    .replaceAll(/\d{4}-\d{2}-\d{2}(?=T)/g, tomorrow);
}

/** Stores the ids in the answer to an example that later examples of the guide need. */
function learn(example: string, printed: string, variables: Variables): void {
  const [, resource = ""] =
    /curl -X POST \$URL\/api\/v1\/(?:\S*\/)?([a-z-]+)[\s\\]/.exec(example) ?? [];
  const name = CREATED[resource];
  if (name === undefined) return;
  const { id, uploadUrl } = JSON.parse(printed) as { id: string; uploadUrl?: string };
  variables[name] = id;
  if (uploadUrl !== undefined) variables["UPLOAD_URL"] = uploadUrl;
}

/** Prepares what the examples of each guide in docs/api need, in addition to two accounts. */
const PREPARE: Readonly<Record<string, Prepare>> = {
  "media.md": async ({ api }) => {
    const body = { url: `${outside.url}/unused.jpg` };
    const { id } = (await api.call<{ id: string }>("POST", "/media/from-url", { body })).body;
    return { UNUSED_MEDIA_ID: id };
  },
  "outcomes.md": async (tenant) => {
    const { id } = (
      await tenant.api.call<{ id: string }>("POST", "/posts", {
        body: { content: "Draft", accountIds: [await tenant.connect("x")], isDraft: true },
      })
    ).body;
    return { DRAFT_ID: id };
  },
  "comments-and-automations.md": async (tenant) => {
    const media = await publishOn(tenant, "instagram");
    const text = "Are you open? What is the price?";
    const comment = await system.simulator.addComment(media, { text });
    return { ACCOUNT_ID: media.accountId, EXTERNAL_ID: media.id, COMMENT_ID: comment };
  },
};

async function prepare(name: string, tenant: Tenant): Promise<Variables> {
  const [ACCOUNT_ID, OTHER_ACCOUNT_ID] = [
    await tenant.connect("bluesky"),
    await tenant.connect("telegram"),
  ];
  const { baseUrl } = system.local();
  const given = await PREPARE[name]?.(tenant);
  return { URL: baseUrl, KEY: tenant.key, ACCOUNT_ID, OTHER_ACCOUNT_ID, ...given };
}

const guides = readdirSync(GUIDES).filter((name) => examplesIn(name).length > 0);

test("six guides in docs/api have examples that send requests", () => {
  expect(guides.toSorted()).toEqual([
    "comments-and-automations.md",
    "media.md",
    "outcomes.md",
    "quick-start.md",
    "scheduling.md",
    "webhooks.md",
  ]);
});

test.each(guides)("every shell example of docs/api/%s works as it is written", async (name) => {
  const tenant = await openTenant(system);
  const variables = await prepare(name, tenant);
  if (name === "outcomes.md")
    await tenant.addFault(variables["OTHER_ACCOUNT_ID"] ?? "", {
      operation: "publish",
      mode: "refuse",
    });
  for (const example of examplesIn(name)) {
    const printed = await runShell(adapt(example, variables), variables, folder);
    learn(example, printed, variables);
  }
});

/**
 * Runs the webhook receiver of the guide with a signed event from the environment, and prints the
 * status of its answer.
 */
const CALL_RECEIVER = `
const { receive } = await import("./receiver.ts");
const headers = JSON.parse(process.env.HEADERS);
const request = () => new Request("https://example.com", { method: "POST", headers, body: process.env.BODY });
const forged = new Request("https://example.com", { method: "POST", headers, body: "{}" });
console.log((await receive(request())).status, (await receive(forged)).status);`;

test("the example receiver in the webhook guide accepts a signed event and refuses a forged one", async () => {
  const [receiver = "throw new Error('the guide has no receiver')"] = blocksIn(
    "api/webhooks.md",
    "ts",
  );
  mkdirSync(join(folder, "node_modules/@postrider"), { recursive: true });
  const client = join(import.meta.dirname, "../packages/client");
  symlinkSync(client, join(folder, "node_modules/@postrider/client"));
  writeFileSync(join(folder, "receiver.ts"), receiver);
  writeFileSync(join(folder, "call.mjs"), CALL_RECEIVER);
  const secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString("base64")}`;
  const data = { postId: "p1", error: { code: "content_rejected" } };
  const body = JSON.stringify({ id: "e1", type: "target.failed", sequence: 1, data });
  const now = new Date();
  const headers = {
    "webhook-id": "e1",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("e1", now, body),
  };
  const variables = { WEBHOOK_SECRET: secret, HEADERS: JSON.stringify(headers), BODY: body };
  const printed = await runShell(`"${process.execPath}" call.mjs`, variables, folder);
  expect(printed).toBe("p1 content_rejected\n204 401\n");
});
