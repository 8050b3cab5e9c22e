/**
 * Takes the pictures of the dashboard that `docs/dashboard.md` and the README show, and writes them
 * into `docs/pictures/`: `npm run pictures`. It starts a system of its own with simulated
 * platforms, and fills its workspace with posts, files, comments and rules.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@postrider/client";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { operate } from "@postrider/local/stack/operator";
import { startStack } from "@postrider/local/stack/stack";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import type { Page } from "playwright-core";
import { launchBrowser } from "./support/observers/browser.ts";
import { openDashboard } from "./support/observers/dashboard.ts";
import { createSimulatorControl } from "./support/requests/simulator.ts";

const FOLDER = join(import.meta.dirname, "../docs/pictures");
const HOUR_MS = 3_600_000;
const SCREENS = [
  "posts",
  "posts/new",
  "calendar",
  "queue",
  "media",
  "comments",
  "automations",
  "metrics",
  "accounts",
  "webhooks",
  "keys",
  "status",
];
const LOOKS = [
  { width: 1440, colorScheme: "light", locale: "en-GB" },
  { width: 1440, colorScheme: "dark", locale: "en-GB" },
  { width: 390, colorScheme: "light", locale: "ko-KR" },
] as const;

const TEXTS = [
  "Open on Saturday: the first apples are here, and the press runs all day.",
  "The orchard at six in the morning, before anyone is awake.",
  "We are closed on Monday. On Tuesday the new cider is in the shop.",
  "Three ways to keep apples until March, tried in our cellar.",
  "Thank you for four hundred visitors last weekend.",
  "Which variety is your favourite? Tell us, we plant two new rows in spring.",
] as const;
const COMMENTS = [
  "Is there parking near the gate?",
  "The Boskoop last year was wonderful. Will you have it again?",
  "What does a bottle of the new cider cost?",
];

await using stack = await startStack({
  dataDir: makeTestFolder("pictures"),
  port: 0,
  kafka: false,
  env: { PATH: process.env.PATH, HOME: process.env.HOME },
});
const { baseUrl, apiKey, accounts, workspaceId, simulatorUrl } = stack.describe();
const client = createClient({ baseUrl, apiKey });
const simulator = createSimulatorControl(simulatorUrl);
const accountOf = (platform: string) => {
  const account = accounts.find((each) => each.platform === platform);
  if (account === undefined) throw new Error(`the demo has no account on ${platform}`);
  return account;
};
const textIds = ["x", "facebook", "telegram", "bluesky"].map((platform) => accountOf(platform).id);

/** A picture on Instagram with comments of its readers, of which a rule answers one. */
async function addPicture(): Promise<void> {
  const { id, externalId } = accountOf("instagram");
  await client.createAutomationRule({
    accountId: id,
    name: "Price of the cider",
    keywords: ["cost", "price"],
    message: "A bottle is 9 euros, and three are 24.",
  });
  const picture = await client.uploadFile(sampleJpeg({ width: 1200, height: 1200 }), {
    fileName: "orchard.jpg",
  });
  const { id: postId } = await client.createPost({
    content: TEXTS[1],
    accountIds: [id],
    mediaIds: [picture.id],
  });
  const { targets } = await client.waitForPost(postId);
  for (const text of COMMENTS)
    await simulator.addComment(
      { platform: "instagram", account: externalId, id: targets[0]?.externalId ?? "" },
      { text },
    );
}

async function fillWorkspace(): Promise<void> {
  await client.createQueueSlotRule({
    name: "Evenings",
    timezone: "Asia/Seoul",
    weekdays: ["mon", "wed", "fri"],
    times: ["18:00"],
  });
  await addPicture();
  // The access of one account ends, as after its owner has changed the password.
  await simulator.addFault({
    platform: "x",
    account: accountOf("x").externalId,
    operation: "publish",
    mode: "status",
    status: 401,
    times: 4,
  });
  const [first, , third] = TEXTS;
  const accepted = await Promise.all(
    [first, third].map((content) => client.createPost({ content, accountIds: textIds })),
  );
  for (const { id } of accepted) await client.waitForPost(id);
  for (const [index, content] of TEXTS.slice(3).entries()) {
    const scheduledAt = new Date(Date.now() + (index * 31 + 5) * HOUR_MS).toISOString();
    await client.createPost({ content, accountIds: textIds.slice(1), scheduledAt });
  }
  await client.createPost({
    content: "A draft about the new labels.",
    accountIds: textIds.slice(1),
    isDraft: true,
  });
}

async function take(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  // Nothing that is still loading is in a picture. The stream of changes stays open, so the network
  // never becomes idle.
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
}

await fillWorkspace();
mkdirSync(FOLDER, { recursive: true });
const browser = await launchBrowser();
const system = {
  operate: async <T>(...args: readonly string[]) => (await operate(stack, ...args)) as T,
};
for (const look of LOOKS) {
  await using opened = await openDashboard(browser, system, workspaceId, look);
  const { page } = opened;
  for (const screen of SCREENS) {
    await page.goto(new URL(`/app/${screen}`, page.url()).href);
    await take(page, `${screen.replace("/", "-")}-${look.width}-${look.colorScheme}`);
  }
  console.log(`${look.width} ${look.colorScheme}: ${SCREENS.length} pictures`);
}
await browser.close();
