import { sampleJpeg } from "@postrider/local/demo/sample-media";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { dateIn } from "./support/dates.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { type DialogStop, listDialogs, press } from "./support/observers/dashboard-dialogs.ts";
import { findFaults, follow, go, walk } from "./support/observers/dashboard-walk.ts";
import { openDashboard } from "./support/observers/dashboard.ts";
import {
  fillWithHostileTexts,
  hostile,
  type HostileField,
} from "./support/requests/hostile-workspace.ts";
import { upload } from "./support/requests/media.ts";
import { create } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Opens every dialog that lies over a screen, over hostile texts. Each is looked at in both themes
 * in a wide window, and on a phone.
 */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
afterAll(() => browser.close());
const tenant = await openTenant(system);
const { api } = tenant;
// Nothing listens there.
const endpointUrl = `http://127.0.0.1:${system.webhookPorts.dialogs}/`;
const filled = await fillWithHostileTexts(system, tenant, endpointUrl);
const DAY = dateIn(9);

await system.sql`
  update posts.targets set error_code = 'outcome_unknown'
  where workspace_id = ${tenant.id} and error_code is not null`;
const jpeg = { contentType: "image/jpeg", bytes: sampleJpeg() };
await upload(api, { fileName: hostile("unused file"), ...jpeg });
for (let minute = 10; minute < 18; minute += 1)
  await create(api, {
    content: `Post ${minute}`,
    accountIds: filled.accountIds.slice(0, 1),
    scheduledAt: `${DAY}T03:${minute}:00.000Z`,
  });

/** One walk opens each dialog up to three times, and runs axe-core on each. */
const WALK_MS = 200_000;
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 900 };

/** Opens what a stop opens, in the size that the window has. */
async function open(page: Page, { path, act, title }: DialogStop): Promise<void> {
  // What the stop before has opened goes with its screen.
  await go(page, "/nowhere");
  await go(page, path);
  await act(page);
  await page.getByRole("dialog", { name: title }).waitFor();
}

async function look(page: Page, stop: DialogStop): Promise<readonly string[]> {
  const { title, only, shows = [] } = stop;
  const dialog = page.getByRole("dialog", { name: title });
  let isOpened = false;
  const faults: string[] = [];
  let seen: typeof WIDE | undefined;
  const see = async (colorScheme: "light" | "dark", size: typeof WIDE) => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // Some screens are others on a phone, and what was opened over them is gone.
    if (!isOpened || !(await dialog.isVisible())) await open(page, stop);
    isOpened = true;
    const axe = seen === size ? "colours" : "all";
    seen = size;
    const found = await findFaults(page, { shows, isPhone: size === PHONE, axe });
    faults.push(...found.map((fault) => `${colorScheme}, ${size.width} pixels: ${fault}`));
  };
  if (only !== "phone") await see("light", WIDE);
  if (only !== "phone") await see("dark", WIDE);
  if (only !== "wide") await see("dark", PHONE);
  if (only === "phone") await see("light", PHONE);
  return faults;
}

/** The browser notes every answer that refuses something. */
const REFUSED = / status of 4(?:09|12) /;

test(
  "each dialog shows hostile texts as texts and fits its window, and axe-core finds nothing in both themes and on a phone",
  { timeout: WALK_MS },
  async () => {
    await using dashboard = await openDashboard(browser, system, tenant.id);
    const { page, complaints } = dashboard;
    const faults = await walk(page, listDialogs(api, filled, DAY), (stop) => look(page, stop));
    const others = complaints.filter((line) => !REFUSED.test(line));
    expect([...faults, ...others]).toEqual([]);
  },
);

test(
  "notices, a reply that was sent, and what the end of a session asks, show hostile texts as texts, and axe-core finds nothing",
  { timeout: WALK_MS },
  async () => {
    await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/queue" });
    const { page } = dashboard;
    const see = async (shows: readonly HostileField[], isPhone = false) =>
      await findFaults(page, { shows, isPhone, axe: "all" });
    await press(page, /^Pause/);
    await page.getByRole("status").getByText(hostile("queue rule")).waitFor();
    expect(await see(["queue rule"])).toEqual([]);
    await page.getByRole("button", { name: hostile("workspace name") }).click();
    const notices = page.getByRole("region", { name: "Notices" });
    await notices.getByText(hostile("queue rule")).waitFor();
    expect(await see(["workspace name", "queue rule"])).toEqual([]);
    await page.keyboard.press("Escape");

    await page.setViewportSize(PHONE);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("dialog").getByText(hostile("queue rule")).waitFor();
    expect(await see(["workspace name", "queue rule"], true)).toEqual([]);

    await go(page, "/comments?tab=all");
    await page.locator("[data-row]").first().click();
    await page.getByRole("textbox", { name: /^Reply/ }).fill(hostile("own reply"));
    await page.getByRole("button", { name: "Send reply" }).click();
    await page.locator("article").getByText(hostile("own reply")).waitFor();
    expect(await see(["own reply"], true)).toEqual([]);

    await page.context().clearCookies();
    await follow(page, "/status");
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await see([], true)).toEqual([]);
    }
  },
);

test(
  "what is asked before texts go with a session, and what is said when it is another workspace's, show hostile texts as texts, and axe-core finds nothing",
  { timeout: WALK_MS },
  async () => {
    await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/posts/new" });
    const { page } = dashboard;
    const see = async (size: typeof WIDE) => {
      await page.setViewportSize(size);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const shows = ["workspace name"] as const;
        expect(await findFaults(page, { shows, isPhone: size === PHONE, hasAxe: true })).toEqual(
          [],
        );
      }
    };
    const leaving = page.getByRole("dialog", { name: "Log out and remove what was not sent?" });
    await page.getByLabel("Text for all accounts").fill(hostile("written"));
    await page.getByRole("button", { name: hostile("workspace name") }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await leaving.waitFor();
    await see(WIDE);
    await leaving.getByRole("button", { name: "Stay logged in" }).click();
    await page.setViewportSize(PHONE);
    await go(page, "/posts");
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await leaving.waitFor();
    await see(PHONE);
    await leaving.getByRole("button", { name: "Stay logged in" }).click();

    const { baseUrl } = system.local();
    const login = {
      data: { apiKey: (await openTenant(system)).key },
      headers: { origin: baseUrl },
    };
    expect((await page.request.post(`${baseUrl}/app/api/session`, login)).status()).toBe(201);
    await follow(page, "/status");
    await page.getByRole("dialog", { name: /^This browser is logged in to another/ }).waitFor();
    await see(PHONE);
    await see(WIDE);
  },
);
