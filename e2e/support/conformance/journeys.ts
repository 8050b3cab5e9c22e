import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import type { JourneyAnswer, Session } from "./session.ts";
import type { World } from "./world.ts";

/** A sequence of requests in which ids of one answer are used in the next requests. */
export type Journey = (session: Session, world: World) => Promise<void>;

function idOf({ body }: Pick<JourneyAnswer, "body">): string {
  return String(body["id"]);
}

/** Replies to a comment, and creates, uses and revokes an automation rule. */
const runEngagementJourney: Journey = async (session, { publication }) => {
  const { call } = session;
  const { id, mediaId, commentId } = publication;
  await call("listComments", 200, { path: { id, mediaId }, query: "?limit=1" });
  const action = await call("requestCommentAction", 202, {
    path: { id, mediaId, commentId },
    body: { type: "reply", text: "Thank you" },
  });
  const actionPath = { id: String(action.body["id"]) };
  await eventually(async () => {
    const { body } = await call("getCommentAction", 200, { path: actionPath });
    if (body["status"] === "pending") throw new Error("the action is pending");
  });

  const body = { accountId: id, name: "Price", keywords: ["price"], message: "It costs 5." };
  const rule = await call("createAutomationRule", 201, { body });
  const path = { id: String(rule.body["id"]) };
  const setStatus = (status: string, expected: number) =>
    call("updateAutomationRule", expected, { path, body: { status } });
  await setStatus("active", 200);
  await setStatus("paused", 200);
  const about = new URLSearchParams({ ruleId: path.id, mediaId }).toString();
  await call("previewBackfill", 200, { query: `?${about}` });
  const target = { ruleId: path.id, mediaId };
  const job = await call("createBackfill", 202, { body: target });
  const jobPath = { id: String(job.body["id"]) };
  await call("getBackfill", 200, { path: jobPath });
  const change = (action: string, expected: number | readonly number[]) =>
    call("updateBackfill", expected, { path: jobPath, body: { action } });
  await change("pause", [200, 409]);
  await change("resume", [200, 409]);
  await change("prepare_next_page", [200, 409]);
  await setStatus("revoked", 200);
  await setStatus("active", 409);
  await call("listAutomationRuns", 200, { query: `?ruleId=${path.id}` });
};

/** Validates, creates, changes, publishes, retries and deletes a post. */
const publishPost: Journey = async (session, { tenant, ownAccountId }) => {
  const { call } = session;
  const unique = `journey ${crypto.randomUUID()}`;
  const content = { content: unique, accountIds: [ownAccountId] };
  await call("validatePost", 200, { body: content });
  const written = { ...content, isDraft: true };
  const created = await call("createPost", 202, { body: written });
  const path = { id: idOf(created) };
  const read = await call("getPost", 200, { path });
  const headers = { "if-match": String(read.headers["etag"]) };
  const body = { content: `${unique} changed` };
  await call("updatePost", 200, { path, body, headers });
  await call("updatePost", 412, { path, body, headers });
  await call("deletePost", 412, { path, headers });
  await tenant.addFault(ownAccountId, { operation: "publish", mode: "refuse" });
  await call("publishPost", 202, { path });
  const wait = { path, query: "?waitFor=final&timeoutSeconds=20" };
  const failed = await call("getPost", 200, wait);
  if (failed.body["status"] !== "failed")
    session.addProblem("publishPost", "did not fail in a journey", JSON.stringify(failed.body));
  await call("retryPost", 202, { path });
  const done = await call("getPost", 200, wait);
  if (done.body["status"] !== "published")
    session.addProblem("retryPost", "did not publish in a journey", JSON.stringify(done.body));
  await call("retryPost", 409, { path });
  await call("updatePost", 409, { path, body });
  await call("refreshPostMetrics", 200, { path });
  await call("deletePost", 202, { path });
  await call("deletePost", [202, 204, 404], { path });
  await call("getPost", [200, 404], { path });
};

/**
 * Repeats a request with its idempotency key, deletes a post, and sends requests for the deleted
 * post.
 */
const repeatRequest: Journey = async (session, { accountIds }) => {
  const { call } = session;
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = { content: crypto.randomUUID(), accountIds: accountIds.slice(0, 1), isDraft: true };
  const first = await call("createPost", 202, { body, headers });
  const again = await call("createPost", 202, { body, headers });
  if (idOf(first) !== idOf(again) || again.headers["idempotent-replayed"] !== "true")
    session.addProblem("createPost", "was not replayed", JSON.stringify(again));
  const other = { ...body, content: "other" };
  await call("createPost", 422, { body: other, headers });
  const path = { id: idOf(first) };
  await call("deletePost", 204, { path });
  await call("getPost", 404, { path });
  await call("publishPost", 404, { path });
};

/** Uploads media, sets its description, uses it in a post and deletes it. */
const useMedia: Journey = async (session, { accountIds }) => {
  const { call } = session;
  const bytes = sampleJpeg();
  const wanted = { fileName: "a.jpg", contentType: "image/jpeg", bytes: bytes.length };
  const grant = await call("presignUpload", 201, { body: wanted });
  const path = { id: idOf(grant) };
  await call("completeUpload", 409, { path });
  const { pathname, search } = new URL(String(grant.body["uploadUrl"]));
  const upload = {
    path: { uploadPath: pathname.replace(/^\/uploads\//, "") },
    query: search,
    bytes: Buffer.from(bytes),
    headers: { "content-type": "image/jpeg", authorization: "" },
  };
  await call("uploadFile", 204, upload);
  await call("uploadFile", [204, 409], upload);
  await call("completeUpload", 200, { path });
  await call("completeUpload", 200, { path });
  const described = { path, body: { altText: "A sailing boat" } };
  await call("updateMedia", 200, described);
  const body = {
    content: crypto.randomUUID(),
    accountIds: accountIds.slice(0, 2),
    mediaIds: [path.id],
    isDraft: true,
  };
  const post = await call("createPost", 202, { body });
  await call("deleteMedia", 409, { path });
  await call("deletePost", 204, { path: { id: idOf(post) } });
  await call("deleteMedia", [202, 204], { path });
  await call("completeUpload", 404, { path });
  const { isDraft: _isDraft, ...validated } = body;
  await call("validatePost", 422, { body: validated });
};

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
