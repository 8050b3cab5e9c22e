import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import { findFaults, go, walk } from "./support/observers/dashboard-walk.ts";
import { openDashboard } from "./support/observers/dashboard.ts";
import { startReceiver } from "./support/observers/receiver.ts";
import {
  fillWithHostileTexts,
  hostile,
  type HostileField,
} from "./support/requests/hostile-workspace.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Goes through every screen, in both languages and themes, wide and on a phone. All texts of users
 * and platforms are hostile, so that one walk shows that they stay texts, that axe-core finds
 * nothing, that no screen is wider than its window, and that the console has no complaint.
 */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const receiver = await startReceiver(system.webhookPorts.screens);
const tenant = await openTenant(system);
receiver.answer("/hostile", 500, hostile("webhook answer"), {
  "x-note": hostile("webhook header"),
});
const { postId, plannedId, titledId, endpointId, accountIds } = await fillWithHostileTexts(
  system,
  tenant,
  `${receiver.url}/hostile`,
);
afterAll(async () => {
  await browser.close();
  await receiver[Symbol.asyncDispose]();
});

/** One walk opens some thirty screens and dialogs, and runs axe-core on each. */
const WALK_MS = 400_000;
const PHONE = 390;

interface Stop {
  readonly name: string;
  /** Below `/app`; without it, the screen of the stop before. */
  readonly path?: string;
  /** Opens a part of the screen. */
  readonly act?: (page: Page) => Promise<unknown>;
  /** The texts that must be seen there. */
  readonly shows?: readonly (HostileField | "written")[];
  /** The texts that must be seen there in a wide window. */
  readonly showsWide?: readonly HostileField[];
}

/** A button by its name in English or Korean. */
const press = (name: RegExp) => async (page: Page) => {
  await page.getByRole("button", { name }).first().click();
};
const choose = (name: RegExp) => async (page: Page) => {
  await page.getByRole("menuitem", { name }).first().click();
};
const written = new URLSearchParams({
  text: hostile("written").repeat(6),
  accounts: accountIds.join(","),
}).toString();

const STOPS: readonly Stop[] = [
  {
    name: "the list of posts",
    path: "/posts",
    shows: ["post", "planned post", "account name"],
    showsWide: ["workspace name"],
  },
  { name: "the list of keys", act: (page) => page.keyboard.press("?") },
  {
    name: "a post",
    path: `/posts/${postId}`,
    act: async (page) => {
      await page.getByText("#1").first().waitFor();
      await page.locator("main aside [aria-expanded=false]").first().click();
    },
    shows: ["post", "account name", "error of a platform", "text for one account"],
  },
  { name: "the deletion of a post", act: press(/^(Delete from|계정 \d+개에서 삭제|.*에서 삭제)/) },
  { name: "a planned post", path: `/posts/${plannedId}`, shows: ["planned post"] },
  { name: "another time for a post", act: press(/^(Move to…|옮기기…)$/) },
  {
    name: "the composer",
    path: `/posts/new?${written}`,
    act: (page) => page.locator("#things-to-fix li").first().waitFor(),
    shows: ["written", "account name"],
  },
  {
    name: "the text for one account",
    act: (page) => page.getByRole("tab").nth(1).click(),
    shows: ["account name"],
  },
  {
    name: "a draft with a title and tags",
    path: `/posts/${titledId}/edit`,
    act: (page) => page.getByRole("tab").nth(1).click(),
    shows: ["title", "tag", "account name"],
  },
  { name: "the month", path: "/calendar", showsWide: ["planned post"] },
  { name: "the week", path: "/calendar?view=week", shows: ["post"] },
  { name: "the list of days", path: "/calendar?view=list", shows: ["planned post"] },
  { name: "the queue slots", path: "/queue", shows: ["queue rule"] },
  { name: "a queue rule", act: press(/^Edit|편집$/), shows: ["queue rule"] },
  { name: "the files", path: "/media", shows: ["file name"] },
  {
    name: "a file",
    act: (page) => page.getByRole("listitem").filter({ hasText: "hit()" }).getByRole("img").click(),
    shows: ["file name", "description"],
  },
  { name: "the comments", path: "/comments?tab=all", shows: ["comment", "author"] },
  {
    name: "a conversation",
    act: (page) => page.locator("[data-row]").first().click(),
    shows: ["comment", "author"],
  },
  {
    name: "the automations",
    path: "/automations",
    act: async (page) => {
      await page.locator("main [class*=tryIt] input").fill("What is the price?");
      await page.locator("main [class*=wouldSend]").waitFor();
    },
    shows: ["rule", "keyword", "excluded word", "private reply", "author", "comment"],
  },
  { name: "the metrics", path: "/metrics", shows: ["post"] },
  { name: "the accounts", path: "/accounts", shows: ["account name"] },
  { name: "the menu of an account", act: press(/^(More actions for |.*의 다른 작업$)/) },
  { name: "the settings of an account", act: choose(/^(Settings|설정)$/), shows: ["account name"] },
  {
    name: "the webhooks",
    path: `/webhooks?endpoint=${endpointId}`,
    shows: ["endpoint", "endpoint address"],
  },
  {
    name: "a delivery",
    act: (page) => page.getByRole("row", { name: /webhook.test/ }).click(),
    shows: ["webhook answer"],
  },
  {
    name: "the headers of a delivery",
    act: (page) => page.getByRole("tab", { name: /^(Headers|헤더)$/ }).click(),
    shows: ["webhook header"],
  },
  { name: "an endpoint", act: press(/^(Edit|편집)$/), shows: ["endpoint"] },
  { name: "the keys", path: "/keys", shows: ["key"] },
  { name: "a new key", act: press(/^(New key|새 키)$/) },
  { name: "quota and status", path: "/status", shows: ["pause"] },
  {
    name: "the first run",
    path: "/start",
    act: (page) => page.locator("summary").click(),
    shows: ["account name"],
  },
  { name: "a place that does not exist", path: "/nowhere" },
  { name: "the login", path: "/login", act: (page) => page.locator("input").waitFor() },
];

interface Look {
  readonly locale: "en-GB" | "ko-KR";
  readonly colorScheme: "light" | "dark";
  readonly width: number;
  /** Both themes in a wide window, and one on a phone, have all colours and all parts. */
  readonly hasAxe: boolean;
}

describe.each<Look>([
  { locale: "en-GB", colorScheme: "light", width: 1280, hasAxe: true },
  { locale: "ko-KR", colorScheme: "dark", width: 1440, hasAxe: true },
  { locale: "en-GB", colorScheme: "dark", width: PHONE, hasAxe: true },
  { locale: "ko-KR", colorScheme: "light", width: PHONE, hasAxe: false },
])("in $locale, $colorScheme, at $width pixels,", (look) => {
  test(
    `each screen shows hostile texts as texts and fits its window${look.hasAxe ? ", and axe-core finds nothing" : ""}`,
    { timeout: WALK_MS },
    async () => {
      await using dashboard = await openDashboard(browser, system, tenant.id, look);
      const { page, complaints } = dashboard;
      const { width, hasAxe } = look;
      const isPhone = width <= PHONE;
      const faults = await walk(page, STOPS, async ({ path, act, shows = [], showsWide = [] }) => {
        if (path !== undefined) await go(page, path);
        await act?.(page);
        const all = isPhone ? shows : [...shows, ...showsWide];
        return await findFaults(page, { shows: all, isPhone, axe: hasAxe ? "all" : "none" });
      });
      // The faults of the text in the composer are an answer that the browser notes.
      const others = complaints.filter((line) => !/ 422 .*\/posts\/validate$/.test(line));
      expect([...faults, ...others]).toEqual([]);
    },
  );
});
