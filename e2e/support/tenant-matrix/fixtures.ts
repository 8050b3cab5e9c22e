import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { presign, upload, type File } from "../requests/media.ts";
import { create, HOUR_MS, inMs, whenPost } from "../requests/posts.ts";
import type { Tenant } from "../requests/tenant.ts";
import type { System } from "../system/system.ts";
import {
  engagementFixtures,
  engagementHandlesOf,
  makeEngagement,
  type EngagementBelongings,
} from "./engagement.ts";
import type { Fixtures } from "./matrix.ts";
import { makeWebhooks, webhookFixtures, type WebhookBelongings } from "./webhooks.ts";

const PICTURE: File = { fileName: "theirs.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const SLOT = { name: "Mornings", weekdays: ["mon"], times: ["09:00"], timezone: "UTC" };
const NOT_FOUND = "404 not_found";
const UNKNOWN_ACCOUNT = "422 validation_failed unknown_account";
const UNKNOWN_MEDIA = "422 validation_failed unknown_media";
const UNKNOWN_KEY = "422 validation_failed unknown_option_key";

/**
 * One resource of each kind that a workspace can have, in every state that an API handler may treat
 * differently.
 */
export interface Belongings extends WebhookBelongings {
  readonly accounts: readonly string[];
  readonly posts: Readonly<
    Record<"draft" | "scheduled" | "published" | "failed" | "deleted", string>
  >;
  readonly media: Readonly<Record<"open" | "uploaded" | "ready" | "used", string>>;
  readonly rules: Readonly<Record<"active" | "paused", string>>;
  readonly engagement: EngagementBelongings;
  readonly cursor: string;
}

async function uploaded({ api }: Tenant): Promise<string> {
  const grant = await presign(api, PICTURE);
  const put = await fetch(grant.uploadUrl, { method: "PUT", body: PICTURE.bytes });
  if (put.status !== 204) throw new Error(`PUT answered ${put.status}`);
  return grant.id;
}

async function makeRule({ api }: Tenant, name: string): Promise<string> {
  const body = { ...SLOT, name };
  return (await api.call<{ id: string }>("POST", "/queue-slots", { body })).body.id;
}

/** Creates a post that fails because the simulated platform refuses it. */
async function makeFailed(system: System, { api }: Tenant, account: string, content: string) {
  await system.simulator.addFault({ platform: "x", operation: "publish", mode: "refuse" });
  const { id } = await create(api, { content, accountIds: [account] });
  await whenPost(api, id, "failed");
  await system.simulator.clearFaults();
  return id;
}

/**
 * @param mark Text that every created resource contains, so that a test recognises the resource in
 *   any answer.
 */
export async function makeBelongings(
  system: System,
  tenant: Tenant,
  { mark, receiverUrl }: { readonly mark: string; readonly receiverUrl: string },
): Promise<Belongings> {
  const { api } = tenant;
  const [account, second] = [await tenant.connect("x"), await tenant.connect("x")];
  const used = (await upload(api, PICTURE)).id;
  const accountIds = [account];
  const write = async (content: string, more: object = {}) =>
    (await create(api, { content: `${content} ${mark}`, accountIds, ...more })).id;
  // The failed post is created first: while the simulated platform refuses it, the platform would
  // also refuse any other post that is published at that time.
  const failed = await makeFailed(system, tenant, account, `failed ${mark}`);
  const posts = {
    failed,
    draft: await write("draft", { isDraft: true, mediaIds: [used] }),
    scheduled: await write("scheduled", { scheduledAt: inMs(48 * HOUR_MS) }),
    published: await write("published"),
    deleted: await write("deleted"),
  };
  for (const id of [posts.published, posts.deleted]) await whenPost(api, id, "published");
  await api.call("DELETE", `/posts/${posts.deleted}`);
  const paused = await makeRule(tenant, `paused ${mark}`);
  await api.call("PATCH", `/queue-slots/${paused}`, { body: { status: "paused" } });
  const page = await api.call<{ nextCursor: string }>("GET", "/posts?limit=1");
  return {
    accounts: [account, second],
    posts,
    media: {
      open: (await presign(api, PICTURE)).id,
      uploaded: await uploaded(tenant),
      ready: (await upload(api, PICTURE)).id,
      used,
    },
    rules: { active: await makeRule(tenant, `active ${mark}`), paused },
    ...(await makeWebhooks(tenant, receiverUrl, mark)),
    engagement: await makeEngagement(system, tenant, mark),
    cursor: page.body.nextCursor,
  };
}

/** Returns the id of every resource of the workspace, and a list cursor of the workspace. */
export function handlesOf({
  accounts,
  posts,
  media,
  rules,
  webhooks,
  failedDelivery,
  engagement,
  cursor,
  webhookCursor,
}: Belongings): readonly string[] {
  return [
    ...accounts,
    ...Object.values(posts),
    ...Object.values(media),
    ...Object.values(rules),
    ...Object.values(webhooks),
    failedDelivery,
    ...engagementHandlesOf(engagement),
    cursor,
    webhookCursor,
  ];
}

/** Resources outside of Postrider that the test requests need. */
export interface FixtureOptions {
  /** A URL from which an image may be imported. */
  readonly pictureUrl: string;
}

/**
 * Returns test requests for every operation of the REST API: valid requests with ids of the
 * workspace `ours`, and an id of the workspace `theirs` for each place of a request that takes an
 * id. A new API operation must be added here.
 */
export async function makeFixtures(
  tenant: Tenant,
  ours: Belongings,
  theirs: Belongings,
  { pictureUrl }: FixtureOptions,
): Promise<Fixtures> {
  const [account = "", spare = ""] = ours.accounts;
  const their = {
    accounts: { ids: theirs.accounts.slice(0, 1), refusal: UNKNOWN_ACCOUNT },
    media: { ids: Object.values(theirs.media), refusal: UNKNOWN_MEDIA },
    optionKeys: { ids: theirs.accounts.slice(0, 1), refusal: UNKNOWN_KEY },
  };
  const at = (ids: readonly string[]) => ({ "path:id": { ids, refusal: NOT_FOUND } });
  const posts = at(Object.values(theirs.posts));
  const media = at(Object.values(theirs.media));
  const rules = at(Object.values(theirs.rules));
  // Ids that Postrider passes to YouTube without interpreting them.
  const none = { ids: [], refusal: NOT_FOUND };
  const platformIds = { "body:/categoryId": none, "body:/playlistId": none };
  const one = (id: string, more: object = {}) => ({ path: { id }, ...more });
  const plain = { requests: [{}], foreign: {} };
  const text = (content: string) => ({
    content,
    accountIds: [account],
    mediaIds: [ours.media.ready],
    options: { [account]: { content: `${content}, and more` } },
  });
  const inPost = {
    "body:/accountIds": their.accounts,
    "body:/mediaIds": their.media,
    "body:/options/*": their.optionKeys,
  };
  return {
    listAccounts: plain,
    listPlatforms: plain,
    getQuota: plain,
    listQueueSlotRules: plain,
    disconnectAccount: { requests: [one(spare)], foreign: at(theirs.accounts) },
    getAccountSettings: { requests: [one(account)], foreign: at(theirs.accounts) },
    updateAccountSettings: {
      requests: [one(account, { body: { replySettings: "following" } })],
      foreign: { ...at(theirs.accounts), ...platformIds },
    },
    presignUpload: {
      requests: [{ body: { fileName: "a.jpg", contentType: "image/jpeg", bytes: 10 } }],
      foreign: {},
    },
    completeUpload: { requests: [one(ours.media.uploaded)], foreign: media },
    importMedia: { requests: [{ body: { url: pictureUrl } }], foreign: {} },
    updateMedia: {
      requests: [one(ours.media.ready, { body: { altText: "A picture" } })],
      foreign: media,
    },
    deleteMedia: { requests: [one(ours.media.open)], foreign: media },
    validatePost: { requests: [{ body: text("Validated") }], foreign: inPost },
    createPost: {
      requests: [
        { body: text("At once") },
        { body: { ...text("A draft"), isDraft: true } },
        { body: { ...text("Later"), scheduledAt: inMs(24 * HOUR_MS) } },
        { body: { ...text("In a slot"), queueSlot: true } },
      ],
      foreign: inPost,
    },
    listPosts: {
      requests: [{}],
      foreign: { "query:cursor": { ids: [theirs.cursor], refusal: "400 invalid_cursor" } },
    },
    getPost: { requests: [one(ours.posts.draft)], foreign: posts },
    updatePost: {
      requests: [
        one(ours.posts.draft, { body: text("Another text") }),
        one(ours.posts.scheduled, { body: text("Yet another text") }),
      ],
      foreign: { ...posts, ...inPost },
    },
    publishPost: {
      requests: [
        one((await create(tenant.api, { ...text("Now"), isDraft: true })).id),
        one(ours.posts.scheduled, { body: { force: true } }),
      ],
      foreign: posts,
    },
    retryPost: { requests: [one(ours.posts.failed)], foreign: posts },
    deletePost: { requests: [one(ours.posts.published), one(ours.posts.draft)], foreign: posts },
    createQueueSlotRule: { requests: [{ body: SLOT }], foreign: {} },
    updateQueueSlotRule: {
      requests: [one(ours.rules.active, { body: { name: "Evenings", status: "paused" } })],
      foreign: rules,
    },
    deleteQueueSlotRule: { requests: [one(ours.rules.paused)], foreign: rules },
    ...webhookFixtures(ours, theirs),
    ...engagementFixtures(ours.engagement, theirs.engagement),
  };
}
