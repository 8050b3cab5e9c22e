import { eventually } from "@postrider/shared/testing/poll";
import { runEngagementJourney } from "./engagement-journey.ts";
import { idOf, type Journey } from "./journey.ts";
import { publishPost, repeatRequest, useMedia } from "./post-journeys.ts";

const receiveWebhooks: Journey = async (session, { outsideUrl }) => {
  const { call } = session;
  const body = { url: `${outsideUrl}/failing`, events: ["*"] };
  const created = await call("createWebhook", 201, { body });
  const path = { id: idOf(created) };
  const deliveryId = await eventually(async () => {
    const page = await call("listWebhookDeliveries", 200, { path, query: "?status=failed" });
    const [failed] = page.body["deliveries"] as readonly { readonly id: string }[];
    if (failed === undefined) throw new Error("no delivery has failed yet");
    return failed.id;
  });
  const delivery = { path: { ...path, deliveryId } };
  await call("retryWebhookDelivery", 202, delivery);
  const change = (body: object, expected: number | readonly number[] = 200) =>
    call("updateWebhook", expected, { path, body });
  await change({ status: "paused" });
  await change({ status: "active" });
  await change({ rotateSecret: { graceHours: 1 } });
  await call("revokeWebhook", 204, { path });
  await change({ description: "late" }, [404, 409]);
  await call("retryWebhookDelivery", [404, 409], delivery);
  await call("listWebhookDeliveries", 200, { path });
};

const fillQueue: Journey = async (session, { accountIds }) => {
  const { call } = session;
  const body = { name: "Noon", weekdays: ["mon", "thu"], times: ["12:00"], timezone: "Asia/Seoul" };
  const created = await call("createQueueSlotRule", 201, { body });
  const path = { id: idOf(created) };
  const change = (body: object, expected = 200) =>
    call("updateQueueSlotRule", expected, { path, body });
  const content = crypto.randomUUID();
  const queued = { content, accountIds: accountIds.slice(0, 1), queueSlot: true };
  const post = await call("createPost", 202, { body: queued });
  await change({ status: "paused" });
  await change({ times: ["08:00"], endsOn: null });
  await call("deletePost", 204, { path: { id: idOf(post) } });
  await call("deleteQueueSlotRule", 204, { path });
  await call("deleteQueueSlotRule", 404, { path });
  await change({ name: "Late" }, 404);
};

const changeSettings: Journey = async (session, { accountIds }) => {
  const { call } = session;
  for (const id of accountIds) {
    const path = { id };
    const read = await call("getAccountSettings", 200, { path });
    const settings = (read.body["settings"] ?? {}) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(settings))
      for (const body of [{ [name]: value }, { [name]: null }])
        await call("updateAccountSettings", 200, { path, body });

    // The requests before may change nothing, and only a change is in the audit log.
    if ("languages" in settings)
      await call("updateAccountSettings", 200, { path, body: { languages: ["en", "ko"] } });
  }
};

const readPages: Journey = async (session) => {
  const { call } = session;
  let query = "?limit=1";
  for (let pages = 0; pages < 3; pages += 1) {
    const page = await call("listPosts", 200, { query });
    const cursor = page.body["nextCursor"];
    if (typeof cursor !== "string") break;
    query = `?limit=1&cursor=${encodeURIComponent(cursor)}`;
    await call("listWebhooks", 400, { query });
    await call("listPosts", 400, { query: `${query}&platform=x` });
  }
  const platforms = await call("listPlatforms", 200);
  const headers = { "if-none-match": String(platforms.headers["etag"]) };
  await call("listPlatforms", 304, { headers });
};

/** Reads every list once, imports a file, and disconnects an account. */
const readLists: Journey = async (session, { tenant, outsideUrl }) => {
  const { call } = session;
  const lists = ["listAccounts", "listAutomationRules", "listAutomationRuns", "listBackfills"];
  for (const list of [...lists, "listQueueSlotRules", "listWebhooks", "getQuota"])
    await call(list, 200);
  await call("importMedia", [201, 202], { body: { url: `${outsideUrl}/a.jpg` } });
  const path = { id: await tenant.connect("bluesky") };
  await call("disconnectAccount", 204, { path });
  await call("disconnectAccount", [204, 404], { path });
};

/** All journeys (sequences of requests), each named by what it does. */
export const JOURNEYS: Readonly<Record<string, Journey>> = {
  publishPost,
  repeatRequest,
  useMedia,
  receiveWebhooks,
  fillQueue,
  changeSettings,
  readPages,
  readLists,
  engage: runEngagementJourney,
};
