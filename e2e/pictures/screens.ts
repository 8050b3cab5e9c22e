import type { Page } from "playwright-core";
import { follow } from "../support/observers/dashboard-walk.ts";
import type { LookName } from "./looks.ts";
import { drawScene } from "./scenes.ts";

const TEXT =
  "The winter ride sale opens Friday at six. Gloves, shoe covers and tubeless sealant are 20 % off, and we measure your chain for free while you have a coffee. No booking, just roll in.";

export interface Screen {
  /** Opens what a picture shows. */
  readonly show: (page: Page, open: (path: string) => Promise<void>) => Promise<void>;
  /** Who looks: with the filled workspace, an empty one, a login link, or with nothing. */
  readonly reader?: "newcomer" | "invited" | "guest";
  /** Whether the picture ends at the edge of the window, since what it shows floats. */
  readonly floats?: true;
  /** Whether it spoils the page for the next picture, and may never become ready. */
  readonly isAlone?: true;
  /** Whether it adds files to the workspace, so that the other pictures are taken before. */
  readonly isLast?: true;
  /** In which looks the repository keeps it. */
  readonly kept?: readonly LookName[];
}

/** The looks in which the design shows most screens. */
const ALL: readonly LookName[] = ["light", "dark", "phone"];
const MAIN: readonly LookName[] = [...ALL, "tablet", "wide", "ko-light", "ko-dark", "ko-phone"];

const at =
  (path: string): Screen["show"] =>
  async (_page, open) =>
    await open(path);
const press = async (page: Page, name: RegExp) =>
  await page.getByRole("button", { name }).first().click();
const openPost = async (
  page: Page,
  open: (path: string) => Promise<void>,
  text: RegExp,
  list = "posts",
) => {
  await open(list);
  await page.getByRole("link", { name: text }).first().click();
  await page.locator("main aside").waitFor();
};
const write: Screen["show"] = async (page, open) => {
  // The draft of the picture before is left first, and then forgotten.
  await open("posts");
  await page.evaluate("localStorage.clear()");
  await open(`posts/new?text=${encodeURIComponent(TEXT)}`);
  await press(page, /^(?:Choose all|모두 선택)$/);
  const files = (["bridge", "wheel"] as const).map(async (scene) => ({
    name: `${scene}.jpg`,
    mimeType: "image/jpeg",
    buffer: Buffer.from(await drawScene(scene)),
  }));
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles(await Promise.all(files));
  await page
    .getByRole("button", { name: /^(?:Add a description|설명 추가)$/ })
    .nth(1)
    .waitFor();
  // On a phone the time is behind a button of its own.
  const timed = page.getByRole("button", { name: /^(?:At a time|시간 지정)$/ });
  if (await timed.isVisible()) await timed.click();
  // The server's own rules are asked when the draft has rested.
  await page.getByText(/^(?:YouTube takes exactly|YouTube에는 동영상)/).waitFor();
  await page
    .getByText(/^(?:Instagram takes no post|Instagram에는 )/)
    .waitFor({ state: "detached" });
};

export const SCREENS: Readonly<Record<string, Screen>> = {
  posts: { show: at("posts"), kept: MAIN },
  post: {
    show: async (page, open) => {
      await openPost(page, open, /겨울 코스 3곳/, "posts?tab=needs-you");
      // The cause and its cure are read after the post.
      await page.getByRole("button", { name: /^(?:Reconnect|다시 연결)/ }).waitFor();
    },
    kept: MAIN,
  },
  limit: {
    show: async (page, open) => {
      await openPost(page, open, /정비소 브이로그 8편/, "posts?tab=needs-you");
      await page.getByRole("button", { name: /^(?:Retry at|다시 시도 \()/ }).waitFor();
    },
    kept: ALL,
  },
  publishing: {
    show: async (page, open) => await openPost(page, open, /Neue Werkstattzeiten/),
    kept: ALL,
  },
  calendar: { show: at("calendar"), kept: MAIN },
  week: { show: at("calendar?view=week"), kept: ALL },
  "calendar-list": { show: at("calendar?view=list"), kept: ALL },
  queue: { show: at("queue"), kept: ALL },
  media: {
    show: async (page, open) => {
      await open("media");
      const isWide = (page.viewportSize()?.width ?? 0) >= 1440;
      if (isWide) await press(page, /bridge\.jpg/);
    },
    kept: ALL,
  },
  comments: {
    show: async (page, open) => {
      await open("comments");
      // The titles of the posts are read after the comments.
      await page
        .getByText(/Lastenräder/)
        .first()
        .waitFor();
    },
    kept: ALL,
  },
  "comments-thread": {
    show: async (page, open) => {
      await open("comments");
      await page.locator("[data-row]").first().click();
      await page.getByRole("textbox", { name: /^Reply to|답글/ }).waitFor();
    },
    floats: true,
    kept: ["phone"],
  },
  automations: { show: at("automations"), kept: ALL },
  "past-comments": {
    show: async (page, open) => {
      await open("automations");
      await press(page, /^(?:Try on past comments…|지난 댓글로 시험…)$/);
      const dialog = page.getByRole("dialog");
      const post = dialog.locator("option", { hasText: "Lastenräder" });
      await dialog.locator("select").selectOption((await post.getAttribute("value")) ?? "");
      await dialog
        .getByRole("listitem")
        .filter({ hasText: /^kiez\.kurier/ })
        .waitFor();
    },
    floats: true,
    kept: ALL,
  },
  metrics: { show: at("metrics"), kept: ALL },
  accounts: { show: at("accounts"), kept: ALL },
  "account-settings": {
    show: async (page, open) => {
      await open("accounts");
      await press(page, /^(?:More actions for hangang_bike|hangang_bike의 다른 작업)$/);
      await page.getByRole("menuitem", { name: /^(?:Settings|설정)$/ }).click();
      await page.getByRole("dialog").getByRole("checkbox").first().waitFor();
    },
    floats: true,
    kept: ALL,
  },
  webhooks: {
    show: async (page, open) => {
      await open("webhooks");
      await page
        .getByRole("row", { name: /post\.failed/ })
        .first()
        .click();
      await page.getByText("#3", { exact: true }).waitFor();
    },
    kept: ALL,
  },
  keys: { show: at("keys"), kept: ALL },
  status: { show: at("status"), kept: ALL },
  "posts-new": { show: write, isLast: true, kept: MAIN },
  "posts-new-account": {
    show: async (page, open) => {
      await write(page, open);
      await page.getByRole("tab").nth(1).click();
    },
    isLast: true,
    kept: ALL,
  },
  "posts-new-uploading": {
    isAlone: true,
    show: async (page, open) => {
      await open("posts/new");
      await page.route(/\/api\/v1\/media\/presign/, () => undefined);
      const file = { name: "bridge.jpg", mimeType: "image/jpeg" };
      const buffer = Buffer.from(await drawScene("bridge"));
      await page
        .locator("input[type=file]")
        .first()
        .setInputFiles({ ...file, buffer });
      // It goes on while another screen is shown.
      await follow(page, "/calendar");
      await page.getByRole("heading", { level: 1, name: /^(?:Calendar|캘린더)$/ }).waitFor();
      await follow(page, "/posts/new");
      await page
        .getByText(/bridge\.jpg/)
        .first()
        .waitFor();
    },
    kept: ALL,
  },
  login: { show: async () => undefined, reader: "invited", kept: ALL },
  "login-key": { show: at("login"), reader: "guest" },
  start: { show: at("start"), reader: "newcomer", kept: ALL },
  "empty-posts": { show: at("posts"), reader: "newcomer" },
  "empty-calendar": { show: at("calendar"), reader: "newcomer" },
  "empty-queue": { show: at("queue"), reader: "newcomer" },
  "empty-media": { show: at("media"), reader: "newcomer" },
  "empty-comments": { show: at("comments"), reader: "newcomer" },
  "empty-automations": { show: at("automations"), reader: "newcomer" },
  "empty-metrics": { show: at("metrics"), reader: "newcomer" },
  "empty-accounts": { show: at("accounts"), reader: "newcomer" },
  "empty-webhooks": { show: at("webhooks"), reader: "newcomer" },
  "empty-keys": { show: at("keys"), reader: "newcomer" },
  "empty-status": { show: at("status"), reader: "newcomer" },
  "empty-posts-new": { show: at("posts/new"), reader: "newcomer" },
  "not-found": { show: at("posts/00000000-0000-7000-8000-000000000000") },
  nowhere: { show: at("nowhere") },
  loading: {
    isAlone: true,
    show: async (page) => {
      await page.route("**/api/v1/posts?*", () => undefined);
      await page.goto(new URL("/app/posts", page.url()).href);
      await page.locator("main [aria-busy=true]").first().waitFor();
    },
  },
  offline: {
    isAlone: true,
    show: async (page, open) => {
      await open("posts");
      await page.context().setOffline(true);
      await press(page, /^(?:Scheduled|예약됨)/);
      await page.getByText(/^(?:No connection since|.*연결이 끊겼습니다)/).waitFor();
      await page.locator("main [aria-busy=true]").first().waitFor();
    },
  },
  unavailable: {
    isAlone: true,
    show: async (page) => {
      await page.route("**/api/v1/posts?*", async (route) => await route.fulfill({ status: 503 }));
      await page.goto(new URL("/app/posts", page.url()).href);
      await page
        .getByText(/Postrider cannot answer|지금은 Postrider/)
        .first()
        .waitFor();
    },
  },
  limited: {
    isAlone: true,
    show: async (page, open) => {
      await open("posts");
      const refusal = { status: 429, headers: { "retry-after": "45" } };
      await page.route("**/api/**", async (route) => await route.fulfill(refusal));
      await press(page, /^(?:Scheduled|예약됨)/);
      await page.getByText(/^(?:This workspace sends more|.*1분당 요청 한도)/).waitFor();
      await page.locator("main [aria-busy=true]").first().waitFor();
    },
  },
  "posts-filter": { show: at("posts?platform=bluesky&range=past30") },
  "log-out": {
    show: async (page, open) => {
      await open("posts/new");
      await page.locator("textarea").first().fill(TEXT);
      await open("posts");
      await press(page, /^(?:Workspace|워크스페이스|More$|더보기$)/);
      await press(page, /^(?:Log out|로그아웃)$/);
      await page.getByRole("dialog", { name: /^(?:Log out and|.*로그아웃)/ }).waitFor();
    },
    floats: true,
  },
  move: {
    show: async (page, open) => {
      await openPost(page, open, /Wartungstipp/);
      await press(page, /^(?:Move to…|옮기기…)$/);
      await page.getByRole("dialog").waitFor();
    },
    floats: true,
    kept: ALL,
  },
  delete: {
    show: async (page, open) => {
      await openPost(page, open, /겨울 코스 3곳/, "posts?tab=needs-you");
      await press(page, /^(?:Delete from|계정 \d+개에서 삭제|.*에서 삭제)/);
      await page.getByRole("dialog").waitFor();
    },
    floats: true,
  },
  "delete-publishing": {
    show: async (page, open) => {
      await openPost(page, open, /Neue Werkstattzeiten/);
      await press(page, /^(?:Delete|계정 \d+개에서 삭제|삭제…)/);
      await page.getByRole("dialog").waitFor();
    },
    floats: true,
    kept: ALL,
  },
  "keys-list": {
    show: async (page, open) => {
      await open("posts");
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
    floats: true,
  },
  "session-ended": {
    isAlone: true,
    show: async (page, open) => {
      await open("posts");
      await page.context().clearCookies();
      await page.evaluate("dispatchEvent(new Event('focus'))");
      await page.getByRole("dialog").waitFor();
    },
    floats: true,
  },
};
