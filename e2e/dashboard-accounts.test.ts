import { afterAll, expect, test } from "vitest";
import { dateIn } from "./support/dates.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { findAccessibilityFaults, openDashboard } from "./support/observers/dashboard.ts";
import { create, whenPost } from "./support/requests/posts.ts";
import { createKey, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
afterAll(() => browser.close());

test("an account that can no longer publish comes first, is connected again with its failed post, and is disconnected", async () => {
  const x = await tenant.connect("x", "ended");
  await tenant.connect("telegram");
  const scheduledAt = `${dateIn(9)}T09:00:00.000Z`;
  const later = await create(tenant.api, { content: "Too", accountIds: [x], scheduledAt });
  await tenant.addFault(x, { operation: "publish", mode: "status", status: 401, times: 2 });
  const { id } = await create(tenant.api, { content: "Late", accountIds: [x] });
  await whenPost(tenant.api, id, "failed");
  await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/accounts" });
  const { page, complaints } = dashboard;
  await page.getByText("ended on X can no longer publish.").waitFor();
  // When the access ended, and from when on scheduled posts fail.
  await page.getByText(/Access ended: Today, \d\d:\d\d Seoul\. 1 post failed\./).waitFor();
  await page.getByText(/1 scheduled post will fail\. The first: .*, 18:00 Seoul\./).waitFor();
  await page.getByRole("columnheader", { name: "Access until, Seoul" }).waitFor();
  const row = page.getByRole("row", { name: /ended/ });
  await row.getByText("Access has ended").waitFor();
  await row.getByText(/^Today, \d\d:\d\d$/).waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.getByRole("button", { name: "Reconnect, then retry 1" }).click();
  await page.waitForURL(/\/connect\//);
  await page.getByRole("button").click();
  await page.getByLabel("Username").fill("ended");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL(/\/app\/accounts$/);
  // The pages of the simulated platform have no icon, which the browser complains about.
  const before = complaints.length;
  await row.getByText("Works", { exact: true }).waitFor();
  await whenPost(tenant.api, id, "published");
  await tenant.api.call("DELETE", `/posts/${later.id}`);

  await row.getByRole("button", { name: "More actions for ended" }).click();
  await page.getByRole("menuitem", { name: "Disconnect…" }).click();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Disconnect", exact: true }).click();
  await row.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Connect account" }).click();
  await page.getByRole("dialog").getByText("Bluesky").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  expect(complaints.slice(before)).toEqual([]);
});

test("a session without the right to change accounts sees them and no button that changes one, and a phone offers what it may open and the way out", async () => {
  const apiKey = await createKey(system, tenant.id, "accounts:read");
  const options = { apiKey, path: "/accounts", width: 390 };
  await using dashboard = await openDashboard(browser, system, tenant.id, options);
  const { page } = dashboard;
  await page.getByText("This session can see accounts, not change them.").waitFor();
  await page.getByText("Telegram").first().waitFor();
  expect(await page.getByRole("button", { name: /Connect|Reconnect/ }).count()).toBe(0);
  expect(await page.getByRole("link", { name: /Posts|Comments|New post/ }).count()).toBe(0);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
});
