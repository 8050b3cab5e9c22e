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
  readonly timezoneId?: string;
}

/** Wide enough for the sidebar and two columns. */
const WIDTH = 1280;
const HEIGHT = 900;
/** A machine with other work publishes slowly. */
const TIMEOUT_MS = 75_000;

/** Opens a browser of its own, logged in to a workspace with a login link. */
export async function openDashboard(
  browser: Browser,
  system: Pick<SharedSystem, "operate">,
  workspaceId: string,
  options: DashboardOptions = {},
): Promise<DashboardPage> {
  const { width = WIDTH, locale = "en-GB", timezoneId = "Asia/Seoul", ...rest } = options;
  const given: BrowserContextOptions = { ...rest, locale, timezoneId };
  const context = await browser.newContext({ ...given, viewport: { width, height: HEIGHT } });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const complaints = listenForComplaints(page);
  const link = ["dashboard", "link", "--workspace", workspaceId];
  const { url } = await system.operate<{ url: string }>(...link);
  await page.goto(url);
  await page.getByRole("button", { name: locale === "ko-KR" ? "로그인" : "Log in" }).click();
  await page.waitForURL(/\/app\/(?!login)/);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

function listenForComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const { url } = message.location();
    // Pages of the platforms and of connect links name no icon.
    if (["error", "warning"].includes(message.type()) && !url.endsWith("/favicon.ico"))
      complaints.push(`${message.text()} ${url}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
}

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly html: string }[];
}

/** What axe-core finds on the page as it is now: WCAG 2.2 A and AA, and best practices. */
export async function findAccessibilityFaults(page: Page): Promise<readonly string[]> {
  // The debugger's evaluation is not subject to the policy of the page.
  await page.evaluate(axe.source);
  const findings = await page.evaluate<readonly Finding[]>("axe.run().then((r) => r.violations)");
  return findings.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${help} at ${target.join(" ")} ${html.slice(0, 160)}`),
  );
}
