/**
 * Takes the pictures of the dashboard that `docs/dashboard.md` and the README show, and writes them
 * into `docs/pictures/`: `npm run pictures`, or only those of the screens that are named. It starts
 * a system of its own with simulated platforms, and fills its workspace with posts, files, comments
 * and rules.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { operate } from "@postrider/local/stack/operator";
import { startStack } from "@postrider/local/stack/stack";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import type { Page } from "playwright-core";
import { fillWorkspace } from "./pictures/fill-workspace.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { openDashboard } from "./support/observers/dashboard.ts";
import { startReceiver } from "./support/observers/receiver.ts";

const FOLDER = join(import.meta.dirname, "../docs/pictures");
const TEXT =
  "The winter ride sale opens Friday at six. Gloves, shoe covers and tubeless sealant are 20 % off, and we measure your chain for free while you have a coffee. No booking, just roll in.";

/** Opens what a picture shows. */
type Show = (page: Page, open: (path: string) => Promise<void>) => Promise<void>;

const at =
  (path: string): Show =>
  (_page, open) =>
    open(path);

const SCREENS: Readonly<Record<string, Show>> = {
  posts: at("posts"),
  post: async (page, open) => {
    await open("posts");
    await page
      .getByRole("link", { name: /겨울 코스 3곳/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "한강 자전거길" }).first().waitFor();
    // The cause and its cure are read after the post.
    await page.getByRole("button", { name: /^(?:Reconnect|다시 연결)/ }).waitFor();
  },
  "posts-new": async (page, open) => {
    await open(`posts/new?text=${encodeURIComponent(TEXT)}`);
    await page.getByRole("button", { name: /^(?:Choose all|모두 선택)$/ }).click();
    // The server's own rules are asked when the text has rested.
    await page
      .getByRole("button", { name: /^(?:Leave|.* 빼기)/ })
      .first()
      .waitFor();
  },
  calendar: at("calendar"),
  week: at("calendar?view=week"),
  queue: at("queue"),
  media: at("media"),
  comments: at("comments"),
  automations: at("automations"),
  metrics: at("metrics"),
  accounts: at("accounts"),
  webhooks: at("webhooks"),
  keys: at("keys"),
  status: at("status"),
};
const LOOKS = [
  { width: 1440, colorScheme: "light", locale: "en-GB" },
  { width: 1440, colorScheme: "dark", locale: "en-GB" },
  { width: 390, colorScheme: "light", locale: "ko-KR" },
] as const;

/** Images below the picture are not loaded before a reader comes near them. */
const SEEN_IMAGES = `Promise.all(
  [...document.images]
    .filter((image) => image.getBoundingClientRect().top < innerHeight)
    .map((image) => image.decode().catch(() => undefined)),
).then(() => undefined)`;

/** Nothing that is still loading is in a picture. */
async function rest(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  // The stream of changes stays open, so the network never becomes idle.
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  await page.evaluate(SEEN_IMAGES);
}

const asked = process.argv.slice(2);
const shown = Object.entries(SCREENS).filter(
  ([name]) => asked.length === 0 || asked.includes(name),
);
await using receiver = await startReceiver();
await using stack = await startStack({
  dataDir: makeTestFolder("pictures"),
  port: 0,
  kafka: false,
  env: {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    OUTBOUND_ALLOW: new URL(receiver.url).host,
    WEBHOOK_RETRY_SECONDS: "0.2,0.2",
    RECONCILE_TIME_SCALE: "0.005",
    VISIBLE_CALL_SECONDS: "3",
  },
});
const system = {
  operate: async <T>(...args: readonly string[]) => (await operate(stack, ...args)) as T,
};
const workspaceId = await fillWorkspace({ ...stack.describe(), ...system, receiver });
mkdirSync(FOLDER, { recursive: true });
const browser = await launchBrowser();
for (const look of LOOKS) {
  await using opened = await openDashboard(browser, system, workspaceId, look);
  const { page } = opened;
  const open = async (path: string) => {
    await page.goto(new URL(`/app/${path}`, page.url()).href);
    await rest(page);
  };
  for (const [name, show] of shown) {
    await show(page, open);
    await rest(page);
    const path = join(FOLDER, `${name}-${look.width}-${look.colorScheme}.png`);
    await page.screenshot({ path, animations: "disabled" });
  }
  console.log(`${look.width} ${look.colorScheme}: ${shown.length} pictures`);
}
await browser.close();
