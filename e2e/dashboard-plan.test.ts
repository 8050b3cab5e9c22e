import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { dateIn, lastSunday, secondSundayOfMarch } from "./support/dates.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { openDashboard, show } from "./support/observers/dashboard.ts";
import { create, inMs, whenPost } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/** Journeys through the calendar, the queue slots, the metrics and the status, in a browser. */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
const bluesky = await tenant.connect("bluesky");
afterAll(() => browser.close());

const open = (options: Parameters<typeof openDashboard>[3] = {}) =>
  openDashboard(browser, system, tenant.id, options);

const dayOf = (page: Page, day: string) => page.locator(`[data-day="${day}"]`);
const chipOn = (page: Page, day: string, text: string) =>
  dayOf(page, day).getByRole("link", { name: text });

async function schedule(content: string, scheduledAt: string): Promise<string> {
  const { id } = await create(tenant.api, { content, accountIds: [bluesky], scheduledAt });
  return id;
}

const timeOf = async (id: string) =>
  (await tenant.api.call<{ scheduledAt: string }>("GET", `/posts/${id}`)).body.scheduledAt;

/** Lifts a chip and holds it over a day, so that what the drop would do can be read. */
async function hold(chip: Locator, day: Locator): Promise<void> {
  const { mouse } = chip.page();
  await chip.scrollIntoViewIfNeeded();
  const [from, to] = await Promise.all([chip.boundingBox(), day.boundingBox()]);
  if (from === null || to === null) throw new Error("the chip or the day is not drawn");
  await mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await mouse.down();
  await mouse.move(to.x + to.width / 2, to.y + Math.min(to.height - 8, 60), { steps: 8 });
}

test("a scheduled post is dragged to another day, moved back with U, moved again by keyboard alone, and published", async () => {
  const [day, next] = [dateIn(10), dateIn(11)];
  const id = await schedule("Dragged", `${day}T03:00:00.000Z`);
  await using dashboard = await open({ path: `/calendar?day=${day}` });
  const { page, complaints } = dashboard;
  await hold(chipOn(page, day, "Dragged"), dayOf(page, next));
  await page.getByText("same local time, 1 account").waitFor();
  await page.mouse.up();
  await chipOn(page, next, "Dragged").waitFor();
  await expect.poll(() => timeOf(id)).toBe(`${next}T03:00:00.000Z`);
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.keyboard.press("u");
  await chipOn(page, day, "Dragged").waitFor();
  await expect.poll(() => timeOf(id)).toBe(`${day}T03:00:00.000Z`);

  await dayOf(page, dateIn(9)).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("m");
  await page.getByLabel("Time", { exact: true }).fill("13:30");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Move to 13:30" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => timeOf(id)).toBe(`${day}T04:30:00.000Z`);

  await show(page, "/calendar");
  const body = { scheduledAt: inMs(3_000) };
  expect((await tenant.api.call("PATCH", `/posts/${id}`, { body })).status).toBe(200);
  // The calendar learns of both changes without a reload.
  await page.getByRole("link", { name: /^Published.*Dragged/ }).focus();
  await page.keyboard.press("m");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await whenPost(tenant.api, id, "published");
  expect(await tenant.countVisible("Dragged")).toBe(1);
  expect(complaints).toEqual([]);
});

test("a post that was changed while it was dragged is not moved without both versions being shown", async () => {
  const [day, next] = [dateIn(20), dateIn(21)];
  const id = await schedule("Changed", `${day}T03:00:00.000Z`);
  await using dashboard = await open({ path: `/calendar?day=${day}` });
  const { page } = dashboard;
  await page.route("**/app/api/events", (route) => route.abort());
  const lifted = page.waitForResponse((response) => response.url().endsWith(id));
  await hold(chipOn(page, day, "Changed"), dayOf(page, next));
  await lifted;
  const theirs = `${day}T05:00:00.000Z`;
  await tenant.api.call("PATCH", `/posts/${id}`, { body: { scheduledAt: theirs } });
  await page.mouse.up();
  await page.getByRole("heading", { name: /^Someone changed this post/ }).waitFor();
  await page.getByText("14:00").first().waitFor();
  await page.getByRole("button", { name: "Keep theirs" }).click();
  expect(await timeOf(id)).toBe(theirs);
});

test("the dialog of a post stays when another person moves the post to another month, and says so", async () => {
  const day = dateIn(20);
  const id = await schedule("Moved far", `${day}T03:00:00.000Z`);
  await using dashboard = await open({ path: `/calendar?day=${day}` });
  const { page } = dashboard;
  await chipOn(page, day, "Moved far").focus();
  await page.keyboard.press("m");
  await page.getByLabel("Time", { exact: true }).fill("13:30");
  const theirs = `${dateIn(90)}T05:00:00.000Z`;
  await tenant.api.call("PATCH", `/posts/${id}`, { body: { scheduledAt: theirs } });
  await page.locator(`[data-post="${id}"]`).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Move to 13:30" }).click();
  await page.getByRole("heading", { name: /^Someone changed this post/ }).waitFor();
  await page.getByRole("button", { name: "Keep theirs" }).click();
  expect(await timeOf(id)).toBe(theirs);
});

test("the month is drawn out of sight while the pointer is on its link, and a press shows it", async () => {
  await using dashboard = await open({ path: "/posts" });
  const { page } = dashboard;
  const link = page.getByRole("link", { name: "Calendar", exact: true });
  const grid = page.locator("[role=grid]");
  const heading = page.getByRole("heading", { level: 1 });
  await link.hover();
  await grid.waitFor({ state: "attached" });
  expect(await grid.isVisible()).toBe(false);
  expect(await heading.allTextContents()).toEqual(["Posts"]);
  await heading.hover();
  await grid.waitFor({ state: "detached" });
  await link.hover();
  await grid.waitFor({ state: "attached" });
  await page.mouse.down();
  await page.mouse.up();
  await grid.waitFor();
  expect(await heading.allTextContents()).toEqual(["Calendar"]);
  await page.keyboard.press("]");
  await expect.poll(() => new URL(page.url()).search).toMatch(/day=/);
});

test("the hours of a week fill a high window", async () => {
  await using dashboard = await open({ path: "/calendar?view=week", height: 1200 });
  const { page } = dashboard;
  const bottom = async (name: string) => {
    const box = await page.locator(name).boundingBox();
    return box === null ? 0 : box.y + box.height;
  };
  expect(await bottom("[role=grid]")).toBeGreaterThan(1_100);
  await page.setViewportSize({ width: 1280, height: 900 });
  await expect.poll(() => bottom("[role=grid]")).toBeLessThan(900);
});

test("a draft that is dragged to another day is scheduled only when that is confirmed", async () => {
  const other = await openTenant(system);
  const [day, next] = [dateIn(10), dateIn(11)];
  const accountIds = [await other.connect("bluesky")];
  const { id } = await create(other.api, {
    content: "Not yet",
    accountIds,
    isDraft: true,
    scheduledAt: `${day}T03:00:00.000Z`,
  });
  const read = async () =>
    (await other.api.call<{ status: string; scheduledAt: string }>("GET", `/posts/${id}`)).body;
  await using dashboard = await openDashboard(browser, system, other.id, {
    path: `/calendar?day=${day}`,
  });
  const { page, complaints } = dashboard;
  const drop = async () => {
    await hold(chipOn(page, day, "Not yet"), dayOf(page, next));
    await page.mouse.up();
    return page.getByRole("dialog", { name: "Schedule “Not yet”" });
  };
  await (await drop()).getByRole("button", { name: "Cancel" }).click();
  expect(await read()).toMatchObject({ status: "draft", scheduledAt: `${day}T03:00:00.000Z` });
  await (await drop()).getByRole("button", { name: "Schedule for 12:00" }).click();
  await page.getByText(/^Scheduled for .*, 12:00 Seoul\.$/).waitFor();
  expect(await read()).toMatchObject({ status: "scheduled", scheduledAt: `${next}T03:00:00.000Z` });
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("a click on an empty place of a day proposes the next free slot of that day, else the next full hour", async () => {
  const other = await openTenant(system);
  const day = dateIn(12);
  await other.api.call("POST", "/queue-slots", {
    body: {
      name: "Late",
      weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
      times: ["21:15"],
      timezone: "Asia/Seoul",
      startsOn: day,
      endsOn: day,
    },
  });
  await using dashboard = await openDashboard(browser, system, other.id, {
    path: `/calendar?day=${day}`,
  });
  const { page } = dashboard;
  await dayOf(page, day).getByText("free 21:15").waitFor();
  await dayOf(page, day).focus();
  await page.keyboard.press("Enter");
  // The composer takes the time over from its address.
  await page.waitForURL(/\/app\/posts\/new/);
  await page.getByLabel("Time", { exact: true }).waitFor();
  expect(await page.getByLabel("Time", { exact: true }).inputValue()).toBe("21:15");
  await show(page, `/calendar?day=${day}`);
  await dayOf(page, dateIn(13)).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/app\/posts\/new/);
  expect(await page.getByLabel("Time", { exact: true }).inputValue()).toMatch(/^\d\d:00$/);
});

describe("around changes of the clocks", () => {
  test("a drag to a clock that does not exist in Berlin says and takes the first instant after the gap", async () => {
    const sunday = lastSunday(3);
    const friday = dateIn(-2, sunday);
    const id = await schedule("Into the gap", `${friday}T01:30:00.000Z`);
    await using dashboard = await open({
      timezoneId: "Europe/Berlin",
      path: `/calendar?view=week&day=${sunday}`,
    });
    const { page, complaints } = dashboard;
    await page.getByText("23 hours").waitFor();
    await page.getByText("02:00 to 03:00 does not exist.").waitFor();
    await hold(chipOn(page, friday, "Into the gap"), dayOf(page, sunday));
    await page.getByText("02:30 does not exist, goes out at 03:00").waitFor();
    await page.mouse.up();
    await chipOn(page, sunday, "03:00").waitFor();
    await expect.poll(() => timeOf(id)).toBe(`${sunday}T01:00:00.000Z`);
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.keyboard.press("u");
    await expect.poll(() => timeOf(id)).toBe(`${friday}T01:30:00.000Z`);
    expect(complaints).toEqual([]);
  });

  test("a drag to a clock that comes twice in Berlin takes the first, and Move to offers the second", async () => {
    const sunday = lastSunday(10);
    const saturday = dateIn(-1, sunday);
    const id = await schedule("Twice", `${saturday}T00:30:00.000Z`);
    await using dashboard = await open({
      timezoneId: "Europe/Berlin",
      path: `/calendar?view=week&day=${sunday}`,
    });
    const { page, complaints } = dashboard;
    await page.getByText("25 hours").waitFor();
    await hold(chipOn(page, saturday, "Twice"), dayOf(page, sunday));
    await page.getByText("02:30 comes twice, this is the first (UTC+2)").waitFor();
    await page.mouse.up();
    await expect.poll(() => timeOf(id)).toBe(`${sunday}T00:30:00.000Z`);
    await chipOn(page, sunday, "Twice").focus();
    await page.keyboard.press("m");
    await page.getByRole("button", { name: "The second (UTC+1)" }).click();
    await page.getByRole("button", { name: "Move to 02:30" }).click();
    await expect.poll(() => timeOf(id)).toBe(`${sunday}T01:30:00.000Z`);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await chipOn(page, sunday, "Twice").focus();
    await page.keyboard.press("m");
    await page.getByRole("button", { name: "The second (UTC+1)", pressed: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("a drag across the change in New York keeps the local clock, also near midnight", async () => {
    const sunday = secondSundayOfMarch();
    const [friday, monday] = [dateIn(-2, sunday), dateIn(1, sunday)];
    // 23:30 in New York, which is the next day in UTC before and after the change.
    const id = await schedule("Near midnight", `${dateIn(-1, sunday)}T04:30:00.000Z`);
    await using dashboard = await open({
      timezoneId: "America/New_York",
      path: `/calendar?day=${friday}`,
    });
    const { page, complaints } = dashboard;
    await hold(chipOn(page, friday, "Near midnight"), dayOf(page, monday));
    await page.getByText("same local time, 1 account").waitFor();
    await page.mouse.up();
    await chipOn(page, monday, "23:30").waitFor();
    await expect.poll(() => timeOf(id)).toBe(`${dateIn(2, sunday)}T03:30:00.000Z`);
    expect(complaints).toEqual([]);
  });
});

test("a queue rule is created, makes slots, is paused, changed and deleted", async () => {
  const other = await openTenant(system);
  await using dashboard = await openDashboard(browser, system, other.id, { path: "/queue" });
  const { page, complaints } = dashboard;
  await page.getByRole("button", { name: "New rule" }).click();
  await page.getByRole("button", { name: "Create the rule" }).click();
  await page.getByText("A rule needs a name.").waitFor();
  await page.getByLabel("Name").fill("Every morning");
  await page.getByLabel("Sat").check();
  await page.getByLabel("Sun").check();
  const [first, inWords] = [page.getByLabel("First day"), page.getByText("Tue 1 Jan 2030")];
  await first.fill("2030-01-01");
  await inWords.waitFor();
  await first.fill("");
  await inWords.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create the rule" }).click();
  await page.getByText("Every day at 09:30").waitFor();
  expect(await page.getByRole("link", { name: /^free/ }).count()).toBeGreaterThan(12);
  await page.getByRole("button", { name: "Pause “Every morning”" }).click();
  await page.getByText("No rule makes a slot in these two weeks.").waitFor();
  await page.getByRole("button", { name: "Edit “Every morning”" }).click();
  await page.getByLabel("Name").fill("Mornings");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Go on editing" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Edit “Mornings”" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete the rule" }).click();
  await page.getByText("There are no queue slots yet.").waitFor();
  expect(complaints).toEqual([]);
});

test("numbers of a published post and what holds publishing back are shown", async () => {
  const x = await tenant.connect("x");
  const { id } = await create(tenant.api, { content: "Counted", accountIds: [x] });
  await whenPost(tenant.api, id, "published");
  await tenant.api.call("POST", `/posts/${id}/metrics/refresh`);
  await using dashboard = await open({ path: `/metrics?post=${id}` });
  const { page, complaints } = dashboard;
  await page.getByRole("heading", { name: "The same in numbers" }).waitFor();
  await page.getByRole("img", { name: /^Seen since it was sent: a line for 1 account/ }).waitFor();
  await system.operate("pause", "--workspace", tenant.id, "--reason", "stock taking");
  await show(page, "/status");
  await page.getByText("The operator has paused this workspace.").waitFor();
  await page.getByText("stock taking").waitFor();
  await system.operate("resume", "--workspace", tenant.id);
  expect(complaints).toEqual([]);
});
