import { sampleJpeg } from "@postrider/local/demo/sample-media";
import type { SharedSystem } from "../system/system.ts";
import { activeRule } from "./automations.ts";
import { commentsOn, justAfterNow, publishOn } from "./engagement.ts";
import { upload } from "./media.ts";
import { create, HOUR_MS, inMs, whenPost } from "./posts.ts";
import type { Tenant } from "./tenant.ts";

/** Texts of users, of readers and of platforms, each of which a page could mistake for markup. */
const FIELDS = [
  "workspace name",
  "account name",
  "post",
  "text for one account",
  "error of a platform",
  "planned post",
  "file name",
  "unused file",
  "description",
  "comment",
  "author",
  "own reply",
  "title",
  "tag",
  "rule",
  "keyword",
  "excluded word",
  "private reply",
  "queue rule",
  "endpoint",
  "endpoint address",
  "webhook answer",
  "webhook header",
  "key",
  "pause",
] as const;

export type HostileField = (typeof FIELDS)[number];

/** Runs as markup, as a script, and at the end of an attribute. It names the field it stands in. */
export function hostile(field: HostileField | "written"): string {
  return `"'><img src=x onerror="hit()"><script>hit()</script><b>${field}</b>`;
}

/** A machine with other work publishes slowly. */
const SLOW_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
/** A link of a platform that would run a script. */
const LINK = "javascript:hit()";

export interface HostileWorkspace {
  readonly postId: string;
  readonly plannedId: string;
  /** A draft with a title and tags. */
  readonly titledId: string;
  readonly endpointId: string;
  /** Its address is hostile, and it receives nothing. */
  readonly pausedEndpointId: string;
  readonly accountIds: readonly string[];
}

/**
 * Fills a workspace so that every screen has something to show, with hostile texts throughout.
 *
 * @param endpointUrl Where Postrider sends webhooks.
 */
export async function fillWithHostileTexts(
  system: SharedSystem,
  tenant: Tenant,
  endpointUrl: string,
): Promise<HostileWorkspace> {
  const [bluesky, x] = await Promise.all([tenant.connect("bluesky"), tenant.connect("x")]);
  const [tiktok, youtube] = [await tenant.connect("tiktok"), await tenant.connect("youtube")];
  const endpoints = await subscribe(tenant, endpointUrl);
  const [postId, plannedId, titledId] = await Promise.all([
    publishInPart(tenant, bluesky, x),
    plan(tenant, bluesky),
    draftWithTitle(tenant, youtube),
    addComments(system, tenant),
  ]);
  const here = ["--workspace", tenant.id];
  await system.operate("key", "create", ...here, "--scopes", "all", "--name", hostile("key"));
  await rename(system, tenant);
  await system.operate("pause", ...here, "--reason", hostile("pause"));
  return { postId, plannedId, titledId, ...endpoints, accountIds: [bluesky, x, tiktok] };
}

async function subscribe({ api }: Tenant, url: string) {
  const body = { url, events: ["webhook.test"], description: hostile("endpoint") };
  const add = async () => (await api.call<{ id: string }>("POST", "/webhooks", { body })).body.id;
  const [endpointId, pausedEndpointId] = [await add(), await add()];
  await api.call("PATCH", `/webhooks/${pausedEndpointId}`, { body: { status: "paused" } });
  return { endpointId, pausedEndpointId };
}

/** A comment that a rule answers. */
async function addComments(system: SharedSystem, tenant: Tenant): Promise<void> {
  const media = await publishOn(tenant, "instagram", { content: "Opening hours" });
  await activeRule(tenant, media.accountId, {
    name: hostile("rule"),
    keywords: [hostile("keyword"), "price"],
    excludeKeywords: [hostile("excluded word")],
    message: hostile("private reply"),
  });
  const { api } = tenant;
  await system.simulator.addComment(media, {
    text: `${hostile("comment")} What is the price?`,
    author: hostile("author"),
    createdAt: justAfterNow(),
  });
  await api.call("GET", commentsOn(media));
}

/** YouTube takes neither, but a draft may have both. */
async function draftWithTitle({ api }: Tenant, youtube: string): Promise<string> {
  const options = { [youtube]: { title: hostile("title"), tags: [hostile("tag")] } };
  const draft = { content: "A video", accountIds: [youtube], isDraft: true, options };
  return (await create(api, draft)).id;
}

async function publishInPart(tenant: Tenant, good: string, bad: string): Promise<string> {
  const { api } = tenant;
  const jpeg = { contentType: "image/jpeg", bytes: sampleJpeg() };
  const { id: mediaId } = await upload(api, { fileName: hostile("file name"), ...jpeg });
  await api.call("PATCH", `/media/${mediaId}`, { body: { altText: hostile("description") } });
  await tenant.addFault(bad, { operation: "publish", mode: "refuse" });
  const { id } = await create(api, {
    content: hostile("post"),
    accountIds: [good, bad],
    mediaIds: [mediaId],
    options: { [bad]: { content: hostile("text for one account") } },
  });
  await whenPost(api, id, "partial", SLOW_MS);
  await api.call("POST", `/posts/${id}/metrics/refresh`);
  return id;
}

async function plan({ api }: Tenant, accountId: string): Promise<string> {
  await api.call("POST", "/queue-slots", {
    body: {
      name: hostile("queue rule"),
      weekdays: ["mon", "wed", "fri"],
      times: ["18:00"],
      timezone: "Asia/Seoul",
    },
  });
  const scheduledAt = inMs(2 * DAY_MS);
  const planned = { content: hostile("planned post"), accountIds: [accountId], scheduledAt };
  return (await create(api, planned)).id;
}

/** What the simulated platforms do not say, and no request can write. */
async function rename({ sql }: SharedSystem, { id }: Tenant): Promise<void> {
  const [name, words] = [hostile("account name"), hostile("error of a platform")];
  await sql.begin(async (tx) => {
    await tx`update accounts.workspaces set name = ${hostile("workspace name")} where id = ${id}`;
    await tx`update accounts.accounts set username = ${name}, display_name = ${name} where workspace_id = ${id}`;
    await tx`
      update posts.targets set username = ${name}, permalink = ${LINK}
      where workspace_id = ${id}`;
    await tx`
      update posts.targets set error_message = ${words}
      where workspace_id = ${id} and error_code is not null`;
    await tx`
      update posts.target_attempts set message = ${words}
      where target_id in (select id from posts.targets where workspace_id = ${id}) and message <> ''`;
    await tx`
      update delivery.webhook_subscriptions set url = ${`https://${hostile("endpoint address")}`}
      where workspace_id = ${id} and status = 'paused'`;
  });
}
