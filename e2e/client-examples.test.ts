import { execFile, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@postrider/client";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, describe, expect, test } from "vitest";
import { installClient, listRuntimes } from "../scripts/client-package/list-runtimes.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Runs the examples of the client's README unchanged, with the packed and installed client, against
 * the running system.
 */

const README = join(import.meta.dirname, "../packages/client/README.md");
const EXAMPLE = /^## ([^\n]+)\n(?:(?!^## )[^\n]*\n)*?```js\n([\s\S]*?)```/gm;
const PLATFORMS = ["bluesky", "telegram", "x"];
const run = promisify(execFile);

type Runtime = ReturnType<typeof listRuntimes>[number];

const examples = new Map(
  [...readFileSync(README, "utf8").matchAll(EXAMPLE)].map(([, title = "", code = ""]) => [
    title,
    code,
  ]),
);

const folder = installClient();
writeFileSync(join(folder, "picture.jpg"), sampleJpeg());
const system = await useSharedSystem();
const tenant = await openTenant(system);
const accountIds = await Promise.all(PLATFORMS.map((platform) => tenant.connect(platform)));
const client = createClient({ baseUrl: system.local().baseUrl, apiKey: tenant.key });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeExample(title: string): string {
  const file = join(folder, `${title.replaceAll(/\W+/g, "-").toLowerCase()}.mjs`);
  writeFileSync(file, examples.get(title) ?? "throw new Error('the README lacks this example')");
  return file;
}

function environment(): NodeJS.ProcessEnv {
  return { POSTRIDER_URL: system.local().baseUrl, POSTRIDER_API_KEY: tenant.key };
}

/** Runs an example to its end and returns the lines that it prints. */
async function runExample({ path, args }: Runtime, title: string): Promise<readonly string[]> {
  const options = { cwd: folder, env: environment(), timeout: 60_000 };
  const { stdout } = await run(path, [...args, writeExample(title)], options);
  return stdout.trimEnd().split("\n");
}

test("the README of the client has five examples", () => {
  expect([...examples.keys()]).toEqual([
    "Publish, and see what happened on each account",
    "Upload a picture, and schedule a post with it",
    "Retry what failed",
    "Handle errors",
    "Receive webhooks",
  ]);
});

describe.each(listRuntimes())("in the runtime $name:", (runtime) => {
  test("the publishing example of the client's README prints the permalink of the post on each account", async () => {
    const lines = await runExample(runtime, "Publish, and see what happened on each account");
    expect(lines.toSorted()).toEqual(
      PLATFORMS.map((platform) => expect.stringMatching(`^${platform} published https://`)),
    );
  });

  test("the upload example of the client's README prints the progress and schedules the post for tomorrow", async () => {
    const lines = await runExample(runtime, "Upload a picture, and schedule a post with it");
    const total = sampleJpeg().length;
    expect(lines.slice(-2)).toEqual([
      `${total} of ${total} bytes`,
      expect.stringMatching(/^scheduled \d{4}-/),
    ]);
    const { posts } = await client.listPosts({ status: "scheduled" });
    expect(posts[0]?.mediaIds).toHaveLength(1);
  });

  test("the retry example of the client's README publishes the failed target of a partly published post", async () => {
    await tenant.addFault(accountIds[2] ?? "", { operation: "publish", mode: "refuse" });
    const { id } = await client.createPost({
      content: `Partly ${crypto.randomUUID()}`,
      accountIds,
    });
    expect((await client.waitForPost(id)).status).toBe("partial");
    expect(await runExample(runtime, "Retry what failed")).toEqual([`${id} published`]);
  });

  test("the error example of the client's README prints the limit of each platform that refuses the post", async () => {
    expect((await runExample(runtime, "Handle errors")).toSorted()).toEqual([
      "bluesky content_too_long 300 1000",
      "x content_too_long 280 1000",
    ]);
  });

  test("the webhook example of the client's README accepts events signed with either signature scheme, and refuses all others", async () => {
    const url = `http://127.0.0.1:${system.webhookPorts.client}/`;
    const hmac = await client.createWebhook({ url, events: ["target.published"] });
    const ed25519 = await client.createWebhook({
      url,
      events: ["post.deleted"],
      signing: "ed25519",
    });
    const env = {
      ...environment(),
      PORT: String(system.webhookPorts.client),
      WEBHOOK_SECRETS: `${hmac.secret} ${ed25519.publicKey}`,
    };
    const command = [...runtime.args, writeExample("Receive webhooks")];
    const receiver = spawn(runtime.path, command, { cwd: folder, env });
    let printed = "";
    receiver.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    try {
      await eventually(async () => (await fetch(url, { method: "POST" })).status === 401);
      const { id } = await client.createPost({
        content: `Heard ${crypto.randomUUID()}`,
        accountIds: accountIds.slice(0, 1),
      });
      const { targets } = await client.waitForPost(id);
      const draft = await client.createPost({ content: "Draft", accountIds, isDraft: true });
      await client.deletePost(draft.id);
      await eventually(() => {
        expect(printed).toContain(`target.published ${targets[0]?.permalink}\n`);
        expect(printed).toContain("post.deleted ");
        return Promise.resolve();
      });
    } finally {
      receiver.kill();
      for await (const { id } of client.iterateWebhooks()) await client.revokeWebhook(id);
    }
  });
});
