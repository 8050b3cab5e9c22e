import type { Page } from "playwright-core";
import { expect } from "vitest";
import { hostile, type HostileField } from "../requests/hostile-workspace.ts";
import { findAccessibilityFaults } from "./dashboard.ts";

/** Only a hang reaches it. Without it, one text that is missing would use up the whole test. */
const STEP_MS = 15_000;

/** Asks for another screen as a link does, without loading the page again. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/app${path}`)})`);
}

/** Goes to another screen, and closes the dialogs of the one before. */
export async function go(page: Page, path: string): Promise<void> {
  await follow(page, path);
  // A dialog of the stop before, which may open only now, hides what is behind it.
  const isThere = async () => {
    const hasDialog = (await page.getByRole("dialog").count()) > 0;
    if (hasDialog) await page.keyboard.press("Escape");
    return !hasDialog && (await page.getByRole("heading", { level: 1 }).isVisible());
  };
  await expect.poll(isThere, { timeout: STEP_MS }).toBe(true);
}

/** Goes from stop to stop. One that cannot be reached is a fault, and the walk goes on. */
export async function walk<T extends { readonly name: string }>(
  page: Page,
  stops: readonly T[],
  look: (stop: T) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  page.setDefaultTimeout(STEP_MS);
  const faults: string[] = [];
  for (const stop of stops)
    try {
      faults.push(...(await look(stop)).map((fault) => `${stop.name}: ${fault}`));
    } catch (error) {
      faults.push(`${stop.name}: ${String(error)}`);
    }
  return faults;
}

const SEE = `({
  texts: [document.body, ...document.querySelectorAll("input, textarea")]
    .map((element) => element.value ?? element.innerText).join("\\n"),
  markup: document.querySelectorAll(
    "img[src=x], [onerror], script:not([src^='/app/']), b > b, [href*='hit()']").length,
  tooWide: document.documentElement.scrollWidth - innerWidth,
  smallFields: [...document.querySelectorAll("input, select, textarea")]
    .filter((field) => !["checkbox", "radio", "file"].includes(field.type))
    .filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16)
    .map((field) => field.getAttribute("aria-label") ?? field.outerHTML.slice(0, 160)),
})`;

interface Seen {
  readonly texts: string;
  readonly markup: number;
  readonly tooWide: number;
  readonly smallFields: readonly string[];
}

interface Expected {
  /** The texts that must be seen. */
  readonly shows: readonly (HostileField | "written")[];
  readonly isPhone: boolean;
  /** The rules of axe-core that are checked; `colours` after `all` of the same page. */
  readonly axe: "none" | "colours" | "all";
}

/** Returns what is wrong with what is open now. */
export async function findFaults(
  page: Page,
  { shows, isPhone, axe }: Expected,
): Promise<readonly string[]> {
  await page.locator("main [aria-busy=true]").first().waitFor({ state: "detached" });
  const see = () => page.evaluate<Seen>(SEE);
  const findMissing = async () => {
    const { texts } = await see();
    return shows.filter((field) => !texts.includes(hostile(field)));
  };
  const missing = await expect
    .poll(findMissing, { timeout: STEP_MS })
    .toEqual([])
    .then(() => [], findMissing);
  const { markup, tooWide, smallFields } = await see();
  return [
    ...missing.map((field) => `the text "${field}" is not shown`),
    ...(markup > 0 ? [`${markup} elements come from a text`] : []),
    ...(tooWide > 0 ? [`${tooWide} pixels are beside the window`] : []),
    // A phone zooms into a field whose text has less than 16 pixels.
    ...(isPhone ? smallFields.map((field) => `the text of the field ${field} is too small`) : []),
    ...(axe === "none" ? [] : await findAccessibilityFaults(page, axe)),
  ];
}
