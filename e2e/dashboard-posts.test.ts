import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { dateIn } from "./support/dates.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { openDashboard, readWhatIsKept, show, waitForText } from "./support/observers/dashboard.ts";
import { create, inMs, whenPost } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/** Journeys through the login, the list of posts and the page of a post, in a real browser. */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
const bluesky = await tenant.connect("bluesky");
const x = await tenant.connect("x", "reconnected");
afterAll(() => browser.close());

/** A machine with other work publishes slowly. */
const SLOW_MS = 60_000;
const DAY_MS = 86_400_000;

const open = (options: Parameters<typeof openDashboard>[3] = {}) =>
  openDashboard(browser, system, tenant.id, options);

const rowOf = (page: Page, text: string) => page.locator("[data-row]", { hasText: text });

async function approveAtPlatform(page: Page, username: string): Promise<void> {
  await page.waitForURL(/\/connect\//);
  await page.getByRole("button").click();
  await page.getByLabel("Username").fill(username);
  await page.getByRole("button", { name: "Approve" }).click();
}

/** Changes what the page reads about the targets of a post. */
async function changeTargets(page: Page, path: string, facts: Record<string, unknown>) {
  await page.route(path, async (route) => {
    // A repeated question would be answered with 304 and no body.
    const { "if-none-match": _, ...headers } = route.request().headers();
    const response = await route.fetch({ headers });
    const json = (await response.json()) as { targets: readonly object[] };
    const targets = json.targets.map((target) => ({ ...target, ...facts }));
    await route.fulfill({ response, json: { ...json, targets } });
  });
}

test("a post is seen live, one account that failed is connected again and sent again, and the post is deleted", async () => {
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  await tenant.addFault(x, { operation: "publish", mode: "status", status: 401, times: 2 });
  const scheduledAt = inMs(3_000);
  const accountIds = [bluesky, x];
  const { id } = await create(tenant.api, { content: "Seen live", accountIds, scheduledAt });
  // The list learns of the post without a reload.
  await rowOf(page, "Seen live").getByText("Partly published").waitFor();
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await rowOf(page, "Seen live").getByRole("link", { name: "Fix 1 account" }).click();

  await page.getByRole("heading", { name: "1 of 2 is published. 1 needs you." }).waitFor();
  await page.getByText("account_reconnect_required").waitFor();
  await page.getByRole("button", { name: "Reconnect, then retry" }).click();
  await approveAtPlatform(page, "reconnected");
  await page.waitForURL(new RegExp(`/app/posts/${id}$`));
  await page.getByText("1 publication is sent again.").waitFor();
  await page.getByRole("heading", { name: "2 accounts" }).waitFor();
  await page.getByRole("button", { name: "Delete from 2 accounts…" }).waitFor();
  expect(await tenant.countVisible("Seen live")).toBe(2);

  await page.getByRole("button", { name: "Delete from 2 accounts…" }).click();
  await page.getByRole("button", { name: "Delete from 2", exact: true }).click();
  await page.getByText("Cancelled").waitFor();
  await expect.poll(() => tenant.countVisible("Seen live")).toBe(0);
  expect(complaints).toEqual([]);
});

test("a post with an unknown outcome is noted as published by a person who looked, and the link is kept", async () => {
  const telegram = await tenant.connect("telegram");
  await tenant.addFault(telegram, { operation: "publish", mode: "drop_after_commit" });
  const { id } = await create(tenant.api, { content: "Unknown", accountIds: [telegram] });
  await whenPost(tenant.api, id, "failed", SLOW_MS);
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  await rowOf(page, "Unknown").getByRole("link", { name: "Look on Telegram" }).click();
  await page.getByRole("button", { name: "It is there…" }).click();
  await page.getByLabel("Link to the post").fill("http://t.me/c/1");
  await page.getByRole("button", { name: "Note it as published" }).click();
  await page.getByText("This is not an address that begins with https://.").waitFor();
  await page.getByLabel("Link to the post").fill("https://t.me/c/1/2");
  await page.getByRole("button", { name: "Note it as published" }).click();
  await page.getByRole("heading", { name: "1 account", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Open" }).getAttribute("href")).toBe(
    "https://t.me/c/1/2",
  );
  expect(complaints).toEqual([]);
});

test("a post that X has already is noted as published by a person, and another one that X no longer has is sent again, alone", async () => {
  const twin = await tenant.connect("x", "twin");
  const content = "Already there";
  const publish = async (status: "published" | "failed") => {
    const { id } = await create(tenant.api, { content, accountIds: [twin], force: true });
    await whenPost(tenant.api, id, status, SLOW_MS);
    return id;
  };
  const first = await publish("published");
  const [second, third] = [await publish("failed"), await publish("failed")];
  const other = await publish("failed");
  await using dashboard = await open({ path: `/posts/${second}` });
  const { page, complaints } = dashboard;
  await page.getByText("duplicate_on_platform").waitFor();
  await page.getByRole("link", { name: "Look on X" }).waitFor();
  await page.getByRole("button", { name: "It is there…" }).click();
  await page.getByLabel("Link to the post").fill("https://x.com/twin/status/17");
  await page.getByRole("button", { name: "Note it as published" }).click();
  await page.getByRole("heading", { name: "1 account", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Open" }).getAttribute("href")).toBe(
    "https://x.com/twin/status/17",
  );
  expect(await tenant.countVisible(content)).toBe(1);

  await tenant.api.call("DELETE", `/posts/${first}`);
  await expect.poll(() => tenant.countVisible(content), { timeout: SLOW_MS }).toBe(0);
  for (const id of [other, third]) {
    await show(page, `/posts/${id}`);
    await page.getByRole("button", { name: "It is not there…" }).click();
    await page.getByRole("button", { name: "Note it as not published" }).click();
    await page.getByRole("button", { name: "Retry", exact: true }).waitFor();
  }
  // With the keyboard: rows above the button may still grow, and a press of the mouse miss it.
  await page.getByRole("button", { name: "Retry", exact: true }).press("Enter");
  await waitForText(page, "1 publication is sent again.");
  await whenPost(tenant.api, third, "published", SLOW_MS);
  expect(await tenant.api.getPost(other)).toMatchObject({ status: "failed" });
  await page.getByRole("link", { name: "Open" }).waitFor();
  expect(await tenant.countVisible(content)).toBe(1);
  expect(complaints).toEqual([]);
});

test("a post that is there twice has a link to each of the two", async () => {
  const { id } = await create(tenant.api, { content: "Twice there", accountIds: [bluesky] });
  await whenPost(tenant.api, id, "published", SLOW_MS);
  await using dashboard = await open({ path: "/accounts" });
  const { page } = dashboard;
  // No simulated platform makes a second post of one call.
  const error = { code: "duplicate_detected", message: "twice", retryable: false, action: "" };
  const [one, two] = ["https://bsky.app/1", "https://bsky.app/2"];
  await changeTargets(page, `**/api/v1/posts/${id}`, { error, permalink: one });
  const words = { en: "Twice.", ko: "두 번." };
  const cure = { kind: "open_both", words };
  const { code } = error;
  await changeTargets(page, `**/app/api/posts/${id}/targets`, {
    code,
    cause: words,
    cure,
    secondPermalink: two,
  });
  await show(page, `/posts/${id}`);
  await page.getByRole("button", { name: /^Attempts on/ }).click();
  const linkTo = async (name: string) =>
    await page.getByRole("link", { name }).getAttribute("href");
  expect([await linkTo("Open the first"), await linkTo("Open the second")]).toEqual([one, two]);
  // A change of the post makes the page read it again, also while it is closed.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("a post that waits for a limit says when it goes on, and one that failed at a limit from when on a retry helps", async () => {
  const limited = await tenant.connect("bluesky", "limited");
  // Limits of simulated platforms end within seconds.
  await system.sql`
    insert into delivery.account_breakers (account_id, workspace_id, not_before)
    values (${limited}, ${tenant.id}, ${inMs(DAY_MS)})`;
  const { id } = await create(tenant.api, { content: "At a limit", accountIds: [limited] });
  await using dashboard = await open({ path: `/posts/${id}` });
  const { page, complaints } = dashboard;
  await page.getByText("Waiting", { exact: true }).waitFor();
  await page.getByText(/^The account is held back: .* That is in 23 h .*: .* Seoul\./).waitFor();

  // Only a limit that lasts longer than a target may wait lets it fail.
  const error = { code: "rate_limited", message: "slow", retryable: true, action: "" };
  const words = { en: "Too many.", ko: "너무 많음." };
  const until = inMs(2 * DAY_MS);
  await changeTargets(page, `**/api/v1/posts/${id}`, { status: "failed", error });
  await changeTargets(page, `**/app/api/posts/${id}/targets`, {
    status: "failed",
    code: error.code,
    cause: words,
    cure: { kind: "retry_later", words },
    waitsFor: { kind: "held_account", until, pause: null, reason: null },
  });
  await show(page, `/posts/${id}`);
  const retry = page.getByRole("button", { name: /^Retry at .* Seoul$/ });
  await retry.waitFor();
  expect(await retry.isDisabled()).toBe(true);
  await page.getByText(/^in 1 d 23 h$/).waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });

  await show(page, `/posts/${id}`);
  await page.getByText(/^The account is held back/).waitFor();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByText("is stopped if it is not on its way yet").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Cancelled").first().waitFor();
  expect(complaints).toEqual([]);
});

test("a row of the list offers to retry a post that failed at a limit only once the limit has ended", async () => {
  const limited = await tenant.connect("bluesky", "used-up");
  await tenant.addFault(limited, { operation: "publish", mode: "refuse" });
  const { id } = await create(tenant.api, { content: "Used up", accountIds: [limited] });
  await whenPost(tenant.api, id, "failed", SLOW_MS);
  // Limits of simulated platforms end within seconds.
  const until = inMs(2 * DAY_MS);
  await system.sql.begin(async (tx) => {
    await tx`
      update posts.targets set error_code = 'rate_limited', error_retryable = true
      where account_id = ${limited}`;
    await tx`update delivery.publish_tasks set error_code = 'rate_limited' where account_id = ${limited}`;
    await tx`
      insert into delivery.account_breakers (account_id, workspace_id, not_before)
      values (${limited}, ${tenant.id}, ${until})
      on conflict (account_id) do update set not_before = ${until}`;
  });
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  const row = rowOf(page, "Used up");
  const later = row.getByRole("button", { name: /^Retry at .* Seoul$/ });
  await later.waitFor();
  expect(await later.isDisabled()).toBe(true);
  await row.getByText(/^in 1 d 23 h$/).waitFor();

  await system.sql`
    update delivery.account_breakers set not_before = now() where account_id = ${limited}`;
  await page.reload();
  await row.getByRole("button", { name: "Retry 1", exact: true }).click();
  await row.getByText("Published").waitFor();
  expect(complaints).toEqual([]);
});

test("a scheduled post is moved to another time by keyboard alone, and moved back with U", async () => {
  const scheduledAt = `${dateIn(20)}T09:00:00.000Z`;
  const { id } = await create(tenant.api, { content: "Moved", accountIds: [bluesky], scheduledAt });
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  await rowOf(page, "Moved").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/app\/posts\/./);
  await show(page, `/posts/${id}`);
  await page.getByRole("button", { name: "Move to…" }).focus();
  await page.keyboard.press("Enter");
  // Esc closes the dialog and not the page, and the focus is where it was.
  await page.keyboard.press("Escape");
  await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe("Move to…");
  expect(page.url()).toContain(id);
  await page.keyboard.press("Enter");
  await page.getByLabel("Time", { exact: true }).fill("19:30");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Move to 19:30" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText(/^Moved to .*, 19:30 Seoul\.$/).waitFor();
  const timeOf = async () =>
    (await tenant.api.call<{ scheduledAt: string }>("GET", `/posts/${id}`)).body.scheduledAt;
  expect(await timeOf()).toBe(`${dateIn(20)}T10:30:00.000Z`);
  await page.keyboard.press("u");
  await expect.poll(timeOf).toBe(scheduledAt);
  expect(complaints).toEqual([]);
});

test.each([
  ["and the page does not learn of it in time", false],
  ["and the page has learned of it", true],
])(
  "a time that another person changes meanwhile, %s, is not overwritten without being shown",
  async (_title, isLearned) => {
    const day = dateIn(21);
    const scheduledAt = `${day}T09:00:00.000Z`;
    const { id } = await create(tenant.api, {
      content: `Two, ${isLearned}`,
      accountIds: [bluesky],
      scheduledAt,
    });
    await using dashboard = await open({ path: `/posts/${id}` });
    const { page } = dashboard;
    await page.getByRole("button", { name: "Move to…" }).click();
    await page.getByLabel("Time", { exact: true }).fill("19:30");
    const read = `**/api/v1/posts/${id}`;
    if (!isLearned)
      await page.route(read, (route) =>
        route.request().method() === "GET" ? route.abort() : route.continue(),
      );
    const theirs = `${day}T12:00:00.000Z`;
    await tenant.api.call("PATCH", `/posts/${id}`, { body: { scheduledAt: theirs } });
    if (isLearned) await page.getByText("21:00").first().waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Move to 19:30" }).click();
    if (!isLearned) await page.unroute(read);
    await page.getByRole("heading", { name: /^Someone changed this post/ }).waitFor();
    await page.getByRole("dialog").getByText("21:00").waitFor();
    await page.getByRole("button", { name: "Use mine" }).click();
    await expect
      .poll(async () => (await tenant.api.getPost(id)) as unknown)
      .toMatchObject({ scheduledAt: `${day}T10:30:00.000Z` });
    await page.getByRole("dialog").waitFor({ state: "detached" });
  },
);

test("a draft that was changed after it was shown is not published from the list before it was read", async () => {
  const accountIds = [bluesky];
  const draft = { content: "As it was read", accountIds, isDraft: true };
  const { id } = await create(tenant.api, draft);
  await using dashboard = await open();
  const { page } = dashboard;
  const row = rowOf(page, "As it was read");
  await row.waitFor();
  const lists = "**/api/v1/posts?*";
  await page.route(lists, (route) => route.abort());
  await tenant.api.call("PATCH", `/posts/${id}`, { body: { content: "As it is now" } });
  await row.getByRole("button", { name: "More actions for this post" }).click();
  await page.getByRole("menuitem", { name: "Schedule…" }).waitFor();
  await page.getByRole("menuitem", { name: "Publish now" }).click();
  const dialog = page.getByRole("dialog", { name: /^Someone changed this post/ });
  await dialog.getByText("As it is now").waitFor();
  expect(await tenant.api.getPost(id)).toMatchObject({ status: "draft" });
  await page.unroute(lists);
  await dialog.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("heading", { name: "As it is now" }).waitFor();
  await page.getByRole("button", { name: "More actions for this post" }).click();
  await page.getByRole("menuitem", { name: "Publish now" }).click();
  await whenPost(tenant.api, id, "published");
});

test("the list of posts reads on when its end is seen, and the tooltip of a time tells it in UTC too", async () => {
  const busy = await openTenant(system);
  const accountIds = [await busy.connect("bluesky")];
  for (let day = 1; day <= 25; day += 1)
    await create(busy.api, {
      content: `On day ${day}`,
      accountIds,
      scheduledAt: inMs(day * DAY_MS),
    });
  await using dashboard = await openDashboard(browser, system, busy.id);
  const { page, complaints } = dashboard;
  // Rows that are far from what is seen are not drawn.
  const rows = page.locator("[data-row], [data-far]");
  await page.getByText("Showing 20 of 25").waitFor();
  expect(await rows.count()).toBe(20);
  await page.mouse.move(640, 450);
  // A list whose rows are not all laid out yet ends before its end.
  const scroll = async () => {
    await page.mouse.wheel(0, 4_000);
    return await rows.count();
  };
  await expect.poll(scroll).toBe(25);
  await page.getByText("Showing 25 of 25").waitFor();
  const time = rows.last().locator("time");
  await time.hover();
  expect(await time.getAttribute("title")).toMatch(
    / Seoul \(UTC\+9\)\n(?:\w+ )?\d\d:\d\d UTC · in /,
  );
  expect(complaints).toEqual([]);
});

/** The number `place` of the posts that `listMany` lists. */
const manyId = (place: number) => `00000000-0000-7000-8000-${String(place).padStart(12, "0")}`;

/** Answers for the gateway with a hundred posts like the one that it has, an hour between each. */
async function listMany(page: Page): Promise<void> {
  await page.route("**/api/v1/posts?*", async (route) => {
    const { "if-none-match": _, ...headers } = route.request().headers();
    const response = await route.fetch({ headers });
    const json = (await response.json()) as { posts: { id: string; scheduledAt: string }[] };
    const posts = Array.from({ length: 100 }, (_none, place) => {
      const at = Date.parse(json.posts[0]?.scheduledAt ?? "") - place * 3_600_000;
      return { ...json.posts[0], id: manyId(place), scheduledAt: new Date(at).toISOString() };
    });
    await route.fulfill({ response, json: { ...json, posts } });
  });
}

test("of a long list the rows near to what is seen are drawn, the one in focus, and those that keys or the browser's search lead to", async () => {
  const many = await openTenant(system);
  const accountIds = [await many.connect("bluesky")];
  await create(many.api, { content: "One of many", accountIds, scheduledAt: inMs(30 * DAY_MS) });
  await using dashboard = await openDashboard(browser, system, many.id, { path: "/keys" });
  const { page, complaints } = dashboard;
  await listMany(page);
  await show(page, "/posts");
  const row = (place: number) => page.locator(`[data-row="${manyId(place)}"]`);
  const inFocus = () => page.evaluate("document.activeElement.closest('[data-row]')?.dataset.row");
  await row(0).getByRole("link").focus();
  const scroll = async (px: number, place: number) => {
    await page.mouse.wheel(0, px);
    return await row(place).count();
  };
  await page.mouse.move(640, 450);
  await expect.poll(() => scroll(900, 99)).toBe(1);
  await expect.poll(() => row(10).count()).toBe(0);
  expect(await page.locator("[data-row]").count()).toBeLessThan(80);
  // A day has 24 of them. The last one is the first of its day for an hour of each day.
  const placeOf = async (place: number) => Number(await row(place).getAttribute("aria-posinset"));
  expect(await placeOf(99)).toBe(((await placeOf(98)) % 24) + 1);
  expect(await inFocus()).toBe(manyId(0));
  // From the row in focus, which is far from what is seen, to the next one.
  for (let place = 1; place <= 6; place += 1) {
    await page.keyboard.press("j");
    expect(await inFocus()).toBe(manyId(place));
  }
  await expect.poll(() => row(99).count()).toBe(0);

  await page.locator(`[data-far="${manyId(70)}"]`).dispatchEvent("beforematch");
  await row(70).getByRole("button", { name: "More actions for this post" }).click();
  await page.getByRole("menuitem", { name: "Copy" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await inFocus()).toBe(manyId(70));
  await page.evaluate("document.activeElement.blur()");
  await expect.poll(() => scroll(-900, 0)).toBe(1);
  await expect.poll(() => row(80).count()).toBe(0);
  // Something was pressed in it, whose outcome it would show.
  expect(await row(70).count()).toBe(1);
  expect(complaints).toEqual([]);
});

/** Answers for the gateway as it does while it is overloaded, until `end` is called. */
async function refuseLists(page: Page) {
  const path = "**/api/v1/posts?*";
  const error = { code: "unavailable", message: "Postrider cannot answer right now.", details: [] };
  const refused = { count: 0, end: () => page.unroute(path) };
  await page.route(path, async (route) => {
    refused.count += 1;
    await route.fulfill({ status: 503, headers: { "retry-after": "1" }, json: { error } });
  });
  return refused;
}

/** Whether the calendar is there in the frame after a press on its link. */
const OPEN_CALENDAR = `(async () => {
  document.querySelector('nav a[href="/app/calendar"]').click();
  await new Promise(requestAnimationFrame);
  return document.querySelector("[role=grid]") !== null;
})()`;

test("a server that is busy for a moment is not spoken of, and the calendar, prepared meanwhile, is drawn in the frame after a press", async () => {
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  const refused = await refuseLists(page);
  const isSaidToBeBusy = page.getByText("Postrider cannot answer right now.");
  await page.getByRole("button", { name: "Scheduled" }).click();
  await expect.poll(() => refused.count).toBeGreaterThan(0);
  expect(await isSaidToBeBusy.count()).toBe(0);
  await isSaidToBeBusy.waitFor();
  await refused.end();
  await isSaidToBeBusy.waitFor({ state: "detached" });
  const isPrepared = `performance.getEntriesByType("resource")
    .some(({ name }) => name.includes("/app/api/posts?from="))`;
  await expect.poll(() => page.evaluate<boolean>(isPrepared)).toBe(true);
  expect(await page.evaluate<boolean>(OPEN_CALENDAR)).toBe(true);
  expect(complaints).toEqual([]);
});

/** Notes when the title and the tabs of the list appear. */
const NOTE_APPEARANCE = `
  const at = (window.appearedAt = {});
  new MutationObserver(() => {
    for (const name of ["h1", "[data-filters]"])
      if (document.querySelector(name) !== null) at[name] ??= performance.now();
  }).observe(document, { childList: true, subtree: true });`;

test("the list of posts waits 300 ms for what stands above it and would move it", async () => {
  await using dashboard = await open({ path: "/keys" });
  const { page } = dashboard;
  const overview = Promise.withResolvers<void>();
  await page.route("**/app/api/overview", async (route) => {
    await overview.promise;
    await route.continue();
  });
  await page.addInitScript(NOTE_APPEARANCE);
  await show(page, "/posts");
  await page.locator("[data-filters]").waitFor();
  const waited = "appearedAt['[data-filters]'] - appearedAt.h1";
  expect(await page.evaluate<number>(waited)).toBeGreaterThan(290);
  overview.resolve();
});

test("without a connection the page says so and what is not harmed, shows the posts of no other tab, and goes on by itself", async () => {
  const scheduledAt = inMs(10 * DAY_MS);
  await create(tenant.api, {
    content: "Goes out all the same",
    accountIds: [bluesky],
    scheduledAt,
  });
  await using dashboard = await open();
  const { page } = dashboard;
  await rowOf(page, "Goes out all the same").waitFor();
  await page.context().setOffline(true);
  // What appears above the tabs meanwhile moves them away from under a pointer.
  await page.getByRole("button", { name: /^Drafts/ }).press("Enter");
  await page.getByText(/^No connection since/).waitFor();
  await page.locator("main [aria-busy=true]").waitFor();
  expect(await rowOf(page, "Goes out all the same").count()).toBe(0);
  await page.context().setOffline(false);
  await page.getByText(/^No connection since/).waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Scheduled/ }).click();
  await rowOf(page, "Goes out all the same").waitFor();
});

test("a session that ends while a page is open leaves the page as it is, and goes on after a new login", async () => {
  await using dashboard = await open();
  const { page } = dashboard;
  await page.getByRole("button", { name: "Scheduled" }).click();
  await system.operate("dashboard", "revoke", "--workspace", tenant.id);
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  await page.getByLabel("API key").fill(tenant.key);
  await page.getByRole("button", { name: "Log in again" }).click();
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor({ state: "hidden" });
  expect(page.url()).toMatch(/tab=scheduled/);
  expect(await readWhatIsKept(page)).not.toContain(tenant.key.slice(-12));
});

test("the text that is being written when the session ends can be copied, and is still there after a new login", async () => {
  await using dashboard = await open({ path: "/posts/new" });
  const { page } = dashboard;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const text = "Half an hour of writing\nand a second line";
  await page.getByLabel("Text for all accounts").fill(text);
  await system.operate("dashboard", "revoke", "--workspace", tenant.id);
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  await page.getByRole("button", { name: "Copy the text" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(text);
  await page.getByLabel("API key").fill(tenant.key);
  await page.getByRole("button", { name: "Log in again" }).click();
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor({ state: "hidden" });
  expect(await page.getByLabel("Text for all accounts").inputValue()).toBe(text);
});

test("without a stream of changes the page reads every 15 s, gets what is unchanged without a body, and shows what has changed", async () => {
  const draft = { accountIds: [bluesky], isDraft: true };
  await create(tenant.api, { content: "There before", ...draft });
  await using dashboard = await open({ path: "/accounts" });
  const { page } = dashboard;
  await page.route("**/app/api/events", (route) => route.abort());
  const answers = new Map<string, number[]>();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    answers.set(pathname, [...(answers.get(pathname) ?? []), response.status()]);
  });
  await show(page, "/posts");
  await page.getByText("Not live").waitFor();
  const isUnchanged = (path: string) => answers.get(path)?.at(-1) === 304;
  const read = ["/api/v1/posts", "/app/api/overview", "/api/v1/accounts"];
  await expect.poll(() => read.every(isUnchanged), { timeout: SLOW_MS }).toBe(true);
  await create(tenant.api, { content: "Seen without a stream", ...draft });
  await page.getByRole("button", { name: "1 new post" }).click();
  await rowOf(page, "Seen without a stream").waitFor();
  expect(answers.get("/app/api/overview")).not.toContain(500);
});
