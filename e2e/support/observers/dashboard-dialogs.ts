import type { Page } from "playwright-core";
import type { Api } from "../requests/api.ts";
import {
  hostile,
  type HostileField,
  type HostileWorkspace,
} from "../requests/hostile-workspace.ts";
import { create } from "../requests/posts.ts";
import { follow } from "./dashboard-walk.ts";

/** A dialog, and how to open it. */
export interface DialogStop {
  readonly name: string;
  readonly path: string;
  readonly act: (page: Page) => Promise<unknown>;
  readonly title: RegExp;
  readonly shows?: readonly HostileField[];
  /** Where it can be opened, if not everywhere. */
  readonly only?: "wide" | "phone";
}

export const press = async (page: Page, name: string | RegExp) => {
  await page.locator("main").getByRole("button", { name, exact: true }).first().click();
};
const choose = async (page: Page, button: string | RegExp, name: string) => {
  await press(page, button);
  await page.getByRole("menuitem", { name, exact: true }).click();
};
const pressInDialog = async (page: Page, name: string) => {
  await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
};

const ON_MEDIA: readonly DialogStop[] = [
  {
    name: "an import",
    path: "/media",
    act: (page) => press(page, "Import from address"),
    title: /^Import from an address$/,
  },
  {
    name: "the deletion of a file",
    path: "/media",
    act: async (page) => {
      const files = page.getByRole("listitem").filter({ hasText: "unused file" });
      await files.getByRole("img").click();
      await press(page, "Delete");
    },
    title: /^Delete “/,
    shows: ["unused file"],
  },
];

const ON_ACCOUNTS: readonly DialogStop[] = [
  {
    name: "the platforms",
    path: "/accounts",
    act: (page) => press(page, "Connect account"),
    title: /^Connect an account$/,
  },
  {
    name: "what connects an account",
    path: "/accounts",
    act: async (page) => {
      await press(page, "Connect account");
      await page.getByRole("dialog").getByRole("button", { name: "Telegram" }).click();
    },
    title: /^Connect an account of Telegram$/,
  },
  {
    name: "the end of an account",
    path: "/accounts",
    act: (page) => choose(page, /^More actions for /, "Disconnect…"),
    title: /^Disconnect /,
    shows: ["account name"],
  },
];

const ON_RULES: readonly DialogStop[] = [
  {
    name: "the deletion of a queue rule",
    path: "/queue",
    act: async (page) => {
      await press(page, /^Edit/);
      await pressInDialog(page, "Delete");
    },
    title: /^Delete “/,
    shows: ["queue rule"],
  },
  {
    name: "changes that are not saved",
    path: "/queue",
    act: async (page) => {
      await press(page, /^Edit/);
      await page.getByLabel("Name", { exact: true }).fill("Another");
      await page.keyboard.press("Escape");
    },
    title: /^Discard your changes\?$/,
  },
  {
    name: "the deletion of a rule",
    path: "/automations",
    act: (page) => choose(page, "More", "Delete the rule…"),
    title: /^Delete “/,
    shows: ["rule"],
  },
];

const ON_KEYS: readonly DialogStop[] = [
  {
    name: "the end of a key",
    path: "/keys",
    act: (page) => press(page, "Revoke…"),
    title: /^Revoke “/,
    shows: ["key"],
  },
  {
    name: "a key that is made",
    path: "/keys",
    act: async (page) => {
      await press(page, "New key");
      await page.getByLabel("Name", { exact: true }).fill(hostile("key"));
      await page.getByLabel("posts:read", { exact: true }).check();
      await pressInDialog(page, "Make the key");
    },
    title: /^Key “/,
    shows: ["key"],
  },
];

const ON_A_PHONE: readonly DialogStop[] = [
  {
    name: "the time of a new post",
    path: "/posts/new?text=New",
    act: (page) => page.locator("main button[aria-haspopup=dialog]:visible").last().click(),
    title: /^When$/,
    only: "phone",
  },
  {
    name: "the preview of a new post",
    path: "/posts/new?text=New",
    act: (page) => press(page, "Preview"),
    title: /^Preview$/,
    only: "phone",
  },
];

function onWebhooks({ endpointId, pausedEndpointId }: HostileWorkspace): readonly DialogStop[] {
  const path = `/webhooks?endpoint=${endpointId}`;
  return [
    {
      name: "a new secret",
      path,
      act: (page) => choose(page, "More", "Rotate the secret…"),
      title: /^Rotate the signing secret\?$/,
    },
    {
      name: "the end of an endpoint",
      path: `/webhooks?endpoint=${pausedEndpointId}`,
      act: (page) => choose(page, "More", "Revoke…"),
      title: /^Revoke /,
      shows: ["endpoint address"],
    },
    // It stays until it is confirmed, or the screen is left.
    {
      name: "the secret of an endpoint",
      path,
      act: async (page) => {
        await choose(page, "More", "Rotate the secret…");
        await pressInDialog(page, "Make a new secret");
      },
      title: /^The signing secret$/,
    },
  ];
}

function onPosts({ postId }: HostileWorkspace, day: string): readonly DialogStop[] {
  return [
    {
      name: "a post that is there",
      path: `/posts/${postId}`,
      act: (page) => press(page, "It is there…"),
      title: /^It is on X$/,
    },
    {
      name: "a post that is not there",
      path: `/posts/${postId}`,
      act: (page) => press(page, "It is not there…"),
      title: /^It is not on X$/,
    },
    {
      name: "the description of a file",
      path: `/posts/new?from=${postId}`,
      act: (page) => press(page, hostile("description")),
      title: /^Description of /,
      shows: ["file name", "description"],
    },
    {
      name: "all posts of a day",
      path: `/calendar?day=${day}`,
      act: (page) => page.locator("[data-more]").first().click(),
      title: /^All posts of /,
      only: "wide",
    },
  ];
}

/** What is asked where another person has changed the post meanwhile. */
function onConflicts(api: Api, { plannedId }: HostileWorkspace): readonly DialogStop[] {
  let version = 0;
  /** Changes the post after the page has read it, and before its next request of this kind. */
  const changeBefore = async (page: Page, method: "GET" | "PATCH") => {
    let isChanged = false;
    await page.route(`**/api/v1/posts/${plannedId}`, async (route) => {
      if (isChanged || route.request().method() !== method) return await route.fallback();
      isChanged = true;
      version += 1;
      const body = { content: `${hostile("planned post")} ${version}` };
      await api.call("PATCH", `/posts/${plannedId}`, { body });
      return await route.fallback();
    });
  };
  const title = /^Someone changed this post/;
  return [
    {
      name: "another time that comes too late",
      path: `/posts/${plannedId}`,
      act: async (page) => {
        await press(page, "Move to…");
        await page.getByLabel("Time", { exact: true }).fill("13:30");
        await changeBefore(page, "PATCH");
        await pressInDialog(page, "Move to 13:30");
      },
      title,
    },
    {
      name: "a publication that comes too late",
      path: "/posts?status=scheduled",
      act: async (page) => {
        await changeBefore(page, "GET");
        const row = page.locator(`[data-row="${plannedId}"]`);
        await row.getByRole("button", { name: "More actions for this post" }).click();
        await page.getByRole("menuitem", { name: "Publish now" }).click();
      },
      title,
    },
    {
      name: "a text that comes too late",
      path: `/posts/${plannedId}/edit`,
      act: async (page) => {
        await page.getByLabel("Text for all accounts").fill(hostile("post"));
        await changeBefore(page, "PATCH");
        await press(page, "Save changes");
      },
      title,
      shows: ["planned post", "post"],
    },
  ];
}

/** What is shown where the server refuses, in words of its own. */
function onRefusals(
  api: Api,
  { postId, accountIds }: HostileWorkspace,
  day: string,
): readonly DialogStop[] {
  const words = "error of a platform";
  const refuse = async (page: Page, method: "PATCH" | "DELETE", id: string, code: string) => {
    const error = { code, message: hostile(words), details: [] };
    await page.route(`**/api/v1/posts/${id}`, async (route) =>
      route.request().method() === method
        ? await route.fulfill({ status: 409, json: { error } })
        : await route.fallback(),
    );
  };
  let count = 0;
  return [
    {
      name: "a move that is refused",
      path: "/status",
      act: async (page) => {
        count += 1;
        const { id } = await create(api, {
          content: `Moved ${count}`,
          accountIds: accountIds.slice(0, 1),
          scheduledAt: `${day}T05:00:00.000Z`,
        });
        await follow(page, `/posts/${id}`);
        await press(page, "Move to…");
        await page.getByLabel("Time", { exact: true }).fill("14:40");
        await pressInDialog(page, "Move to 14:40");
        await page.getByRole("button", { name: "Undo" }).waitFor();
        await refuse(page, "PATCH", id, "post_not_editable");
        await page.keyboard.press("u");
      },
      title: /^The post was not moved$/,
      shows: [words],
    },
    {
      name: "a deletion that is refused",
      path: `/posts/${postId}`,
      act: async (page) => {
        await refuse(page, "DELETE", postId, "post_publishing");
        await press(page, /^Delete from 1 /);
        await pressInDialog(page, "Delete from 1");
        await page.getByText(/so nothing was deleted/).waitFor();
      },
      title: /^Delete this post from the platforms\?$/,
      shows: [words],
    },
  ];
}

/**
 * The dialogs of the dashboard over a workspace with hostile texts.
 *
 * @param day On which more posts are planned than a day of the month shows.
 */
export function listDialogs(
  api: Api,
  workspace: HostileWorkspace,
  day: string,
): readonly DialogStop[] {
  return [
    ...ON_MEDIA,
    ...ON_ACCOUNTS,
    ...onWebhooks(workspace),
    ...ON_RULES,
    ...onPosts(workspace, day),
    ...onConflicts(api, workspace),
    ...onRefusals(api, workspace, day),
    ...ON_KEYS,
    ...ON_A_PHONE,
  ];
}
