import { expect, test, afterAll } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import {
  findAccessibilityFaults,
  openDashboard,
  readWhatIsKept,
  show,
} from "./support/observers/dashboard.ts";
import { createApi } from "./support/requests/api.ts";
import { createKey, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
afterAll(() => browser.close());

const { baseUrl } = system.local();

test("a key is made and shown once, works, and ends with the session that it opened when it is revoked", async () => {
  await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/keys" });
  const { page, complaints } = dashboard;
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("button", { name: "Make the key" }).click();
  await page.getByText("Give the key a name.").waitFor();
  await page.getByText("Choose at least one.").waitFor();
  await page.getByLabel("Name").fill("<b>Report</b>");
  await page.getByLabel("accounts:read").check();
  await page.getByLabel("It ends").selectOption("in 90 days");
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Make the key" }).click();

  const dialog = page.getByRole("dialog", { name: "Key “<b>Report</b>” is made" });
  const key = (await dialog.locator("code").textContent()) ?? "";
  expect(key).toMatch(/^pr_live_/);
  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(true);
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Done" }).click();
  expect(await page.content()).not.toContain(key);
  const api = createApi(baseUrl, key);
  expect((await api.call("GET", "/accounts")).status).toBe(200);
  expect((await api.call("GET", "/posts")).status).toBe(403);

  const guest = await browser.newContext();
  const other = await guest.newPage();
  await other.goto(`${baseUrl}/app/login`);
  await other.getByLabel("API key").fill(key);
  await other.getByRole("button", { name: "Log in with the key" }).click();
  await other.waitForURL(/\/app\/(?!login)/);
  await page.reload();
  const row = page.getByRole("row", { name: "<b>Report</b>" });
  await row.getByText("accounts:read").waitFor();
  await page.getByText(`opened with the key ${key.slice(0, 12)}`).waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await row.getByRole("button", { name: "Revoke…" }).click();
  await page.getByText("One session in a browser ends with it.").waitFor();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  const since = performance.now();
  await row.waitFor({ state: "detached" });
  await expect
    .poll(async () => (await guest.request.get(`${baseUrl}/app/api/session`)).status())
    .toBe(401);
  expect(performance.now() - since).toBeLessThan(5_000);
  await guest.close();
  expect(complaints).toEqual([]);
});

test("a tab that shows another workspace than the browser is logged in to does nothing there", async () => {
  const other = await openTenant(system);
  await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/keys" });
  const { page } = dashboard;
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("For this workspace");
  await page.getByLabel("accounts:read").check();
  const login = { data: { apiKey: other.key }, headers: { origin: baseUrl } };
  expect((await page.request.post(`${baseUrl}/app/api/session`, login)).status()).toBe(201);
  // The page may have noticed it already, and its dialog then lies above the button.
  await page.getByRole("button", { name: "Make the key" }).dispatchEvent("click");
  const name = "This browser is logged in to another workspace";
  const dialog = page.getByRole("dialog", { name });
  await dialog.waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Reload" }).click();
  await page.getByText("test key").first().waitFor();
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByText("For this workspace").count()).toBe(0);
});

test("a failure of the server is told in the words of the page", async () => {
  await using dashboard = await openDashboard(browser, system, tenant.id, { locale: "ko-KR" });
  const { page } = dashboard;
  const error = { code: "internal_error", message: "The service failed.", details: [] };
  await page.route("**/app/api/keys", (route) => route.fulfill({ status: 500, json: { error } }));
  await show(page, "/keys");
  await page.getByRole("alert").getByText("지금은 Postrider가 응답하지 못합니다.").waitFor();
  expect(await page.getByText("The service failed.").count()).toBe(0);
});

test("a page whose first script is refused still has the language of its reader", async () => {
  await using dashboard = await openDashboard(browser, system, tenant.id, { locale: "ko-KR" });
  const { page } = dashboard;
  await page.route("**/before-paint.js", (route) => route.fulfill({ status: 503 }));
  await show(page, "/keys");
  expect(await page.locator("html").getAttribute("lang")).toBe("ko");
});

test("logging out leaves no text in the browser, after it has asked", async () => {
  await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/posts/new" });
  const { page, complaints } = dashboard;
  await page.getByRole("button", { name: "Close" }).click();
  await page.waitForURL(/\/app\/posts$/);
  expect(await readWhatIsKept(page)).not.toContain("postrider.draft.");
  await show(page, "/posts/new");
  await page.getByLabel("Text for all accounts").fill("Not for the next person");
  await page.getByRole("button", { name: /^Workspace/ }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  const dialog = page.getByRole("dialog", { name: "Log out and remove what was not sent?" });
  await dialog.waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Stay logged in" }).click();
  expect(await readWhatIsKept(page)).toContain("Not for the next person");
  await page.getByRole("button", { name: "Log out" }).click();
  await dialog.getByRole("button", { name: "Log out and remove it" }).click();
  await page.waitForURL(/\/app\/login$/);
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await readWhatIsKept(page)).not.toContain("Not for the next person");
  expect(complaints).toEqual([]);
});

test("a session with few scopes cannot end what may do more, and ends all others that it may", async () => {
  const open = (options: object) =>
    openDashboard(browser, system, tenant.id, { path: "/keys", ...options });
  await using stronger = await open({ locale: "ko-KR" });
  const apiKey = await createKey(system, tenant.id, "posts:read");
  await using weaker = await open({ apiKey, width: 390 });
  const { page } = weaker;
  await page.getByText("It may do more than this session").first().waitFor();
  expect(await page.getByRole("button", { name: "End all others" }).count()).toBe(0);
  expect(await findAccessibilityFaults(page)).toEqual([]);

  // The list of sessions is as old as the page.
  await stronger.page.reload();
  await stronger.page.getByRole("button", { name: "다른 세션 모두 종료" }).click();
  await stronger.page.getByText(/세션.*종료했습니다/).waitFor();
  await stronger.page
    .getByRole("button", { name: "종료", exact: true })
    .waitFor({ state: "detached" });
  await expect
    .poll(async () => (await page.request.get(`${baseUrl}/app/api/session`)).status())
    .toBe(401);
  expect(stronger.complaints).toEqual([]);
});
