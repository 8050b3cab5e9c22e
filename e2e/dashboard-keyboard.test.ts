import { sampleJpeg } from "@postrider/local/demo/sample-media";
import type { Page, Route } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import { openDashboard } from "./support/observers/dashboard.ts";
import { createKeyboard } from "./support/observers/keyboard.ts";
import { commentsOn, publishOn } from "./support/requests/engagement.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * One journey through the dashboard by keyboard alone. On the way the focus is always seen, goes
 * forwards only, and returns from each dialog to what opened it.
 */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
await tenant.connect("bluesky");
const x = await tenant.connect("x");
const media = await publishOn(tenant, "instagram", { content: "Opening hours" });
afterAll(() => browser.close());

const JOURNEY_MS = 400_000;
const PICTURE = { name: "bridge.jpg", mimeType: "image/jpeg", buffer: Buffer.from(sampleJpeg()) };

/** An address to which this system may send; nothing needs to listen there. */
const ENDPOINT = `http://127.0.0.1:${system.webhookPorts.screens}/keyboard`;

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });

test(
  "everything is done by keyboard alone: a post with a picture is written, planned, published, sent again and deleted, a comment answered, a rule, an endpoint and a key made and ended",
  { timeout: JOURNEY_MS },
  async () => {
    await system.simulator.addComment(media, { text: "Are you open on Sunday?" });
    await tenant.api.call("GET", commentsOn(media));
    await using dashboard = await openDashboard(browser, system, tenant.id);
    const { page, complaints } = dashboard;
    const keys = createKeyboard(page);
    const go = async (name: string) => {
      await keys.activate(page.getByRole("link", { name }).first());
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await keys.whenFocused(page.locator("#main"));
    };

    // The first stop leads past the navigation.
    await keys.activate(page.getByRole("link", { name: "Skip to content" }));
    await keys.whenFocused(page.locator("#main"));

    await keys.press("c");
    await page.getByRole("heading", { level: 1, name: "New post" }).waitFor();
    const accounts = page.getByRole("region", { name: "Publish to" });
    await keys.activate(accounts.getByTitle("· Bluesky"), "Space");
    await keys.activate(accounts.getByTitle("· X"), "Space");
    const text = page.getByLabel("Text for all accounts");
    await keys.tabTo(text);
    await keys.type("By keyboard");
    const chooser = page.waitForEvent("filechooser");
    await keys.activate(button(page, "Drop, paste or choose"));
    await (await chooser).setFiles(PICTURE);
    const describe = button(page, "Add a description");
    await keys.activate(describe);
    await keys.press("Escape");
    await keys.whenFocused(describe);
    await keys.press("Enter");
    await keys.fill(page.getByLabel("Description", { exact: true }), "A bridge");
    await keys.activate(button(page, "Save"));
    await keys.whenFocused(button(page, "A bridge"));
    await keys.activate(button(page, "At a time"));
    await keys.tabTo(page.getByLabel("Date"));
    // The same day whichever of day and month the browser asks for first.
    await keys.type(`0101${new Date().getUTCFullYear() + 1}`);
    await keys.tabTo(page.getByLabel("Time", { exact: true }));
    await keys.type("0915");
    await keys.press("Control+Enter");
    await page.waitForURL(/\/app\/posts\/[0-9a-f-]{36}$/);
    await keys.whenFocused(page.locator("#main"));

    await tenant.addFault(x, { operation: "publish", mode: "refuse" });
    await button(page, "Move to…").waitFor();
    await keys.press("m");
    await page.getByRole("dialog").waitFor();
    await keys.press("Escape");
    const more = button(page, "More actions for this post");
    await keys.activate(more);
    await keys.press("ArrowDown");
    await keys.press("Escape");
    await keys.whenFocused(more);
    await keys.press("Enter");
    const now = page.getByRole("menuitem", { name: "Publish now" });
    await expect
      .poll(async () => {
        await keys.press("ArrowDown");
        return await now.evaluate((item) => item === item.ownerDocument.activeElement);
      })
      .toBe(true);
    await keys.press("Enter");
    await page.getByRole("heading", { name: "1 of 2 is published. 1 needs you." }).waitFor();
    await keys.press("r");
    const remove = button(page, "Delete from 2 accounts…");
    await keys.activate(remove);
    await keys.press("Escape");
    await keys.whenFocused(remove);
    await keys.press("Enter");
    await keys.activate(button(page, "Delete from 2"));
    await page.getByText("Cancelled").waitFor();
    await expect.poll(() => tenant.countVisible("By keyboard")).toBe(0);

    await keys.press("g");
    await keys.press("i");
    await page.getByRole("link", { name: "Are you open on Sunday?" }).waitFor();
    await keys.press("j");
    await keys.tabTo(page.getByRole("textbox", { name: /^Reply to/ }));
    await keys.type("From nine to noon.");
    await keys.press("Control+Enter");
    await page.getByText("On Instagram", { exact: true }).waitFor();

    await go("Automations");
    await keys.activate(button(page, "New rule"));
    await keys.fill(page.getByLabel("Name"), "Prices");
    await keys.fill(page.getByLabel("Add a word"), "price");
    await keys.press("Enter");
    await keys.fill(page.getByLabel("Private reply"), "Here is our list.");
    await keys.activate(button(page, "Create the rule"));
    await page.getByText(/is made as a draft/).waitFor();
    await keys.activate(button(page, "Activate"));
    await page.getByText(/is active\. It answers/).waitFor();

    // A button that moved when the list comes would lose the focus.
    const { promise: listMayCome, resolve: letListCome } = Promise.withResolvers<void>();
    const hold = (route: Route) => listMayCome.then(() => route.continue());
    await page.route(/\/webhooks(\?|$)/, hold, { times: 1 });
    await go("Webhooks");
    const newEndpoint = button(page, "New endpoint");
    expect(await newEndpoint.count()).toBe(0);
    letListCome();
    await keys.activate(newEndpoint);
    await keys.fill(page.getByRole("textbox", { name: "Address" }), ENDPOINT);
    await keys.activate(page.getByLabel("All of post.*"), "Space");
    await keys.activate(button(page, "Create the endpoint"));
    await keys.activate(page.getByLabel("I have stored it in a safe place"), "Space");
    await keys.activate(button(page, "Done"));
    await keys.activate(button(page, "More"));

    await keys.press("Escape");
    await go("API keys");
    const newKey = button(page, "New key");
    await keys.activate(newKey);
    await keys.press("Escape");
    await keys.whenFocused(newKey);
    await keys.press("Enter");
    await keys.fill(page.getByLabel("Name"), "Report");
    await keys.activate(page.getByLabel("accounts:read"), "Space");
    await keys.press("Enter");
    await keys.activate(page.getByLabel("I have stored it"), "Space");
    await keys.activate(button(page, "Done"));
    await keys.whenFocused(newKey);
    const row = page.getByRole("row", { name: "Report" });
    const revoke = row.getByRole("button", { name: "Revoke…" });
    await keys.activate(revoke);
    await keys.press("Escape");
    await keys.whenFocused(revoke);
    await keys.press("Enter");
    await keys.activate(button(page, "Revoke the key"));
    await row.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  },
);
