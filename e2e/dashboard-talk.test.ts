import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import { findAccessibilityFaults, openDashboard, show } from "./support/observers/dashboard.ts";
import { comment as commentOn, whenRuns } from "./support/requests/automations.ts";
import { type Media, publishOn } from "./support/requests/engagement.ts";
import { createKey, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/** Journeys through the comments and the automations, in a browser. */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
afterAll(() => browser.close());

const open = (options: Parameters<typeof openDashboard>[3] = {}) =>
  openDashboard(browser, system, tenant.id, options);

const HOSTILE = `<img src=x onerror="document.title='broken'"> <b>bold</b> javascript:alert(1)`;

describe("comments:", () => {
  let media: Media;
  const comment = (text: string) => system.simulator.addComment(media, { text });
  const replies = () => system.simulator.countCalls("instagram", "reply", media.account);
  beforeAll(async () => {
    media = await publishOn(tenant, "instagram", { content: "Opening hours in winter" });
    await comment("Are you open on Sunday?");
    await comment(HOSTILE);
    // The first page of the inbox makes the server read the comments of the publications.
    await tenant.api.call("GET", `/accounts/${media.accountId}/media/${media.id}/comments`);
  });

  const row = (page: Page, text: string) =>
    page.getByRole("region", { name: "List of comments" }).getByRole("link", { name: text });

  test("a comment is answered once although the answer is lost, its reply is kept meanwhile, and the comment is answered then", async () => {
    await using dashboard = await open({ path: "/comments" });
    const { page } = dashboard;
    await row(page, "Are you open on Sunday?").click();
    const field = page.getByRole("textbox", { name: /^Reply to/ });
    await page.getByRole("button", { name: "Send reply" }).click();
    await page.getByText("Write a reply first.").waitFor();
    await field.fill("From nine to noon.");
    await page.route("**/actions", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await field.press("Control+Enter");
    await page.getByText(/^No answer came\. Your reply is kept/).waitFor();
    await page.unroute("**/actions");
    await page.reload();
    expect(await field.inputValue()).toBe("From nine to noon.");
    await page.getByRole("button", { name: "Send the same again" }).click();
    await page.getByText("On Instagram", { exact: true }).waitFor();
    expect(await field.inputValue()).toBe("");
    expect(await replies()).toBe(1);
    await field.fill("And on Saturday.");
    await page.getByRole("button", { name: "Send reply" }).click();
    await page.getByText("And on Saturday.").and(page.locator("p")).waitFor();
    expect(await page.getByText("Write a reply first.").count()).toBe(0);
    await expect.poll(replies).toBe(2);
    await page.getByRole("button", { name: "Answered", exact: true }).click();
    await row(page, "Are you open on Sunday?").waitFor();
  });

  test("a reply that is too long is not sent, and one that the platform refuses can be put back into the field", async () => {
    const post = await publishOn(tenant, "x", { content: "Winter tyres" });
    await system.simulator.addComment(post, { text: "Which width?" });
    await tenant.api.call("GET", `/accounts/${post.accountId}/media/${post.id}/comments`);
    await using dashboard = await open({ path: `/comments?account=${post.accountId}` });
    const { page, complaints } = dashboard;
    const field = page.getByRole("textbox", { name: /^Reply to/ });
    await page.getByText(/^X takes replies only where/).waitFor();
    await field.fill("가".repeat(141));
    await page.getByText("This is longer than a reply on X may be.").waitFor();
    await page.getByRole("button", { name: "Send reply" }).click();
    await field.fill("Both widths.");
    await page.getByRole("button", { name: "Send reply" }).click();
    await page.getByText("Not sent").waitFor();
    expect(await field.inputValue()).toBe("");
    await page.getByRole("button", { name: "Put it back into the field" }).click();
    expect(await field.inputValue()).toBe("Both widths.");
    expect(complaints).toEqual([]);
  });

  test("a hostile comment is shown as text, is hidden, shown again, and marked as done and open", async () => {
    await using dashboard = await open({ path: "/comments" });
    const { page, complaints } = dashboard;
    await row(page, "<b>bold</b>").click();
    const thread = page.getByRole("region", { name: /^Comment by/ });
    await thread.getByText(HOSTILE, { exact: true }).waitFor();
    expect(await page.title()).toContain("Comments");
    const bubble = thread.getByRole("article").filter({ hasText: HOSTILE });
    await bubble.getByRole("button", { name: "Hide" }).click();
    await bubble.getByText("Hidden: only you see it").waitFor();
    await bubble.getByRole("button", { name: "Show again" }).click();
    await bubble.getByRole("button", { name: "Hide" }).waitFor();
    await bubble.getByRole("button", { name: "Needs no answer" }).click();
    await row(page, "<b>bold</b>").waitFor({ state: "detached" });
    await bubble.getByRole("button", { name: "Open again" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.keyboard.press("u");
    await row(page, "<b>bold</b>").waitFor();
    expect(complaints).toEqual([]);
  });

  test("without a connection the comments of another tab are shown for 2 s at most", async () => {
    await using dashboard = await open({ path: "/comments?tab=all" });
    const { page } = dashboard;
    await row(page, "Are you open on Sunday?").waitFor();
    await page.context().setOffline(true);
    await page.getByRole("button", { name: /^Done/ }).press("Enter");
    await page.locator("main [aria-busy=true]").first().waitFor();
    await row(page, "Are you open on Sunday?").waitFor({ state: "detached" });
    await page.context().setOffline(false);
    await page.getByRole("button", { name: /^All/ }).press("Enter");
    await row(page, "Are you open on Sunday?").waitFor();
  });

  test("new comments wait behind a button while the list is read, J and K move over it, and a phone shows the list or the conversation", async () => {
    await using dashboard = await open({ width: 390, path: "/comments?tab=all" });
    const { page, complaints } = dashboard;
    await row(page, "<b>bold</b>").waitFor();
    await comment("Do you sell tubes?");
    await tenant.api.call("GET", `/accounts/${media.accountId}/media/${media.id}/comments`);
    await page.getByRole("button", { name: "One new comment" }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: /^Reply to/ }).waitFor();
    await row(page, "Do you sell tubes?").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Back to the list" }).click();
    await row(page, "Do you sell tubes?").waitFor();
    expect(complaints).toEqual([]);
  });
});

describe("automations:", () => {
  test("a rule is written, tried on texts, activated, answers a comment with a run, is paused and deleted", async () => {
    const media = await publishOn(tenant, "facebook", { content: "New city bikes" });
    await system.simulator.addComment(media, { text: "Which price?" });
    await system.simulator.addComment(media, { text: "Which colours?" });
    await using dashboard = await open({ path: "/automations" });
    const { page, complaints } = dashboard;
    await page.getByText("Sending is blocked on this installation.").waitFor();
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("button", { name: "Create the rule" }).click();
    await page.getByText("A rule needs a name.").waitFor();
    await page.getByLabel("Name").fill("Price list");
    await page.getByLabel("Account").selectOption(media.accountId);
    await page.getByRole("button", { name: "chosen posts" }).click();
    await page.getByLabel("New city bikes").check();
    await page.getByLabel("Add a word").fill("price, 가격");
    await page.keyboard.press("Enter");
    await page.getByLabel("Add an excluded word").fill("refund");
    await page.getByLabel("Private reply").fill("Here is our price list.");
    await page.getByRole("link", { name: "Posts", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Posts" }).waitFor();
    await page.goBack();
    expect(await page.getByLabel("Private reply").inputValue()).toBe("Here is our price list.");
    await page.getByLabel("Try it").fill("What is the PRICE?");
    await page.getByText("Would reply: has “price”").waitFor();
    await page.getByLabel("Try it").fill("The price of a refund?");
    await page.getByText("No reply: has “refund”").waitFor();
    await page.getByLabel("Try it").fill("priceless");
    await page.getByText("No reply: has none of the words").waitFor();

    await page.route("**/partner-dm-rules", async (route) => {
      if (route.request().method() === "POST") await route.fetch();
      await (route.request().method() === "POST" ? route.abort() : route.continue());
    });
    await page.getByRole("button", { name: "Create the rule" }).click();
    await page.getByText(/^The rule was not saved/).waitFor();
    await page.unroute("**/partner-dm-rules");
    await page.getByRole("button", { name: "Create the rule" }).click();
    await page.getByText(/is made as a draft/).waitFor();
    const { body } = await tenant.api.call<{ rules: readonly { id: string; mediaIds: unknown }[] }>(
      "GET",
      "/automations/partner-dm-rules",
    );
    expect(body.rules.map(({ mediaIds }) => mediaIds)).toEqual([[media.id]]);

    await page.getByRole("button", { name: "Try on past comments…" }).click();
    await page.getByText("1 of 2 comments would get a private reply.").waitFor();
    const past = page.getByRole("dialog").getByRole("listitem");
    await past.filter({ hasText: "Which price?" }).getByText("Would reply").waitFor();
    await past.filter({ hasText: "Which colours?" }).getByText("No match").waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Close" }).click();

    await page.getByRole("button", { name: "Activate", exact: true }).click();
    await page.getByText(/is active\. It answers/).waitFor();
    await commentOn(system, media, "How is the price?");
    await whenRuns(tenant, body.rules[0]?.id ?? "", 1);
    await page.getByRole("cell", { name: "Sending is blocked" }).waitFor();
    await page.getByRole("cell", { name: "How is the price?" }).waitFor();
    await page.getByRole("link", { name: /^Price list .*1 run$/ }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("“Price list” is paused.").waitFor();
    await page.getByLabel("Private reply").fill("See our price list.");
    await page.getByText(/^Save the rule first/).waitFor();
    expect(await page.getByRole("button", { name: /^Try on past/ }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Save rule" }).click();
    await page.getByText("The rule is saved.").waitFor();
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("heading", { name: "New rule" }).waitFor();
    expect(await page.getByLabel("Name").count()).toBe(1);
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete the rule…" }).click();
    await page.getByRole("button", { name: "Delete the rule", exact: true }).click();
    await page.getByText("There is no rule yet.").waitFor();
    expect(complaints.filter((text) => !text.includes("ERR_FAILED"))).toEqual([]);
  });
});

test("a session that may only read shows comments and rules without buttons that would fail", async () => {
  const scopes = "comments:read,automations:read,accounts:read,posts:read";
  const apiKey = await createKey(system, tenant.id, scopes);
  await using dashboard = await open({ apiKey, path: "/comments?tab=all" });
  const { page } = dashboard;
  await page.getByText("You can read comments here, not answer them.").waitFor();
  expect(await page.getByRole("button", { name: "Hide" }).count()).toBe(0);
  await show(page, "/automations");
  await page.getByText("You can read automations here, not change them.").waitFor();
  expect(await page.getByRole("button", { name: "New rule" }).count()).toBe(0);
});
