/**
 * Measures the dashboard in Chromium with 10,000 posts in the workspace, of which 1,000 are in the
 * month: the first screen, the calendar, and scrolling through the lists of posts, media and
 * comments. `node bench/dashboard.ts [posts] [rounds]` prints a Markdown table with the time until
 * what was asked for is painted, and what the main thread of the page did.
 */
import type { Browser, Page } from "playwright-core";
import postgres from "postgres";
import { launchBrowser } from "../e2e/support/observers/browser.ts";
import { openDashboard } from "../e2e/support/observers/dashboard.ts";
import { fillWorkspace, TIME_ZONE } from "./dashboard-rows.ts";
import { type MainThreadWork, preferBrowser, watchMainThread } from "./main-thread.ts";
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const POSTS = Number(process.argv[2] ?? 10_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const MONTH = 1_000;
/** Rows that are loaded and scrolled through, at most. */
const ROWS = 1_000;
/** In each frame: a wheel that is turned as fast as a hand can, and more than twice as fast. */
const FAST_PX = 120;
const FASTER_PX = 300;
/** While a reader looks at a list, the page prepares its other screens. */
const LOOK_MS = 3_000;
/** A list that does not grow for this number of turns of the wheel has ended. */
const STILL_TURNS = 100;

interface Sample extends MainThreadWork {
  readonly shownMs: number;
}

const PAINTED = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));";

/**
 * Presses what the selector finds, and returns the milliseconds until the condition is true and
 * what makes it true is painted. The debugger may evaluate texts, which the policy of the page
 * forbids to the page itself.
 */
async function press(page: Page, selector: string, condition: string): Promise<number> {
  return await page.evaluate<number>(`(async () => {
    const from = performance.now();
    document.querySelector(${JSON.stringify(selector)}).click();
    while (!(${condition})) await new Promise(requestAnimationFrame);
    ${PAINTED}
    return performance.now() - from;
  })()`);
}

/** Milliseconds from the navigation until the condition is true and painted. */
async function open(page: Page, path: string, condition: string): Promise<number> {
  await page.goto(path, { waitUntil: "commit" });
  return await page.evaluate<number>(`(async () => {
    while (!(${condition})) await new Promise(requestAnimationFrame);
    ${PAINTED}
    return performance.now();
  })()`);
}

const count = (selector: string): string => `document.querySelectorAll('${selector}').length`;
const title = "document.querySelector('[role=grid]')?.getAttribute('aria-label')";

async function watch(browser: Browser, page: Page, act: () => Promise<number>): Promise<Sample> {
  let shownMs = 0;
  const work = await watchMainThread(browser, page, async () => {
    shownMs = await act();
  });
  return { ...work, shownMs };
}

/** Turns the wheel over a list, which reads on at its end, until there are enough rows. */
async function scroll(page: Page, row: string, wheelPx: number): Promise<number> {
  const startedAt = performance.now();
  let still = 0;
  let rows = 0;
  while (rows < ROWS && still < STILL_TURNS) {
    await page.mouse.wheel(0, wheelPx);
    const before = rows;
    rows = await page.evaluate<number>(
      `new Promise(requestAnimationFrame).then(() => ${count(row)})`,
    );
    still = rows === before ? still + 1 : 0;
  }
  return performance.now() - startedAt;
}

/** Each measurement begins with a page of its own in a browser that has the session. */
type Act = (page: Page) => Promise<number>;

const CALENDAR = 'nav a[href="/app/calendar"]';
const ROW = count("[data-row]");
// The month is drawn out of sight before the press.
const IS_SEEN = "document.querySelector('[role=grid]')?.checkVisibility()";
const MONTH_SHOWN = `${IS_SEEN} && ${count("[data-day]")} === 42 && ${count("[data-post]")} > 100`;

async function openPosts(page: Page): Promise<number> {
  return await open(page, "/app/posts", `${ROW} >= 20`);
}

async function lookAtPosts(page: Page): Promise<void> {
  await openPosts(page);
  await page.waitForTimeout(LOOK_MS);
}

async function moveToCalendar(page: Page): Promise<void> {
  await page.hover(CALENDAR);
  // A hand takes about as long to press.
  await page.waitForTimeout(200);
}

async function openMonth(page: Page): Promise<void> {
  await openPosts(page);
  await press(page, CALENDAR, MONTH_SHOWN);
  // The periods beside it are read ahead.
  await page.waitForTimeout(2_000);
}

const pressCalendar: Act = async (page) => await press(page, CALENDAR, MONTH_SHOWN);

/** A reader looks at the first rows, with the pointer over them, before the wheel is turned. */
async function openList(page: Page, path: string, row: string): Promise<void> {
  await open(page, path, `${count(row)} >= 20`);
  await page.locator(row).first().hover();
  await page.waitForTimeout(LOOK_MS);
}

interface Measurement {
  readonly name: string;
  readonly prepare?: (page: Page) => Promise<unknown>;
  readonly act: Act;
}

const ROWS_OF_LIST = { first: "[data-row]", row: "[data-row], [data-far]" };
const LISTS = [
  { name: "posts", ...ROWS_OF_LIST },
  { name: "media", first: "main li img", row: "main li" },
  { name: "comments", ...ROWS_OF_LIST },
];

const MEASUREMENTS: readonly Measurement[] = [
  { name: "first visit: posts", act: openPosts },
  { name: "next visit: posts", prepare: openPosts, act: openPosts },
  {
    name: "posts → calendar",
    prepare: async (page) => {
      await lookAtPosts(page);
      await moveToCalendar(page);
    },
    act: pressCalendar,
  },
  {
    name: "posts → calendar, at once",
    prepare: async (page) => {
      await openPosts(page);
      await moveToCalendar(page);
    },
    act: pressCalendar,
  },
  {
    name: "next month",
    prepare: openMonth,
    act: async (page) => {
      const before = await page.evaluate<string>(title);
      const isNext = `${title} !== ${JSON.stringify(before)} && ${MONTH_SHOWN}`;
      return await press(page, '[aria-label="Next month"]', isNext);
    },
  },
  ...[FAST_PX, FASTER_PX].flatMap((wheelPx) =>
    LISTS.map(({ name, first, row }) => ({
      name: `${name}, scrolled by ${wheelPx} px a frame`,
      prepare: async (page: Page) => await openList(page, `/app/${name}`, first),
      act: async (page: Page) => await scroll(page, row, wheelPx),
    })),
  ),
];

await using system = await startBenchSystem("postgres");
const { local } = system;
const sql = postgres(local.databaseUrl, {
  max: 1,
  onnotice: () => {},
  connection: { search_path: "posts" },
});
await fillWorkspace(local, sql, { posts: POSTS, inMonth: MONTH });
await sql.end();

const browser = await launchBrowser();
if (!preferBrowser()) console.log("The browser shares the processors equally with the services.");
await using login = await openDashboard(
  browser,
  { operate: async <T>(...args: readonly string[]) => (await system.operate(...args)) as T },
  local.workspaceId,
);
const storageState = await login.page.context().storageState();

async function measure({ prepare, act }: Measurement): Promise<Sample> {
  const context = await browser.newContext({
    storageState,
    baseURL: local.baseUrl,
    locale: "en-GB",
    timezoneId: TIME_ZONE,
    viewport: { width: 1440, height: 900 },
  });
  const page = await context.newPage();
  await prepare?.(page);
  const sample = await watch(browser, page, async () => await act(page));
  await context.close();
  return sample;
}

console.log(
  "| what | shown after ms | CPU ms | longest task ms | CPU of the longest ms |\n|---|---|---|---|---|",
);
for (const measurement of MEASUREMENTS) {
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round += 1) samples.push(await measure(measurement));
  const cell = (read: (sample: Sample) => number) =>
    `${Math.round(percentile(samples.map(read), 0.5))} / ${Math.round(Math.max(...samples.map(read)))}`;
  console.log(
    `| ${measurement.name} | ${cell(({ shownMs }) => shownMs)} | ${cell(({ cpuMs }) => cpuMs)} | ${cell(({ longestMs }) => longestMs)} | ${cell(({ longestCpuMs }) => longestCpuMs)} |`,
  );
}
await browser.close();
