import { eventually } from "@postrider/shared/testing/poll";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import type { PostRecord } from "./support/requests/api.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

interface Connected {
  readonly id: string;
  readonly platform: string;
  readonly username: string;
}

const contexts: BrowserContext[] = [];
/** Secrets of connect links, which no log may contain. */
const linkSecrets: string[] = [];

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
afterAll(() => browser.close());

/** Opens a page in a new browser context, which shares no cookies with other pages. */
async function newPage(options: { readonly locale?: string } = {}): Promise<Page> {
  // JavaScript is off, because every page has to work without it.
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  contexts.push(context);
  return await context.newPage();
}

/**
 * Runs `account connect` until it prints the connect link. The command then keeps waiting for the
 * approval.
 */
async function beginConnect(platform: string) {
  const { promise: url, resolve } = Promise.withResolvers<string>();
  const command = system.operateNoting<Connected>(
    (note) => {
      const { url: link } = note as { url?: string };
      if (link !== undefined) resolve(link);
    },
    "account",
    "connect",
    platform,
    "--workspace",
    tenant.id,
  );
  // The handler keeps a failed command from ending the test run. A test that expects the failure
  // awaits the command itself.
  command.catch(() => undefined);
  const link = await Promise.race([url, command.then(() => "")]);
  linkSecrets.push(link.split("/").at(-1) ?? "");
  return { command, link };
}

/**
 * Returns the name of the Postrider page that the browser shows, from the attribute `data-page` of
 * the page.
 */
const kindOf = (page: Page) => page.locator("main").getAttribute("data-page");

/** Clicks through from the page of the connect link to the authorization page of the platform. */
async function goToPlatform(page: Page, link: string): Promise<void> {
  await page.goto(link);
  expect(await kindOf(page)).toBe("open");
  await page.getByRole("button").click();
  await page.waitForURL((url) => url.href.startsWith(system.local().simulatorUrl));
}

async function approve(page: Page, username: string): Promise<void> {
  await page.getByLabel("Username").fill(username);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL(/\/connect\/callback/);
}

/**
 * Returns the colour of an element. It runs in the browser, whose global names are not in the types
 * of this project.
 */
function colourOf(element: unknown): string {
  const page = globalThis as unknown as {
    getComputedStyle: (element: unknown) => { readonly backgroundColor: string };
  };
  return page.getComputedStyle(element).backgroundColor;
}

async function expectFailure(command: Promise<unknown>, code: string): Promise<void> {
  const failure = await command.then(
    () => undefined,
    (error: unknown) => error as { stderr: string },
  );
  const lines = failure?.stderr.trim().split("\n") ?? [];
  expect(JSON.parse(lines.at(-1) ?? "null")).toMatchObject({ error: { code } });
}

/** Begins to connect an account of a platform that takes eleven seconds to answer. */
async function beginSlowly() {
  const { command, link } = await beginConnect("x");
  const page = await newPage();
  await goToPlatform(page, link);
  await system.simulator.addFault({
    platform: "x",
    operation: "POST /2/oauth2/token",
    mode: "delay",
    delayMs: 11_000,
  });
  const called = page.waitForRequest(/\/connect\/callback/);
  const approved = approve(page, "patient");
  // A failure is that of the test that awaits it.
  approved.catch(() => undefined);
  await called;
  return { command, page, approved };
}
/** The other tests run meanwhile. */
const slow = await beginSlowly();

describe("connecting in a browser:", () => {
  test.each(["x", "facebook", "instagram", "tiktok", "youtube"])(
    "a connect link that is opened in a browser connects an account of %s, and the command-line tool prints the account",
    async (platform) => {
      const { command, link } = await beginConnect(platform);
      const page = await newPage();
      await goToPlatform(page, link);
      await approve(page, "visitor");
      expect(await kindOf(page)).toBe("connected");
      expect(await page.getByRole("listitem").allTextContents()).toEqual(["visitor"]);
      expect(await page.title()).toBe("Connected · Postrider");
      const connected = await command;
      expect(connected).toEqual({
        id: expect.any(String) as string,
        platform,
        username: "visitor",
      });
      const { body } = await tenant.api.call<{ accounts: Connected[] }>("GET", "/accounts");
      expect(body.accounts).toContainEqual(expect.objectContaining(connected));
    },
  );

  test("a post is published on an account that was connected in a browser", async () => {
    const { command, link } = await beginConnect("x");
    const page = await newPage();
    await goToPlatform(page, link);
    await approve(page, "publisher");
    const { id } = await command;
    const post = await tenant.api.createPost("Approved in a browser", [id]);
    await eventually(async () => (await tenant.api.getPost(post.id)).status === "published");
  });

  test("the page to which a platform redirects the user waits for a platform that takes eleven seconds to answer", async () => {
    await slow.approved;
    expect(await kindOf(slow.page)).toBe("connected");
    expect(await slow.command).toMatchObject({ username: "patient" });
  });

  test("a connect link connects every Facebook Page that the user chose, and the command-line tool prints all of them", async () => {
    const { command, link } = await beginConnect("facebook");
    const page = await newPage();
    await goToPlatform(page, link);
    await approve(page, "shop.one, shop.two");
    expect(await page.getByRole("listitem").allTextContents()).toEqual(["shop.one", "shop.two"]);
    const { accounts } = (await command) as unknown as { accounts: Connected[] };
    expect(accounts.map(({ username }) => username).toSorted()).toEqual(["shop.one", "shop.two"]);
  });

  test("the connect pages are in the browser's language, comply with their content security policy and send no referrer to the platform", async () => {
    const { command, link } = await beginConnect("youtube");
    const page = await newPage({ locale: "ko-KR" });
    const complaints: string[] = [];
    const referrers: (string | undefined)[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("request", (request) => {
      if (request.url().startsWith(system.local().simulatorUrl))
        referrers.push(request.headers().referer);
    });
    await page.goto(link);
    expect(await page.locator("html").getAttribute("lang")).toBe("ko");
    expect(await page.title()).toBe("YouTube 연결 · Postrider");
    const button = page.getByRole("button");
    // If the content security policy blocked the page's own style, the button would have the
    // browser's default colour.
    expect(await button.evaluate(colourOf)).toBe("rgb(29, 78, 216)");
    await button.click();
    await page.waitForURL((url) => url.href.startsWith(system.local().simulatorUrl));
    await approve(page, "korean");
    expect(await page.title()).toBe("연결되었습니다 · Postrider");
    expect(complaints.filter((text) => /policy|refused/i.test(text))).toEqual([]);
    expect(referrers[0]).toBeUndefined();
    await command;
  });
});

describe("pages that explain a failure:", () => {
  test("when the user denies the authorization, the page after the redirect says so, and the command-line tool fails with `denied`", async () => {
    const { command, link } = await beginConnect("tiktok");
    const page = await newPage();
    await goToPlatform(page, link);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(/\/connect\/callback/);
    expect(await kindOf(page)).toBe("denied");
    await expectFailure(command, "denied");
  });

  test("the page of a used connect link says that the link was used, and so does the reloaded page to which the platform redirected", async () => {
    const { command, link } = await beginConnect("x");
    const page = await newPage();
    await goToPlatform(page, link);
    await approve(page, "replayer");
    await command;
    expect((await page.reload())?.status()).toBe(410);
    expect(await kindOf(page)).toBe("used");
    const other = await newPage();
    expect((await other.goto(link))?.status()).toBe(410);
    expect(await kindOf(other)).toBe("used");
  });

  test("only the browser that opened a connect link can finish the authorization; another browser is refused", async () => {
    const { command, link } = await beginConnect("x");
    const [right, wrong] = [await newPage(), await newPage()];
    await goToPlatform(right, link);
    await wrong.goto(right.url());
    await approve(wrong, "intruder");
    expect(await kindOf(wrong)).toBe("other_browser");
    await approve(right, "owner");
    expect(await kindOf(right)).toBe("connected");
    expect(await command).toMatchObject({ username: "owner" });
  });

  test("the page of an unknown connect link answers 404, and so does the OAuth callback page with an unknown state", async () => {
    const { baseUrl } = system.local();
    const page = await newPage();
    for (const path of ["callback?state=invented&code=c", "callback", "x".repeat(43), "short"]) {
      expect((await page.goto(`${baseUrl}/connect/${path}`))?.status()).toBe(404);
      expect(await kindOf(page)).toBe("unknown");
    }
  });

  test("the page of an expired connect link says that it expired, and the command-line tool fails with `expired`", async () => {
    const { command, link } = await beginConnect("x");
    await system.sql`
      update accounts.authorizations set expires_at = now()
      where workspace_id = ${tenant.id} and status = 'issued'`;
    const page = await newPage();
    expect((await page.goto(link))?.status()).toBe(410);
    expect(await kindOf(page)).toBe("expired");
    await expectFailure(command, "expired");
  });
});

describe("tokens:", () => {
  test("twelve posts of an account with an expired token are published by two processes with only one token refresh", async () => {
    const id = await tenant.connect("x");
    const { body } = await tenant.api.call<{ accounts: { id: string; externalId: string }[] }>(
      "GET",
      "/accounts",
    );
    const externalId = body.accounts.find((account) => account.id === id)?.externalId ?? "";
    await system.sql`
      update accounts.credentials
      set issued_at = issued_at - interval '7201 seconds', expires_at = expires_at - interval '7201 seconds'
      where account_id = ${id}`;
    const posts = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        tenant.api.createPost(`Expired token ${index}`, [id]),
      ),
    );
    await eventually(async () => {
      const found = await Promise.all(posts.map((post) => tenant.api.getPost(post.id)));
      expect(found.filter(({ status }) => status !== "published")).toEqual([]);
    });
    // The simulator counts each refresh call when it arrives.
    expect(await system.simulator.countCalls("x", "refresh", externalId)).toBe(1);
    const visible = await tenant.listVisible();
    expect(visible.filter(({ account }) => account === externalId)).toHaveLength(12);
  });
});

describe("disconnecting:", () => {
  const connectAgain = (...more: readonly string[]) =>
    system.operate<Connected>(
      "account",
      "connect",
      "bluesky",
      "--workspace",
      tenant.id,
      "--simulated",
      ...more,
    );

  test("after an account is disconnected it is not listed, and no new or due post is published on it until it is connected again", async () => {
    const { id, username } = await connectAgain();
    const due = await tenant.api.call<PostRecord>("POST", "/posts", {
      body: {
        content: "Due after the disconnect",
        accountIds: [id],
        scheduledAt: new Date(Date.now() + 2_000).toISOString(),
      },
    });
    expect(due.status).toBe(202);
    const first = await tenant.api.call("DELETE", `/accounts/${id}`);
    expect(first.status).toBe(204);
    expect(first.headers.get("x-provider-revocation")).toBe("unconfirmed");
    expect(first.headers.has("x-provider-revocation-reason")).toBe(false);
    const again = await tenant.api.call("DELETE", `/accounts/${id}`);
    expect(again.status).toBe(204);
    expect(again.headers.get("x-provider-revocation")).toBe("not_attempted");
    expect(again.headers.get("x-provider-revocation-reason")).toBe("already_disconnected");
    const { body } = await tenant.api.call<{ accounts: Connected[] }>("GET", "/accounts");
    expect(body.accounts.map((account) => account.id)).not.toContain(id);
    const refused = await tenant.api.call<{ error: { details: { code: string }[] } }>(
      "POST",
      "/posts",
      { body: { content: "Too late", accountIds: [id] } },
    );
    expect(refused.status).toBe(422);
    expect(refused.body.error.details[0]?.code).toBe("unknown_account");
    await eventually(async () => {
      const { targets } = await tenant.api.getPost(due.body.id);
      expect(targets[0]?.error?.code).toBe("account_disconnected");
    });
    expect((await connectAgain("--username", username)).id).toBe(id);
    const post = await tenant.api.createPost("Back again", [id]);
    await eventually(async () => (await tenant.api.getPost(post.id)).status === "published");
  });

  test.each([
    ["facebook", "app_wide_grant"],
    ["instagram", "app_wide_grant"],
    ["telegram", "not_verified"],
  ])(
    "when an account of %s is disconnected, the answer says why the platform was not asked to revoke the authorization: %s",
    async (platform, reason) => {
      const id = await tenant.connect(platform);
      const { status, headers } = await tenant.api.call("DELETE", `/accounts/${id}`);
      expect(status).toBe(204);
      expect(headers.get("x-provider-revocation")).toBe("not_attempted");
      expect(headers.get("x-provider-revocation-reason")).toBe(reason);
    },
  );
});

test("no log contains a secret of a platform, of a connect link or of a browser", async () => {
  const secrets = [...(await system.simulator.secrets()), ...linkSecrets];
  expect(secrets.length).toBeGreaterThan(40);
  for (const context of contexts) {
    const cookies = await context.cookies();
    secrets.push(...cookies.map(({ value }) => value));
  }
  const logs = system.logs();
  expect(secrets.filter((secret) => secret !== "" && logs.includes(secret))).toEqual([]);
});
