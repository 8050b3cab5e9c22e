import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { dateIn } from "./support/dates.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { findAccessibilityFaults, openDashboard, show } from "./support/observers/dashboard.ts";
import { create, whenPost } from "./support/requests/posts.ts";
import { createKey, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
afterAll(() => browser.close());

async function approve(page: Page, username: string): Promise<void> {
  await page.waitForURL(/\/connect\//);
  await page.getByRole("button").click();
  await page.getByLabel("Username").fill(username);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL(/\/app\/accounts$/);
}

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
  await approve(page, "ended");
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

test("connecting an account of Bluesky again sends its failed post again as the button says, and the button that says only Reconnect sends nothing", async () => {
  const owner = await openTenant(system);
  await using dashboard = await openDashboard(browser, system, owner.id, { path: "/start" });
  const { page } = dashboard;
  const issued = await system.simulator.issueAccount("bluesky");
  const { identifier = "", appPassword = "" } = issued.credentials;
  const enter = async (name: string) => {
    await page.getByLabel("Handle").fill(identifier);
    await page.getByLabel("App password").fill(appPassword);
    await page.getByRole("button", { name, exact: true }).click();
  };
  await page.getByRole("button", { name: /^Bluesky/ }).click();
  await enter("Connect");
  await page.getByText(/^Connected: /).waitFor();
  const { body } = await owner.api.call<{ accounts: { id: string }[] }>("GET", "/accounts");
  const bluesky = body.accounts[0]?.id ?? "";
  const x = await owner.connect("x", "untouched");
  const failOn = async (account: string) => {
    await owner.addFault(account, { operation: "publish", mode: "status", status: 401, times: 2 });
    const post = { content: `Failed on ${account}`, accountIds: [account] };
    const { id } = await create(owner.api, post);
    await whenPost(owner.api, id, "failed");
    return id;
  };
  const [there, kept] = [await failOn(bluesky), await failOn(x)];

  await show(page, "/accounts");
  const row = page.getByRole("row", { name: /untouched/ });
  await row.getByRole("button", { name: "Reconnect", exact: true }).click();
  await approve(page, "untouched");
  await row.getByText("Works", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Reconnect, then retry 1" }).click();
  await enter("Connect again");
  await page.getByText(/1 publication is sent again\.$/).waitFor();
  await whenPost(owner.api, there, "published");
  expect(await owner.api.getPost(kept)).toMatchObject({ status: "failed" });
});

test("a session without the right to change accounts sees them and no button that changes one, and a phone offers what it may open and the way out", async () => {
  const apiKey = await createKey(system, tenant.id, "accounts:read");
  const options = { apiKey, path: "/accounts", width: 390 };
  await using dashboard = await openDashboard(browser, system, tenant.id, options);
  const { page } = dashboard;
  await page.getByText("You can see accounts here, not change them.").waitFor();
  await page.getByText("Telegram").first().waitFor();
  expect(await page.getByRole("button", { name: /Connect|Reconnect/ }).count()).toBe(0);
  expect(await page.getByRole("link", { name: /Posts|Comments|New post/ }).count()).toBe(0);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
});
