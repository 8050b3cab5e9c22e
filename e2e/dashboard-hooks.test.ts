import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import { openDashboard, show } from "./support/observers/dashboard.ts";
import { startReceiver } from "./support/observers/receiver.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/** Journeys through the webhooks and the settings of accounts, in a browser. */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const receiver = await startReceiver(system.webhookPorts.dashboard);
const tenant = await openTenant(system);
afterAll(async () => {
  await browser.close();
  await receiver[Symbol.asyncDispose]();
});

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });

async function subscribe(api: typeof tenant.api, path: string): Promise<string> {
  const body = { url: receiver.url + path, events: ["*"] };
  const answer = await api.call<{ id: string }>("POST", "/webhooks", { body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

test("an endpoint is created with a secret that is shown once, its delivery fails, and the button sends it again", async () => {
  const path = "/created";
  receiver.answer(path, 500, "<b>no such table</b>");
  await using dashboard = await openDashboard(browser, system, tenant.id, { path: "/webhooks" });
  const { page, complaints } = dashboard;
  await page.getByText("No endpoint is told what happens here.").waitFor();
  await button(page, "New endpoint").click();
  await button(page, "Create the endpoint").click();
  await page.getByText(/An endpoint needs an address/).waitFor();
  await page.getByText("Choose at least one event.").waitFor();
  await page.getByRole("textbox", { name: "Address" }).fill(receiver.url + path);
  await page.getByLabel("All of post.*").check();
  await page.keyboard.press("Escape");
  await button(page, "Go on editing").click();
  await button(page, "Create the endpoint").click();
  await page.getByText(/^whsec_/).waitFor();
  await page.keyboard.press("Escape");
  await page.getByLabel("I have stored it in a safe place").check();
  await button(page, "Done").click();

  // The list learns of the attempts without a reload.
  await page.getByRole("row", { name: /^Failed webhook.test 500 × 3/ }).click();
  await page.getByText("Failed after 3 attempts.").waitFor();
  await page.getByText("<b>no such table</b>").waitFor();
  await button(page, "Show the answer to attempt #1").click();
  await page.getByText("Attempt 1", { exact: true }).waitFor();
  await button(page, "Failed").click();
  receiver.answer(path, 204);
  await page.keyboard.press("r");
  await page.getByText("Delivered after 4 attempts.").waitFor();
  await page.getByText("No delivery is like that.").waitFor();
  await button(page, "Show all deliveries").click();
  await page.getByRole("row", { name: /^Delivered webhook.test 204 × 4/ }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByText("Delivered after 4 attempts.").count()).toBe(0);
  await page.getByRole("row", { name: /^Delivered webhook.test/ }).waitFor();
  expect(receiver.eventsAt(path)).toHaveLength(4);
  expect(complaints).toEqual([]);
});

test("an endpoint is changed, paused, resumed, given a new secret and revoked", async () => {
  const other = await openTenant(system);
  await subscribe(other.api, "/changed");
  await using dashboard = await openDashboard(browser, system, other.id, { path: "/webhooks" });
  const { page, complaints } = dashboard;
  await page.getByRole("row", { name: /^Delivered webhook.test/ }).waitFor();
  await button(page, "Edit").click();
  await page.getByLabel("Note").fill("The till");
  await page.getByLabel("At most per second").fill("0");
  await button(page, "Save").click();
  await page.getByText("A number from 1 to 100, or nothing.").waitFor();
  await page.getByLabel("At most per second").fill("5");
  await button(page, "Save").click();
  await page.getByText("The till").first().waitFor();
  await button(page, "More").click();
  await page.getByRole("menuitem", { name: "Pause" }).click();
  await page.getByText("New events are recorded and sent when you resume it.").waitFor();
  await button(page, "Resume").click();
  await page.getByText("The endpoint is active.").waitFor();
  await button(page, "More").click();
  await page.getByRole("menuitem", { name: "Rotate the secret…" }).click();
  await page.getByLabel("The old secret ends").selectOption("0");
  await button(page, "Make a new secret").click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByLabel("I have stored it in a safe place").check();
  await button(page, "Done").click();
  await button(page, "More").click();
  await page.getByRole("menuitem", { name: "Revoke…" }).click();
  await button(page, "Revoke the endpoint").click();
  await page.getByText("No endpoint is told what happens here.").waitFor();
  expect(complaints).toEqual([]);
});

test("an address that is not public is refused at its field", async () => {
  const other = await openTenant(system);
  await using dashboard = await openDashboard(browser, system, other.id, { path: "/webhooks" });
  const { page } = dashboard;
  await button(page, "New endpoint").click();
  await page.getByRole("textbox", { name: "Address" }).fill("http://10.0.0.1/hook");
  await page.getByLabel("Everything, also kinds of events that come later").check();
  await button(page, "Create the endpoint").click();
  await page.getByText("The address is not public.").waitFor();
  expect(await page.getByRole("textbox", { name: "Address" }).getAttribute("aria-invalid")).toBe(
    "true",
  );
});

/** Opens the drawer of the only account of a workspace. */
async function openSettings(page: Page): Promise<void> {
  await show(page, "/accounts");
  await button(page, /^(More actions for .*|.*의 다른 작업)$/).click();
  await page.getByRole("menuitem", { name: /^(Settings|설정)$/ }).click();
  await button(page, /^(Save settings|설정 저장)$/).waitFor();
}

test("settings of an account are changed beside the list, with a fault at its field, and reset to their defaults", async () => {
  const other = await openTenant(system);
  const account = await other.connect("bluesky");
  const languages = async () => {
    const path = `/accounts/${account}/settings`;
    return (await other.api.call<{ settings: object }>("GET", path)).body.settings;
  };
  await using dashboard = await openDashboard(browser, system, other.id);
  const { page } = dashboard;
  await openSettings(page);
  const field = page.getByRole("textbox", { name: "Languages" });
  await field.fill("en, 한국어");
  await button(page, "Save settings").click();
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  await page.keyboard.press("Escape");
  await button(page, "Go on editing").click();
  await field.fill("en, ko");
  await button(page, "Save settings").click();
  await page.getByText("The settings are saved.").waitFor();
  expect(await languages()).toEqual({ languages: ["en", "ko"] });
  await openSettings(page);
  await button(page, "Reset to defaults").click();
  await expect.poll(() => field.inputValue()).toBe("");
  expect(await languages()).toEqual({ languages: [] });
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});
