import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { SharedSystem } from "../system/system.ts";

export interface DashboardPage extends AsyncDisposable {
  readonly page: Page;
  /**
   * Errors and warnings of the console, refused by the policy of the page or thrown by its code.
   */
  readonly complaints: readonly string[];
}

interface DashboardOptions {
  readonly locale?: "en-GB" | "ko-KR";
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  readonly timezoneId?: string;
  /** Opens the session with this key of the API instead of a login link. */
  readonly apiKey?: string;
  /** The screen that is opened, below `/app`. */
  readonly path?: string;
}

/** Wide enough for the sidebar and two columns. */
const WIDTH = 1280;
const HEIGHT = 900;
/** A machine with other work publishes slowly. */
const TIMEOUT_MS = 75_000;

/** Opens a browser of its own, which is logged in nowhere. */
export async function openBrowser(
  browser: Browser,
  { width = WIDTH, height = HEIGHT, ...rest }: Omit<DashboardOptions, "path" | "apiKey"> = {},
): Promise<DashboardPage> {
  const given: BrowserContextOptions = { locale: "en-GB", timezoneId: "Asia/Seoul", ...rest };
  const context = await browser.newContext({ ...given, viewport: { width, height } });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const { complaints, refusals } = listenForComplaints(page);
  const close = async () => {
    // A test whose press was refused fails later, without a trace of it.
    if (refusals.length > 0) console.info(refusals.join("\n"));
    await context.close();
    const violations = complaints.filter((text) => POLICY.test(text));
    if (violations.length > 0) throw new Error(violations.join("\n"));
  };
  return { page, complaints, [Symbol.asyncDispose]: close };
}

/**
 * Opens a screen in a browser of its own, with a session of the workspace. The session is opened by
 * the request that the login page sends: that page is loaded by the tests of the login only.
 */
export async function openDashboard(
  browser: Browser,
  system: Pick<SharedSystem, "operate">,
  workspaceId: string,
  options: DashboardOptions = {},
): Promise<DashboardPage> {
  const { path = "/posts", apiKey, ...rest } = options;
  const opened = await openBrowser(browser, rest);
  const link = ["dashboard", "link", "--workspace", workspaceId];
  const { origin, hash } = new URL((await system.operate<{ url: string }>(...link)).url);
  const data = apiKey === undefined ? { token: hash.slice(1) } : { apiKey };
  const session = { data, headers: { origin } };
  const answer = await opened.page.request.post(`${origin}/app/api/session`, session);
  if (!answer.ok()) throw new Error(await answer.text());
  await show(opened.page, path, origin);
  return opened;
}

/** Loads another screen, below `/app`. */
export async function show(page: Page, path: string, base = page.url()): Promise<void> {
  await page.goto(new URL(`/app${path}`, base).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
}

/** Waits for a text, and says what the page shows instead when it does not come. */
export async function waitForText(page: Page, text: string): Promise<void> {
  try {
    await page.getByText(text).waitFor();
  } catch (cause) {
    const shown = await page.locator("body").innerText();
    throw new Error(`The page does not say "${text}" but:\n${shown}`, { cause });
  }
}

/**
 * Everything that this browser keeps where scripts can read it: both storages, databases, caches,
 * cookies, the name of the window, and the state of its history.
 */
export async function readWhatIsKept(page: Page): Promise<string> {
  return await page.evaluate<string>(`(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage },
    await indexedDB.databases(), await caches.keys(),
    document.cookie, window.name, history.state, location.href,
  ]))()`);
}

/**
 * A gateway or service whose own loop or database is late refuses requests until it has caught up,
 * and asks to wait. The page repeats them; that the browser notes each answer no page can prevent.
 */
const REFUSED_FOR_NOW = /^Failed to load resource: the server responded with a status of 50[34] /;

/** What breaks the policy of the page, which no test expects. */
const POLICY = /Content[- ]Security[- ]Policy/i;

function listenForComplaints(page: Page) {
  const complaints: string[] = [];
  const refusals: string[] = [];
  page.on("console", (message) => {
    const { url } = message.location();
    if (!["error", "warning"].includes(message.type())) return;
    // Pages of the platforms and of connect links name no icon.
    if (url.endsWith("/favicon.ico")) return;
    const list = REFUSED_FOR_NOW.test(message.text()) ? refusals : complaints;
    list.push(`${message.text()} ${url}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { complaints, refusals };
}

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly html: string }[];
}

/** The rules whose findings depend on colours. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

const runAxe = (runOnly?: readonly string[]) => `axe
  .run(${JSON.stringify({ resultTypes: ["violations"], preload: false, runOnly })})
  .then(({ violations }) => violations)`;

/**
 * What axe-core finds on the page as it is now: WCAG 2.2 A and AA, and best practices.
 *
 * @param rules `colours` = only those that find something else in another theme, for a page that
 *   all rules have seen in one theme.
 */
export async function findAccessibilityFaults(
  page: Page,
  rules: "all" | "colours" = "all",
): Promise<readonly string[]> {
  // The debugger's evaluation is not subject to the policy of the page.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const findings = await page.evaluate<readonly Finding[]>(
    runAxe(rules === "all" ? undefined : COLOUR_RULES),
  );
  return findings.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${help} at ${target.join(" ")} ${html.slice(0, 160)}`),
  );
}
