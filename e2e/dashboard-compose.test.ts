import { sampleJpeg } from "@postrider/local/demo/sample-media";
import type { Page, Route } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { dateIn, lastSunday } from "./support/dates.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { findAccessibilityFaults, openDashboard, show } from "./support/observers/dashboard.ts";
import { create } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/** Journeys through the composer and the files, in a real browser. */

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
const bluesky = await tenant.connect("bluesky");
await tenant.connect("x");
const youtube = await tenant.connect("youtube");
afterAll(() => browser.close());

const PICTURE = { name: "bridge.jpg", mimeType: "image/jpeg", buffer: Buffer.from(sampleJpeg()) };
const LONG = "The winter ride sale opens on Friday at six. ".repeat(8).trim();

interface PostJson {
  readonly id: string;
  readonly content: string;
  readonly status: string;
  readonly createdVia: string;
  readonly scheduledAt: string | null;
  readonly mediaIds: readonly string[];
  readonly options: Readonly<Record<string, { readonly content?: string }>>;
  readonly targets: readonly { readonly accountId: string }[];
}

const open = (options: Parameters<typeof openDashboard>[3] = {}) =>
  openDashboard(browser, system, tenant.id, options);
const readPost = async (id: string) =>
  (await tenant.api.call<PostJson>("GET", `/posts/${id}`)).body;

async function listPosts(content: string): Promise<readonly PostJson[]> {
  const { body } = await tenant.api.call<{ posts: PostJson[] }>("GET", "/posts?limit=100");
  return body.posts.filter((post) => post.content === content);
}

/** The browser itself notes every answer that refuses something. */
const REFUSAL = /^Failed to load resource: .*(?:status of 4\d\d|net::ERR_)/;
const unexpected = (complaints: readonly string[]) =>
  complaints.filter((line) => !REFUSAL.test(line));

const textOf = (page: Page) => page.getByLabel("Text for all accounts");
const tileOf = (page: Page, platform: string) =>
  page.getByRole("region", { name: "Publish to" }).getByTitle(`· ${platform}`);
const idOf = (page: Page) => /\/app\/posts\/([0-9a-f-]+)$/.exec(page.url())?.[1] ?? "";
const whenSent = async (page: Page) => {
  await page.waitForURL(/\/app\/posts\/[0-9a-f-]{36}$/);
  return idOf(page);
};

test("a post with a picture is written, its faults are cured by their buttons, and it is scheduled", async () => {
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  await page.getByRole("link", { name: "New post" }).first().waitFor();
  await page.keyboard.press("c");
  await page.getByRole("button", { name: "Choose all" }).click();
  await textOf(page).fill(LONG);
  await page.locator("input[type=file]").first().setInputFiles(PICTURE);
  await page.getByRole("button", { name: "Add a description" }).click();
  await page.getByLabel("Description", { exact: true }).fill("A bridge at dusk");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "A bridge at dusk" }).waitFor();

  await page.getByRole("button", { name: "Leave YouTube out" }).first().click();
  await page.getByRole("button", { name: "Write a shorter one for Bluesky" }).click();
  await page.getByRole("textbox", { name: /^Text for / }).fill("The sale opens on Friday.");
  await page.getByRole("button", { name: "Write a shorter one for X" }).click();
  await page.getByRole("textbox", { name: /^Text for / }).fill("On Friday.");
  await page.getByRole("heading", { name: /to fix/ }).waitFor({ state: "detached" });

  await page.getByRole("button", { name: "At a time" }).click();
  const day = dateIn(30);
  await page.getByLabel("Date").fill(day);
  await page.getByLabel("Time", { exact: true }).fill("18:00");
  // The form of the browser's own fields follows from its language, not from that of the page.
  await page.getByText(/^\w{3} \d+ \w+ 20\d\d, 18:00 Seoul$/).waitFor();
  await page.getByRole("button", { name: "Schedule for 2 accounts" }).click();
  const post = await readPost(await whenSent(page));
  expect(post).toMatchObject({
    status: "scheduled",
    createdVia: "dashboard",
    scheduledAt: `${day}T09:00:00.000Z`,
    options: { [bluesky]: { content: "The sale opens on Friday." } },
  });
  expect(post.mediaIds).toHaveLength(1);
  expect(post.targets.map(({ accountId }) => accountId)).not.toContain(youtube);
  expect(unexpected(complaints)).toEqual([]);
});

test("a lost connection, a lost answer and a reload lose nothing that was written, and make one post", async () => {
  const text = "Written without a connection";
  await using dashboard = await open({ path: "/posts/new" });
  const { page } = dashboard;
  await tileOf(page, "Bluesky").click();
  await page.context().setOffline(true);
  await textOf(page).fill(text);
  await page.context().setOffline(false);
  await page.reload();
  expect(await textOf(page).inputValue()).toBe(text);

  // The server accepts the post, and its answers do not come back.
  const loseAnswer = async (route: Route) => {
    if (route.request().method() !== "POST") return await route.fallback();
    await route.fetch();
    return await route.abort("connectionreset");
  };
  await page.route("**/api/v1/posts", loseAnswer);
  await page.getByRole("button", { name: "Publish to 1 account now" }).click();
  await page.getByText("The answer was lost.").waitFor();
  await page.reload();
  await page.getByText("This post was sent, and the page was closed").waitFor();
  expect(await textOf(page).inputValue()).toBe(text);
  await page.unroute("**/api/v1/posts", loseAnswer);
  // Nothing has to be read for the composer to know that the post was taken.
  await page.route("**/api/v1/queue-slots*", (route) => route.abort());
  await page.getByRole("button", { name: "Publish to 1 account now" }).click();
  const id = await whenSent(page);
  expect((await listPosts(text)).map((post) => post.id)).toEqual([id]);
  await expect.poll(() => tenant.countVisible(text)).toBe(1);
});

test("a text that is changed after its lost answer is not sent as a second post without being asked", async () => {
  await using dashboard = await open({ path: `/posts/new?text=Before&accounts=${bluesky}` });
  const { page } = dashboard;
  const loseAnswer = async (route: Route) => {
    await route.fetch();
    await route.abort("connectionreset");
  };
  await page.route("**/api/v1/posts", loseAnswer);
  await page.getByRole("button", { name: "Publish to 1 account now" }).click();
  await page.getByText("The answer was lost.").waitFor();
  await page.reload();
  await page.unroute("**/api/v1/posts", loseAnswer);
  await textOf(page).fill("After");
  await page.getByRole("button", { name: "Publish to 1 account now" }).click();
  await page.getByText("This draft was accepted already").waitFor();
  expect(await listPosts("After")).toEqual([]);
  await page.getByRole("link", { name: "Open that post" }).click();
  expect((await readPost(await whenSent(page))).content).toBe("Before");
});

test("a request whose answer was lost is repeated by itself as it was sent, not with what is being written", async () => {
  const query = new URLSearchParams({ text: "Whole sentence", accounts: bluesky });
  await using dashboard = await open({ path: `/posts/new?${query.toString()}` });
  const { page } = dashboard;
  const bodies: string[] = [];
  let isLost = true;
  await page.route("**/api/v1/posts", async (route) => {
    bodies.push((route.request().postDataJSON() as { content: string }).content);
    await (isLost ? route.abort("connectionreset") : route.fallback());
  });
  await page.getByRole("button", { name: "Publish to 1 account now" }).click();
  await page.getByText("The answer was lost.").waitFor();
  await textOf(page).fill("Half a");
  isLost = false;
  await page.getByText("This draft was accepted already").waitFor();
  expect(bodies.at(-1)).toBe("Whole sentence");
  expect(await textOf(page).inputValue()).toBe("Half a");
  expect(await listPosts("Half a")).toEqual([]);
});

test("what is written while the answer is awaited is in no post, and stays", async () => {
  const text = "Sent as it was";
  const query = new URLSearchParams({ text, accounts: bluesky });
  await using dashboard = await open({ path: `/posts/new?${query.toString()}` });
  const { page } = dashboard;
  const sent = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await page.route("**/api/v1/posts", async (route) => {
    const response = await route.fetch();
    sent.resolve();
    await answer.promise;
    await route.fulfill({ response });
  });
  await page.getByRole("button", { name: "Publish to 1 account now" }).click();
  await sent.promise;
  await textOf(page).fill(`${text}, and what came to mind`);
  answer.resolve();
  await page.getByText("This draft was accepted already").waitFor();
  expect(await textOf(page).inputValue()).toBe(`${text}, and what came to mind`);
  await page.reload();
  expect(await textOf(page).inputValue()).toBe(`${text}, and what came to mind`);
  expect(await listPosts(text)).toHaveLength(1);
});

test('"New post" beside a copy of a post goes on with what was being written, and each keeps its text', async () => {
  const draft = { content: "Copied", accountIds: [bluesky], isDraft: true };
  const { id } = await create(tenant.api, draft);
  await using dashboard = await open({ path: "/posts/new" });
  const { page } = dashboard;
  await textOf(page).fill("Half written");
  await show(page, `/posts/new?from=${id}`);
  await expect.poll(() => textOf(page).inputValue()).toBe("Copied");
  await textOf(page).fill("Copied and changed");
  await page.getByRole("link", { name: "New post" }).first().click();
  await expect.poll(() => textOf(page).inputValue()).toBe("Half written");
  await textOf(page).fill("Half written, and more");
  await show(page, `/posts/new?from=${id}`);
  await expect.poll(() => textOf(page).inputValue()).toBe("Copied and changed");
  await show(page, "/posts/new");
  await expect.poll(() => textOf(page).inputValue()).toBe("Half written, and more");
});

test("files stay in the order in which they were chosen, whichever is uploaded first", async () => {
  await using dashboard = await open({ path: "/posts/new" });
  const { page } = dashboard;
  const first = Promise.withResolvers<void>();
  await page.route(/\/api\/v1\/media/, async (route) => {
    if (route.request().postData()?.includes("first.jpg")) await first.promise;
    await route.continue();
  });
  const files = ["first.jpg", "second.jpg"].map((name) => ({ ...PICTURE, name }));
  await page.locator("input[type=file]").first().setInputFiles(files);
  const names = () =>
    page
      .getByRole("button", { name: /^More for/ })
      .evaluateAll((all) =>
        all.map((button) => button.getAttribute("aria-label")?.replace("More for ", "")),
      );
  await expect.poll(names).toEqual(["second.jpg"]);
  first.resolve();
  await expect.poll(names).toEqual(["first.jpg", "second.jpg"]);
});

test("an upload goes on when the composer is left, is seen when one comes back, and closing the page asks", async () => {
  await using dashboard = await open({ path: "/posts/new" });
  const { page, complaints } = dashboard;
  let sending = Promise.withResolvers<void>();
  await page.route(/\/api\/v1\/media\/presign/, async (route) => {
    await sending.promise;
    await route.continue();
  });
  const add = async (name: string) =>
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ ...PICTURE, name });
  const leave = async () => {
    await page.getByRole("link", { name: "Posts", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Posts" }).waitFor();
  };
  const comeBack = async () => await page.getByRole("link", { name: "New post" }).first().click();
  await add("seen.jpg");
  await leave();
  await comeBack();
  await page.getByRole("progressbar", { name: "Uploading seen.jpg" }).waitFor();
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  expect((await asked).type()).toBe("beforeunload");
  await (await asked).dismiss();
  sending.resolve();
  await page.getByRole("button", { name: "More for seen.jpg" }).waitFor();

  sending = Promise.withResolvers<void>();
  await add("later.jpg");
  await leave();
  const isDone = page.waitForResponse(/\/media\/[0-9a-f-]+\/complete/);
  sending.resolve();
  await isDone;
  await comeBack();
  await page.getByRole("button", { name: "More for later.jpg" }).waitFor();
  await page.getByRole("button", { name: "More for seen.jpg" }).waitFor();
  expect(unexpected(complaints)).toEqual([]);
});

test("on a phone, in Korean and in the dark, a post is written, planned in a sheet, looked at, scheduled and moved", async () => {
  const look = { locale: "ko-KR", colorScheme: "dark", width: 390 } as const;
  await using dashboard = await open({ ...look, path: "/posts/new" });
  const { page, complaints } = dashboard;
  const press = (name: string | RegExp) => page.getByRole("button", { name, exact: true }).click();
  await page.getByTitle("· Bluesky").click();
  await page.getByLabel("모든 계정의 공통 본문").fill("휴대폰에서 씁니다");
  await press("미리보기");
  const sheet = page.getByRole("dialog");
  await sheet.getByText("휴대폰에서 씁니다").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await sheet.getByRole("button", { name: "닫기" }).click();
  await press("지금");
  await sheet.getByRole("button", { name: "시간 지정" }).click();
  const day = dateIn(25);
  await sheet.getByLabel("날짜").fill(day);
  await sheet.getByLabel("시각", { exact: true }).fill("18:00");
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await sheet.getByRole("button", { name: "닫기" }).click();
  await press("계정 1개에 예약");
  const id = await whenSent(page);
  expect(await readPost(id)).toMatchObject({ scheduledAt: `${day}T09:00:00.000Z` });
  await press("옮기기…");
  await sheet.getByLabel("시각", { exact: true }).fill("19:30");
  await sheet.getByRole("button", { name: "19:30 시각으로 옮기기" }).click();
  await page.getByText(/^옮겼습니다: /).waitFor();
  expect(await readPost(id)).toMatchObject({ scheduledAt: `${day}T10:30:00.000Z` });
  expect(unexpected(complaints)).toEqual([]);
});

test("two tabs that send one draft at once make one post", async () => {
  const text = "From two tabs";
  await using dashboard = await open({ path: "/posts/new" });
  const { page: first } = dashboard;
  const second = await first.context().newPage();
  await show(second, "/posts/new", first.url());
  await tileOf(first, "Bluesky").click();
  await textOf(first).fill(text);
  await expect.poll(() => textOf(second).inputValue()).toBe(text);
  const send = (page: Page) => page.getByRole("button", { name: /1 account now/ }).click();
  await Promise.all([send(first), send(second)]);
  const ids = [await whenSent(first), await whenSent(second)];
  expect(new Set(ids).size).toBe(1);
  expect(await listPosts(text)).toHaveLength(1);
  await expect.poll(() => tenant.countVisible(text)).toBe(1);
});

describe("two browsers that edit one post", () => {
  const editBoth = async (content: string) => {
    const scheduledAt = `${dateIn(40)}T09:00:00.000Z`;
    const { id } = await create(tenant.api, { content, accountIds: [bluesky], scheduledAt });
    const edit = { path: `/posts/${id}/edit` };
    const [mine, theirs] = await Promise.all([open(edit), open(edit)]);
    for (const { page } of [mine, theirs]) await textOf(page).waitFor();
    await textOf(theirs.page).fill(`${content}, theirs`);
    await theirs.page.getByRole("button", { name: "Save changes" }).click();
    await whenSent(theirs.page);
    await textOf(mine.page).fill(`${content}, mine`);
    await mine.page.getByRole("button", { name: "Save changes" }).click();
    const dialog = mine.page.getByRole("dialog", { name: /Someone changed this post/ });
    await dialog.getByText(`${content}, theirs`).waitFor();
    await dialog.getByText(`${content}, mine`).waitFor();
    return { id, mine, theirs, dialog };
  };

  test("are shown both versions, and one's own goes on under the new version", async () => {
    const { id, mine, theirs, dialog } = await editBoth("Edited");
    await using _mine = mine;
    await using _theirs = theirs;
    expect((await readPost(id)).content).toBe("Edited, theirs");
    await dialog.getByRole("button", { name: "Use mine" }).click();
    await whenSent(mine.page);
    expect((await readPost(id)).content).toBe("Edited, mine");
    expect(unexpected(mine.complaints)).toEqual([]);
  });

  test("the version of the other is taken over where it is kept", async () => {
    const { id, mine, theirs, dialog } = await editBoth("Kept");
    await using _mine = mine;
    await using _theirs = theirs;
    await dialog.getByRole("button", { name: "Keep theirs" }).click();
    await expect.poll(() => textOf(mine.page).inputValue()).toBe("Kept, theirs");
    expect((await readPost(id)).content).toBe("Kept, theirs");
  });
});

test("a text that the account has already names the other post, and is sent again on purpose only", async () => {
  const content = "Sent before";
  const scheduledAt = `${dateIn(50)}T09:00:00.000Z`;
  const { id } = await create(tenant.api, { content, accountIds: [bluesky], scheduledAt });
  const query = new URLSearchParams({ text: content, accounts: bluesky, at: scheduledAt });
  await using dashboard = await open({ path: `/posts/new?${query.toString()}` });
  const { page } = dashboard;
  await page.getByRole("button", { name: "Schedule for 1 account" }).click();
  await page.getByText("Bluesky has this text already.").waitFor();
  const link = page.getByRole("link", { name: "Open that post" });
  expect(await link.getAttribute("href")).toBe(`/app/posts/${id}`);
  await page.getByRole("button", { name: "Send it again on purpose" }).click();
  expect(await whenSent(page)).not.toBe(id);
});

test("a post is written, planned and sent by keyboard alone, and a time that does not exist is said", async () => {
  await using dashboard = await open();
  const { page, complaints } = dashboard;
  await page.getByRole("link", { name: "New post" }).first().waitFor();
  await page.keyboard.press("c");
  await tileOf(page, "Bluesky").press("Space");
  await page.getByRole("button", { name: "Publish to 1 account now" }).waitFor();
  await textOf(page).focus();
  await page.keyboard.type("By keyboard");
  await page.getByRole("button", { name: "At a time" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Place/ }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("berlin");
  await page.keyboard.press("Enter");
  const sunday = lastSunday(3);
  await page.getByLabel("Date").fill(sunday);
  await page.getByLabel("Time", { exact: true }).fill("02:30");
  await page.getByText("02:30 does not exist there that day.").waitFor();
  await page.keyboard.press("Control+Enter");
  const post = await readPost(await whenSent(page));
  expect(post.scheduledAt).toBe(`${sunday}T01:00:00.000Z`);
  expect(unexpected(complaints)).toEqual([]);
});

test("a file that is not accepted says why in its place, and one is imported, described, used and deleted", async () => {
  await using dashboard = await open({ path: "/media" });
  const { page, complaints } = dashboard;
  const notMedia = { name: "poster.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF") };
  const input = page.locator("input[type=file]").first();
  await input.setInputFiles(notMedia);
  await page.getByRole("alert").getByText("This type of file is not accepted.").waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.keyboard.press("/");
  expect(await page.locator("[data-filters] :focus").count()).toBe(1);
  await input.setInputFiles({ ...PICTURE, name: "wheel.jpg" });
  await page.getByRole("button", { name: "wheel.jpg" }).click();
  const detail = page.getByRole("region", { name: "wheel.jpg" });
  await detail.getByLabel("Description", { exact: true }).fill("A wheel");
  await detail.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Description saved.").waitFor();
  await detail.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Keep it" }).click();
  await detail.getByRole("button", { name: "Use in a post" }).click();
  await page.getByRole("button", { name: "A wheel" }).waitFor();
  await show(page, "/media");
  await page.getByRole("button", { name: "wheel.jpg" }).click();
  await detail.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "wheel.jpg" }).waitFor({ state: "detached" });
  expect(unexpected(complaints)).toEqual([]);
});
