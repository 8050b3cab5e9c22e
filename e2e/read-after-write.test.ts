import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, describe, expect, test } from "vitest";
import { startReceiver } from "./support/observers/receiver.ts";
import { createApi, type Answer, type Api } from "./support/requests/api.ts";
import { createRule, JOBS, RULES, RUNS } from "./support/requests/automations.ts";
import { actionsOn, commentsOn, publishOn } from "./support/requests/engagement.ts";
import { upload } from "./support/requests/media.ts";
import {
  create,
  HOUR_MS,
  inMs,
  refusalOf,
  whenPost,
  whenTargets,
} from "./support/requests/posts.ts";
import { createKey, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests that a client which reads right after the answer to a change finds the change, although
 * another gateway process answers the read: each case writes through one gateway and reads through
 * the other, without waiting in between.
 */

type Fields = Readonly<Record<string, unknown>>;

/**
 * What an operation answered, or what it changed, and what the reads afterwards returned. Both must
 * be equal.
 */
interface Agreement {
  readonly answered: unknown;
  readonly read: unknown;
}

interface Case {
  readonly writer: string;
  readonly reader: string;
  /** Makes the change through the first client and reads it through the second. */
  readonly run: (write: Api, read: Api) => Promise<Agreement>;
}

/** How long a test waits for the end of work that begins after the answer. */
const WAIT = { timeout: 15_000 };
/** In two days, but in this month, because GET /quota shows the reservations of this month. */
const FUTURE = () => {
  const now = new Date();
  const restMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime();
  return inMs(Math.floor(Math.min(48 * HOUR_MS, restMs / 2) + (Math.random() * restMs) / 4));
};
const PICTURE = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };

const system = await useSharedSystem();
const receiver = await startReceiver(system.webhookPorts.readAfterWrite);
const tenant = await openTenant(system);
const gateways = system.local().services.gateway.map(({ url }) => createApi(url, tenant.key));
const [bluesky, x, telegram] = await Promise.all([
  tenant.connect("bluesky"),
  tenant.connect("x"),
  tenant.connect("telegram"),
]);
const published = await publishOn(tenant, "instagram");
afterAll(() => receiver[Symbol.asyncDispose]());

/** Sends a request that must succeed, and returns the body of the answer. */
async function send<T = Fields>(
  api: Api,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  return (await sendWhole<T>(api, method, path, body)).body;
}

async function sendWhole<T = Fields>(
  api: Api,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  const answer = await api.call<T>(method, path, { body });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${refusalOf(answer)}`);
  return answer;
}

/** Returns the item of a list that has the id; undefined if the list lacks it. */
async function findIn(api: Api, path: string, name: string, id: unknown): Promise<unknown> {
  const page = await send<Readonly<Record<string, readonly Fields[]>>>(api, "GET", path);
  return page[name]?.find((each) => each["id"] === id);
}

/** The fields of a record that another record has as well. */
function pick(record: Fields, like: unknown): Fields {
  const names = Object.keys(like as Fields);
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}

/** A post without the tokens in the URLs of its media, which differ from answer to answer. */
function withoutTokens(post: Fields): Fields {
  return JSON.parse(JSON.stringify(post), (key, value: unknown) =>
    key === "url" && typeof value === "string" ? value.replace(/[^/]*$/, "TOKEN") : value,
  ) as Fields;
}

/** Compares a post in the answer to a write with the same post as it is read, ETag included. */
async function comparePost(written: Answer<Fields>, read: Api): Promise<Agreement> {
  const found = await sendWhole(read, "GET", `/posts/${String(written.body["id"])}`);
  const toParts = ({ headers, body }: Answer<Fields>) => [headers.get("etag"), withoutTokens(body)];
  return { answered: toParts(written), read: toParts(found) };
}

async function schedule(api: Api, more: Fields = {}): Promise<Answer<Fields>> {
  const content = `kept ${crypto.randomUUID()}`;
  const body = { content, accountIds: [bluesky], scheduledAt: FUTURE(), ...more };
  return await sendWhole(api, "POST", "/posts", body);
}

/** Schedules a post with a picture whose description was changed after the post was accepted. */
async function scheduleDescribed(
  api: Api,
): Promise<{ readonly id: string; readonly mediaId: string }> {
  const { id: mediaId } = await upload(api, PICTURE);
  const { body } = await schedule(api, { mediaIds: [mediaId] });
  const altText = `described ${crypto.randomUUID()}`;
  await send(api, "PATCH", `/media/${mediaId}`, { altText });
  return { id: String(body["id"]), mediaId };
}

async function reservedOf(api: Api): Promise<number> {
  const { monthly } = await send<{ monthly: { used: number; reserved: number } }>(
    api,
    "GET",
    "/quota",
  );
  return monthly.used + monthly.reserved;
}

async function idsOf(api: Api, query: string): Promise<readonly unknown[]> {
  const { posts } = await send<{ posts: readonly Fields[] }>(
    api,
    "GET",
    `/posts?limit=100&${query}`,
  );
  return posts.map(({ id }) => id);
}

async function statusOf(api: Api, method: string, path: string, body?: unknown): Promise<string> {
  return refusalOf(await api.call(method, path, { body })).trim();
}

const POSTS: readonly Case[] = [
  {
    writer: "POST /posts",
    reader: "GET /posts/{id}",
    run: async (write, read) => comparePost(await schedule(write), read),
  },
  {
    writer: "POST /posts",
    reader: "each filter of GET /posts",
    run: async (write, read) => {
      const { body: post } = await schedule(write);
      const day = String(post["scheduledAt"]).slice(0, "YYYY-MM-DD".length);
      const filters = [
        "status=scheduled",
        "platform=bluesky",
        "createdVia=rest",
        `from=${day}`,
        `from=${day}&to=${day}&status=scheduled&platform=bluesky&createdVia=rest`,
      ];
      const found = filters.map(async (query) => (await idsOf(read, query)).includes(post["id"]));
      return { answered: filters.map(() => true), read: await Promise.all(found) };
    },
  },
  {
    writer: "POST /posts",
    reader: "GET /quota",
    run: async (write, read) => {
      const before = await reservedOf(read);
      await schedule(write, { accountIds: [bluesky, x] });
      return { answered: before + 2, read: await reservedOf(read) };
    },
  },
  {
    writer: "PATCH /posts/{id}",
    reader: "GET /posts/{id}",
    run: async (write, read) => {
      const { body } = await schedule(write);
      const change = { content: `new ${crypto.randomUUID()}`, scheduledAt: FUTURE() };
      return comparePost(
        await sendWhole(write, "PATCH", `/posts/${String(body["id"])}`, change),
        read,
      );
    },
  },
  {
    writer: "PATCH /posts/{id} of a post whose picture was described anew",
    reader: "GET /posts/{id}",
    run: async (write, read) => {
      const { id } = await scheduleDescribed(write);
      const change = { content: `new ${crypto.randomUUID()}` };
      return comparePost(await sendWhole(write, "PATCH", `/posts/${id}`, change), read);
    },
  },
  {
    writer: "PATCH /posts/{id}",
    reader: "GET /posts and GET /quota",
    run: async (write, read) => {
      const { body } = await schedule(write);
      const before = await reservedOf(read);
      const change = { content: `new ${crypto.randomUUID()}`, accountIds: [x, telegram] };
      const edited = await send(write, "PATCH", `/posts/${String(body["id"])}`, change);
      const found = await findIn(read, "/posts?platform=x&limit=5", "posts", body["id"]);
      const { targets: _targets, ...shown } = pick(edited, found);
      return {
        answered: [shown, before + 1],
        read: [pick(found as Fields, shown), await reservedOf(read)],
      };
    },
  },
  {
    writer: "DELETE /posts/{id} of a scheduled post",
    reader: "GET /posts/{id}, GET /posts and GET /quota",
    run: async (write, read) => {
      const before = await reservedOf(read);
      const { body } = await schedule(write);
      const path = `/posts/${String(body["id"])}`;
      const { status } = await write.call("DELETE", path);
      return {
        answered: [204, "404 not_found", false, before],
        read: [
          status,
          await statusOf(read, "GET", path),
          (await idsOf(read, "status=scheduled")).includes(body["id"]),
          await reservedOf(read),
        ],
      };
    },
  },
  {
    writer: "POST /posts/{id}/publish of a post whose picture was described anew",
    reader: "GET /posts/{id}",
    run: async (write, read) => {
      const { id } = await scheduleDescribed(write);
      const { body } = await sendWhole(write, "POST", `/posts/${id}/publish`);
      const found = await send(read, "GET", `/posts/${id}`);
      const mediaOf = (post: Fields) => withoutTokens(post)["media"];
      return { answered: mediaOf(body), read: mediaOf(found) };
    },
  },
  {
    writer: "POST /posts/{id}/retry of a post whose picture was described anew",
    reader: "GET /posts/{id}",
    run: async (write, read) => {
      const { id: mediaId } = await upload(write, PICTURE);
      const [accountId = ""] = await tenant.connectAll("bluesky", 1);
      const setStatus = async (status: string) =>
        await system.sql`
          update accounts.accounts set status = ${status}, version = version + 1 where id = ${accountId}`;
      const content = `refused ${crypto.randomUUID()}`;
      const body = { content, accountIds: [accountId], mediaIds: [mediaId] };
      await system.operate("pause", "--account", accountId);
      const post = await create(write, body);
      await setStatus("reconnect_required");
      await system.operate("resume", "--account", accountId);
      await whenPost(write, post.id, "failed");
      await setStatus("active");
      await send(write, "PATCH", `/media/${mediaId}`, { altText: "after the failure" });
      const answer = await sendWhole(write, "POST", `/posts/${post.id}/retry`);
      const found = await send(read, "GET", `/posts/${post.id}`);
      const mediaOf = (each: Fields) => withoutTokens(each)["media"];
      return { answered: mediaOf(answer.body), read: mediaOf(found) };
    },
  },
  {
    writer: "the publication that GET /posts/{id}?waitFor=final waited for",
    reader: "GET /posts, GET /quota, comments and metrics of the post",
    run: async (write, read) => {
      const before = await reservedOf(read);
      const content = `awaited ${crypto.randomUUID()}`;
      const { id } = await create(write, { content, accountIds: [bluesky] });
      const post = await send<{ status: string; targets: readonly Fields[] }>(
        write,
        "GET",
        `/posts/${id}?waitFor=final`,
      );
      const [target] = post.targets;
      const media = { accountId: bluesky, id: String(target?.["externalId"]) };
      const [listed, quota, comments, refreshed] = await Promise.all([
        idsOf(read, "status=published"),
        reservedOf(read),
        read.call("GET", commentsOn(media)),
        read.call<{ refresh: Fields }>("POST", `/posts/${id}/metrics/refresh`),
      ]);
      return {
        answered: ["published", true, before + 1, 200, { eligible: 1, ready: 1 }],
        read: [
          post.status,
          listed.includes(id),
          quota,
          comments.status,
          pick(refreshed.body.refresh, { eligible: 1, ready: 1 }),
        ],
      };
    },
  },
  {
    writer: "POST /posts/{id}/metrics/refresh of a post whose picture was described anew",
    reader: "GET /posts/{id} and its ETag",
    run: async (write, read) => {
      const { id, mediaId } = await scheduleDescribed(write);
      await send(write, "PATCH", `/media/${mediaId}`, { altText: "not seen yet" });
      const answer = await sendWhole<{ post: Fields }>(
        write,
        "POST",
        `/posts/${id}/metrics/refresh`,
      );
      const found = await send(read, "GET", `/posts/${id}`);
      return { answered: withoutTokens(answer.body.post), read: withoutTokens(found) };
    },
  },
  {
    writer: "DELETE /posts/{id} of a published post",
    reader: "GET /posts/{id} and GET /posts",
    run: async (write, read) => {
      const { id } = await create(write, {
        content: `regretted ${crypto.randomUUID()}`,
        accountIds: [bluesky],
      });
      await whenPost(write, id, "published");
      const answer = await send(write, "DELETE", `/posts/${id}`);
      const found = await send(read, "GET", `/posts/${id}`);
      const listed = await idsOf(read, "status=cancelled");
      const gone = await whenTargets(read, id, "deleted");
      const again = await send<{ targets: readonly Fields[] }>(write, "DELETE", `/posts/${id}`);
      return {
        answered: [answer["status"], true, again.targets.map(({ status }) => status)],
        read: [found["status"], listed.includes(id), gone.targets.map(({ status }) => status)],
      };
    },
  },
];

const ACCOUNTS: readonly Case[] = [
  {
    writer: "PATCH /accounts/{id}/settings",
    reader: "GET /accounts/{id}/settings",
    run: async (write, read) => {
      const path = `/accounts/${telegram}/settings`;
      const before = await send<{ settings: Fields }>(read, "GET", path);
      const silent = before.settings["silent"] !== true;
      const changed = await send(write, "PATCH", path, { silent });
      return { answered: changed, read: await send(read, "GET", path) };
    },
  },
  {
    writer: "PATCH /accounts/{id}/settings",
    reader: "POST /posts/validate, POST /posts and the publication",
    run: async (write, read) => {
      const path = `/accounts/${telegram}/settings`;
      const open = { content: `<b>open ${crypto.randomUUID()}`, accountIds: [telegram] };
      await send(write, "PATCH", path, { format: "html" });
      const refused = [
        await statusOf(read, "POST", "/posts/validate", open),
        await statusOf(read, "POST", "/posts", open),
      ];
      await send(write, "PATCH", path, { format: "plain" });
      const valid = await statusOf(read, "POST", "/posts/validate", open);
      const { id } = await create(read, open);
      await whenPost(read, id, "published");
      const refusal = "422 validation_failed markup_invalid";
      return {
        answered: [refusal, refusal, "200", 1],
        read: [...refused, valid, await tenant.countVisible(open.content)],
      };
    },
  },
  {
    writer: "the command `postrider account settings --set`",
    reader: "GET /accounts/{id}/settings",
    run: async (_write, read) => {
      const path = `/accounts/${bluesky}/settings`;
      const { settings } = await send<{ settings: Fields }>(read, "GET", path);
      const language = JSON.stringify(settings["languages"]) === '["de"]' ? "fr" : "de";
      await system.operate("account", "settings", bluesky, "--set", `languages=${language}`);
      const found = await send<{ settings: Fields }>(read, "GET", path);
      return { answered: [language], read: found.settings["languages"] };
    },
  },
  {
    writer: "the command `postrider account connect`, and DELETE /accounts/{id}",
    reader: "GET /accounts, POST /posts/validate and POST /posts",
    run: async (write, read) => {
      const id = await tenant.connect("bluesky");
      const post = {
        content: `first ${crypto.randomUUID()}`,
        accountIds: [id],
        scheduledAt: FUTURE(),
      };
      const statusIn = async (api: Api) =>
        ((await findIn(api, "/accounts", "accounts", id)) as Fields | undefined)?.["status"];
      const connected = [
        await statusIn(read),
        await statusOf(read, "POST", "/posts/validate", post),
        await statusOf(read, "POST", "/posts", post),
      ];
      const removed = (await write.call("DELETE", `/accounts/${id}`)).status;
      const other = { ...post, content: "second" };
      return {
        answered: ["active", "200", "202", 204, undefined, true, true],
        read: [
          ...connected,
          removed,
          await statusIn(read),
          (await statusOf(read, "POST", "/posts/validate", other)).startsWith("4"),
          (await statusOf(read, "POST", "/posts", other)).startsWith("4"),
        ],
      };
    },
  },
];

const MEDIA: readonly Case[] = [
  {
    writer: "POST /media/{id}/complete",
    reader: "the file's own URL, POST /posts/validate and POST /posts",
    run: async (write, read) => {
      const { id, url } = await upload(write, PICTURE);
      const file = await fetch(url);
      const post = {
        content: `pictured ${crypto.randomUUID()}`,
        accountIds: [bluesky],
        mediaIds: [id],
        scheduledAt: FUTURE(),
      };
      return {
        answered: [200, PICTURE.bytes.length, "200", "202"],
        read: [
          file.status,
          (await file.arrayBuffer()).byteLength,
          await statusOf(read, "POST", "/posts/validate", post),
          await statusOf(read, "POST", "/posts", post),
        ],
      };
    },
  },
  {
    writer: "PATCH /media/{id}",
    reader: "GET /posts/{id}, POST /posts and the publication",
    run: async (write, read) => {
      const { id: mediaId } = await upload(write, PICTURE);
      const { body: before } = await schedule(read, { mediaIds: [mediaId] });
      const altText = `described ${crypto.randomUUID()}`;
      const answer = await send(write, "PATCH", `/media/${mediaId}`, { altText });
      const scheduled = await send<{ media: readonly Fields[] }>(
        read,
        "GET",
        `/posts/${String(before["id"])}`,
      );
      const content = `sent ${crypto.randomUUID()}`;
      const sent = await send<{ id: string; media: readonly Fields[] }>(read, "POST", "/posts", {
        content,
        accountIds: [bluesky],
        mediaIds: [mediaId],
      });
      await whenPost(read, sent.id, "published");
      const visible = (await tenant.listVisible()).find(({ text }) => text === content);
      const shown = (visible?.media ?? []) as readonly Fields[];
      const altTexts = shown.map((each) => each["altText"]);
      return {
        answered: [altText, altText, altText, [altText]],
        read: [
          answer["altText"],
          scheduled.media[0]?.["altText"],
          sent.media[0]?.["altText"],
          altTexts,
        ],
      };
    },
  },
  {
    writer: "DELETE /media/{id}",
    reader: "the file's own URL, PATCH /media/{id}, POST /posts/validate and POST /posts",
    run: async (write, read) => {
      const { id, url } = await upload(write, PICTURE);
      const { status } = await write.call("DELETE", `/media/${id}`);
      const post = {
        content: `gone ${crypto.randomUUID()}`,
        accountIds: [bluesky],
        mediaIds: [id],
        scheduledAt: FUTURE(),
      };
      return {
        answered: [
          true,
          404,
          "404 not_found",
          "422 validation_failed unknown_media",
          "422 validation_failed unknown_media",
        ],
        read: [
          status === 202 || status === 204,
          (await fetch(url)).status,
          await statusOf(read, "PATCH", `/media/${id}`, { altText: "late" }),
          await statusOf(read, "POST", "/posts/validate", post),
          await statusOf(read, "POST", "/posts", post),
        ],
      };
    },
  },
];

const DAILY = {
  name: "Daily",
  weekdays: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
  times: ["09:00"],
  timezone: "Asia/Seoul",
};

const QUEUE: readonly Case[] = [
  {
    writer: "POST, PATCH and DELETE /queue-slots",
    reader: "GET /queue-slots",
    run: async (write, read) => {
      const list = (id: unknown) => findIn(read, "/queue-slots", "rules", id);
      const created = await send(write, "POST", "/queue-slots", DAILY);
      const { id } = created;
      const first = await list(id);
      const changed = await send(write, "PATCH", `/queue-slots/${String(id)}`, {
        times: ["10:00"],
      });
      const second = await list(id);
      const paused = await send(write, "PATCH", `/queue-slots/${String(id)}`, { status: "paused" });
      const third = await list(id);
      await sendWhole(write, "DELETE", `/queue-slots/${String(id)}`);
      return {
        answered: [created, changed, paused, undefined],
        read: [first, second, third, await list(id)],
      };
    },
  },
  {
    writer: "POST, PATCH and DELETE /posts with a queue slot",
    reader: "the next slots of GET /queue-slots",
    run: async (write, read) => {
      const rule = await send<{ id: string; nextSlots: readonly string[] }>(
        write,
        "POST",
        "/queue-slots",
        DAILY,
      );
      const next = async () =>
        ((await findIn(read, "/queue-slots", "rules", rule.id)) as typeof rule).nextSlots[0];
      const queue = async () =>
        await send<{ id: string; scheduledAt: string }>(write, "POST", "/posts", {
          content: `queued ${crypto.randomUUID()}`,
          accountIds: [bluesky],
          queueSlot: true,
        });
      const [first, second] = [await queue(), await queue()];
      const afterBoth = await next();
      await sendWhole(write, "DELETE", `/posts/${first.id}`);
      const afterDelete = await next();
      await send(write, "PATCH", `/posts/${second.id}`, { scheduledAt: FUTURE() });
      const third = await queue();
      await sendWhole(write, "DELETE", `/queue-slots/${rule.id}`);
      return {
        answered: [rule.nextSlots[2], first.scheduledAt, first.scheduledAt],
        read: [afterBoth, afterDelete, third.scheduledAt],
      };
    },
  },
];

/**
 * A webhook subscription without the secret, which only the answer to a creation or rotation has.
 */
function withoutSecret(subscription: Fields): Fields {
  const { secret: _secret, ...rest } = subscription;
  return rest;
}

const WEBHOOKS: readonly Case[] = [
  {
    writer: "POST, PATCH (address, pause, resume, rotated secret) and DELETE /webhooks",
    reader: "GET /webhooks and GET /webhooks/{id}/deliveries",
    run: async (write, read) => {
      const url = `${receiver.url}/${crypto.randomUUID()}`;
      const created = await send(write, "POST", "/webhooks", { url, events: ["post.*"] });
      const path = `/webhooks/${String(created["id"])}`;
      const list = () => findIn(read, "/webhooks?limit=100", "webhooks", created["id"]);
      const answered: unknown[] = [withoutSecret(created)];
      const found: unknown[] = [await list()];
      for (const change of [
        { description: "changed" },
        { status: "paused" },
        { status: "active" },
        { rotateSecret: { graceHours: 0 } },
        { url: `${url}/other`, events: ["target.*"] },
      ]) {
        answered.push(withoutSecret(await send(write, "PATCH", path, change)));
        found.push(await list());
      }
      const { status } = await write.call("DELETE", path);
      return {
        answered: [...answered, 204, undefined, 200],
        read: [
          ...found,
          status,
          await list(),
          (await read.call("GET", `${path}/deliveries`)).status,
        ],
      };
    },
  },
  {
    writer: "PATCH /webhooks/{id} (pause, rotated secret, resume)",
    reader: "the deliveries of the next event, and what the endpoint receives",
    run: async (write, read) => {
      const at = `/${crypto.randomUUID()}`;
      const created = await send(write, "POST", "/webhooks", {
        url: `${receiver.url}${at}`,
        events: ["post.scheduled"],
      });
      const path = `/webhooks/${String(created["id"])}`;
      await receiver.whenEvent(at, "webhook.test");
      await send(write, "PATCH", path, { status: "paused" });
      const { body: post } = await schedule(read);
      const waiting = {
        deliveries: [{ status: "pending", payload: { data: { id: post["id"] } } }],
      };
      await expect
        .poll(() => send(read, "GET", `${path}/deliveries?eventType=post.scheduled`), WAIT)
        .toMatchObject(waiting);
      const whilePaused = receiver.eventsAt(at).length;
      const rotation = { rotateSecret: { graceHours: 0 } };
      const { secret } = await send(write, "PATCH", path, rotation);
      await send(write, "PATCH", path, { status: "active" });
      await receiver.whenEvent(at, "post.scheduled");
      const request = receiver.requests.findLast((each) => each.path === at);
      const isSignedBy = (key: unknown) => {
        try {
          new Verifier(String(key)).verify(request?.body ?? "", request?.headers ?? {});
          return true;
        } catch {
          return false;
        }
      };
      await sendWhole(write, "DELETE", path);
      return {
        answered: [1, true, false],
        read: [whilePaused, isSignedBy(secret), isSignedBy(created["secret"])],
      };
    },
  },
  {
    writer: "POST /webhooks and PATCH of its address, which send webhook.test",
    reader: "GET /webhooks/{id}/deliveries",
    run: async (write, read) => {
      const url = `${receiver.url}/${crypto.randomUUID()}`;
      const { id } = await send(write, "POST", "/webhooks", { url, events: ["post.*"] });
      const path = `/webhooks/${String(id)}`;
      const types = async () => {
        const page = await send<{ deliveries: readonly Fields[] }>(
          read,
          "GET",
          `${path}/deliveries`,
        );
        return page.deliveries.map(({ eventType }) => eventType);
      };
      const first = await types();
      await send(write, "PATCH", path, { url: `${url}/new` });
      const second = await types();
      await sendWhole(write, "DELETE", path);
      return {
        answered: [["webhook.test"], ["webhook.test", "webhook.test"]],
        read: [first, second],
      };
    },
  },
  {
    writer: "POST /webhooks/{id}/deliveries/{deliveryId}/retry",
    reader: "GET /webhooks/{id}/deliveries",
    run: async (write, read) => {
      const at = `/${crypto.randomUUID()}`;
      receiver.answer(at, 500);
      const { id } = await send(write, "POST", "/webhooks", {
        url: `${receiver.url}${at}`,
        events: ["post.*"],
      });
      const path = `/webhooks/${String(id)}/deliveries`;
      const failed = await eventually(async () => {
        const page = await send<{ deliveries: readonly Fields[] }>(
          read,
          "GET",
          `${path}?status=failed`,
        );
        expect(page.deliveries).toHaveLength(1);
        return page.deliveries;
      });
      const [delivery] = failed;
      receiver.delay(at, 1_000);
      const answer = await send(write, "POST", `${path}/${String(delivery?.["id"])}/retry`);
      const found = (await findIn(read, path, "deliveries", answer["id"])) as Fields;
      await sendWhole(write, "DELETE", `/webhooks/${String(id)}`);
      const open = new Set<unknown>(["pending", "delivering"]);
      return {
        answered: [true, answer["attemptCount"]],
        read: [open.has(found["status"]), found["attemptCount"]],
      };
    },
  },
];

const ENGAGEMENT: readonly Case[] = [
  {
    writer: "POST …/comments/{commentId}/actions (reply, hide, unhide)",
    reader: "GET /comment-actions/{id}",
    run: async (write, read) => {
      const commentId = await system.simulator.addComment(published, { text: "Hello" });
      const answered: unknown[] = [];
      const found: unknown[] = [];
      for (const body of [{ type: "reply", text: "Hi" }, { type: "hide" }, { type: "unhide" }]) {
        const action = await send(write, "POST", actionsOn(published, commentId), body);
        const seen = await send(read, "GET", `/comment-actions/${String(action["id"])}`);
        const names = {
          id: 0,
          accountId: 0,
          mediaId: 0,
          commentId: 0,
          type: 0,
          text: 0,
          createdAt: 0,
        };
        answered.push(pick(action, names));
        found.push(pick(seen, names));
      }
      return { answered, read: found };
    },
  },
  ...["hide", "unhide"].map((type) => ({
    writer: `the end of a comment action of the type ${type}`,
    reader: "GET …/comments",
    run: async (write: Api, read: Api) => {
      const commentId = await system.simulator.addComment(published, { text: "Rude" });
      for (const step of type === "hide" ? ["hide"] : ["hide", "unhide"]) {
        const { id } = await send(write, "POST", actionsOn(published, commentId), { type: step });
        await eventually(async () => {
          const action = await send(write, "GET", `/comment-actions/${String(id)}`);
          if (action["status"] !== "succeeded") throw new Error(JSON.stringify(action));
        });
      }
      const found = await findIn(read, commentsOn(published), "comments", commentId);
      return { answered: type === "hide", read: (found as Fields)["hidden"] };
    },
  })),
  {
    writer: "POST and PATCH of an automation rule",
    reader: "GET of the rules and of their runs",
    run: async (write, read) => {
      const { body: rule } = await createRule({ api: write }, published.accountId);
      const path = `${RULES}/${rule.id}`;
      const list = () => findIn(read, `${RULES}?limit=100`, "rules", rule.id);
      const answered: unknown[] = [rule];
      const found: unknown[] = [await list()];
      for (const change of [
        { name: "Renamed", keywords: ["cost"] },
        { status: "active" },
        { status: "paused" },
      ]) {
        answered.push(await send(write, "PATCH", path, change));
        found.push(await list());
      }
      const runs = await send(read, "GET", `${RUNS}?ruleId=${rule.id}`);
      await send(write, "PATCH", path, { status: "revoked" });
      return {
        answered: [...answered, [], undefined],
        read: [...found, runs["runs"], await list()],
      };
    },
  },
  {
    writer: "POST and PATCH of a backfill job",
    reader: "GET of the job and of all jobs",
    run: async (write, read) => {
      const { body: rule } = await createRule({ api: write }, published.accountId);
      // The first page of comments is prepared when the job is created, so the job is not completed
      // yet.
      const media = await publishOn(tenant, "instagram", { accountId: published.accountId });
      for (let index = 0; index < 51; index += 1)
        await system.simulator.addComment(media, { text: `the price? ${index}` });
      const body = { ruleId: rule.id, mediaId: media.id };
      const job = await send(write, "POST", JOBS, body);
      const path = `${JOBS}/${String(job["id"])}`;
      const answered: unknown[] = [];
      const found: unknown[] = [];
      const compare = async (answer: Fields) => {
        const one = await send(read, "GET", `${path}?limit=100`);
        const listed = await findIn(read, JOBS, "backfills", job["id"]);
        answered.push(answer, pick(answer, listed));
        found.push(pick(one, answer), listed);
      };
      await compare(job);
      for (const action of ["pause", "resume", "prepare_next_page"])
        await compare(await send(write, "PATCH", path, { action }));
      return { answered, read: found };
    },
  },
];

const OPERATOR: readonly Case[] = [
  {
    writer: "the commands `postrider key create` and `postrider key revoke`",
    reader: "requests with the key, and the command `postrider key list`",
    run: async () => {
      const key = await createKey(system, tenant.id, "posts:read");
      const statuses = await Promise.all(
        system
          .local()
          .services.gateway.map(({ url }) =>
            statusOf(createApi(url, key), "GET", "/posts?limit=1"),
          ),
      );
      const { keys } = await system.operate<{ keys: readonly Fields[] }>(
        "key",
        "list",
        "--workspace",
        tenant.id,
      );
      const [newest] = keys;
      const isListed = key.startsWith(String(newest?.["prefix"]));
      await system.operate("key", "revoke", String(newest?.["id"]));
      const left = await system.operate<{ keys: readonly Fields[] }>(
        "key",
        "list",
        "--workspace",
        tenant.id,
      );
      return {
        answered: [["200", "200"], true, false],
        read: [statuses, isListed, left.keys.some(({ id }) => id === newest?.["id"])],
      };
    },
  },
  {
    writer: "the command `postrider workspace verify`",
    reader: "POST /posts",
    run: async () => {
      const { id } = await system.operate<{ id: string }>("workspace", "create", "--name", "New");
      const key = await createKey(system, id, "all");
      const apis = system.local().services.gateway.map(({ url }) => createApi(url, key));
      const accountIds = await system.connect("bluesky", 1, id);
      const post = (content: string) => ({ content, accountIds, scheduledAt: FUTURE() });
      const before = await Promise.all(
        apis.map((api, index) => statusOf(api, "POST", "/posts", post(`early ${index}`))),
      );
      await system.operate("workspace", "verify", id);
      const after = await Promise.all(
        apis.map((api, index) => statusOf(api, "POST", "/posts", post(`verified ${index}`))),
      );
      return {
        answered: [
          ["403 verification_required", "403 verification_required"],
          ["202", "202"],
        ],
        read: [before, after],
      };
    },
  },
];

const CHANGES = [
  ...POSTS,
  ...ACCOUNTS,
  ...MEDIA,
  ...QUEUE,
  ...WEBHOOKS,
  ...ENGAGEMENT,
  ...OPERATOR,
];

// Both gateways run the same program, so each change goes through one of them.
describe.each([
  ["first", 0, 1],
  ["second", 1, 0],
])("a change through the %s gateway", (_name, writing, reading) => {
  const [write, read] = [() => gateways[writing] as Api, () => gateways[reading] as Api];
  test.each(CHANGES.filter((_change, place) => place % 2 === writing))(
    "what $writer answers agrees with $reader of the other gateway right afterwards",
    async ({ run }) => {
      const { answered, read: found } = await run(write(), read());
      expect(found).toEqual(answered);
    },
  );
});
