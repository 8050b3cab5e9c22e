import {
  conflict,
  invalidRequest,
  notFound,
  ServiceError,
  unprocessable,
  wrongStatus,
} from "@postrider/shared/errors";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { ACCOUNT_ID, admitted, MEDIA_ID, POST_ID, WORKSPACE_ID } from "./fixture.ts";

/** A request with a mistake, as a program sends it whose author has not read the documentation. */
export interface NewcomerCase {
  /** The mistake in the request, in a few words. */
  readonly mistake: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /**
   * Path below `/api/v1`. If it begins with `//`, the text after the first `/` is the whole path,
   * which need not lie below `/api/v1`.
   */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The body of the request. An object is sent as JSON; a text is sent unchanged, with the content
   * type of JSON.
   */
  readonly body?: unknown;
  /**
   * The error with which the simulated service behind the gateway refuses the request, as the real
   * service would.
   */
  readonly refusal?: ServiceError;
  readonly admission?: AdmissionResult;
}

const RULE_ID = "01936a5e-7d2b-7000-8000-0000000000e1";
const WEBHOOK_ID = "01936a5e-7d2b-7000-8000-0000000000e2";
const DELIVERY_ID = "01936a5e-7d2b-7000-8000-0000000000e3";
const LIMIT = {
  policy: "workspace",
  quota: 600,
  windowSeconds: 60,
  remaining: 0,
  resetSeconds: 12,
} as const;

/** The workspaces of an API key that belongs to several workspaces. */
const WORKSPACES = ["01936a5e-7d2b-7000-8000-0000000000f1", "01936a5e-7d2b-7000-8000-0000000000f2"];

type Options = Partial<Pick<NewcomerCase, "headers" | "refusal" | "admission">>;
type Add = (mistake: string, path: string, body?: unknown, options?: Options) => NewcomerCase;

function adder(method: NewcomerCase["method"]): Add {
  return (mistake, path, body, options = {}) => ({
    mistake,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...options,
  });
}
const get = adder("GET");
const post = adder("POST");
const patch = adder("PATCH");
const put = adder("PUT");
const remove = adder("DELETE");

const POST_BODY = { content: "Hello", accountIds: [ACCOUNT_ID] };
const x = { accountId: ACCOUNT_ID, platform: "x" };
const refuse = (...violations: Parameters<typeof unprocessable>[1] & object): Options => ({
  refusal: unprocessable("validation_failed", violations),
});
const invalid = (path: string): Options => ({
  refusal: invalidRequest([{ code: "invalid", path }]),
});

const KEYS: readonly NewcomerCase[] = [
  get("sends no key", "/accounts", undefined, {
    headers: { authorization: "" },
    admission: { kind: "unauthenticated", limit: LIMIT },
  }),
  get("sends the key in X-Api-Key", "/platforms", undefined, {
    headers: { authorization: "", "x-api-key": "pr_live_x" },
    admission: { kind: "unauthenticated", limit: LIMIT },
  }),
  get("names no workspace with a key of several", "/quota", undefined, {
    admission: { kind: "workspace_required", limit: LIMIT, workspaceIds: WORKSPACES },
  }),
  get("sends the name of the workspace", "/webhooks", undefined, {
    headers: { "x-workspace-id": "my-team" },
  }),
  get("names the workspace of a colleague", "/accounts", undefined, {
    headers: { "x-workspace-id": WORKSPACE_ID },
    admission: { kind: "workspace_forbidden", limit: LIMIT, workspaceIds: WORKSPACES },
  }),
  remove("disconnects with a key that only reads", `/accounts/${ACCOUNT_ID}`, undefined, {
    admission: admitted({ scopes: new Set(["accounts:read"]) }),
  }),
  post("publishes in a workspace that is not verified", "/posts", POST_BODY, {
    admission: admitted({ verified: false }),
  }),
  get("polls in a loop", `/comment-actions/${RULE_ID}`, undefined, {
    admission: {
      kind: "rate_limited",
      workspaceId: WORKSPACE_ID,
      retryAfterSeconds: 12,
      limit: LIMIT,
    },
  }),
];

const PATHS: readonly NewcomerCase[] = [
  get("guesses a path in the singular", "/post"),
  get("guesses the path of the account", "/accounts/me"),
  get("forgets the version", "//api/posts"),
  put("updates a post with PUT", `/posts/${POST_ID}`, { content: "New" }),
  get("reads a post by a number", "/posts/17"),
  get("reads settings by the name of the account", "/accounts/rider/settings"),
  remove("deletes a slot rule by a number", "/queue-slots/1"),
  remove("revokes a subscription by its name", "/webhooks/main"),
  get(
    "reads deliveries of a subscription with an id in capitals",
    `/webhooks/${WEBHOOK_ID.toUpperCase()}/deliveries`,
  ),
  put("uploads without the token", `//uploads/${MEDIA_ID}`, "bytes", {
    headers: { authorization: "", "content-type": "image/jpeg" },
  }),
  get("reads a post that was deleted", `/posts/${POST_ID}`, undefined, { refusal: notFound() }),
  remove("deletes media by its file name", "/media/shop.jpg"),
];

const BODIES: readonly NewcomerCase[] = [
  post("sends no body", "/posts"),
  post("sends a form", "/posts", "content=Hello&accountIds=1", {
    headers: { "content-type": "application/x-www-form-urlencoded" },
  }),
  post("sends JSON with a comma too many", "/posts", '{"content": "Hello",}'),
  post("sends a list of posts", "/posts", [POST_BODY]),
  post("compresses the body", "/posts", POST_BODY, { headers: { "content-encoding": "gzip" } }),
  post("sends a body to an operation without one", `/posts/${POST_ID}/retry`, { targets: ["x"] }),
  post("sends a text of 300 KiB", "/posts", { ...POST_BODY, content: "x".repeat(300 * 1024) }),
];

const POSTS: readonly NewcomerCase[] = [
  post("calls the text `text`", "/posts", { text: "Hello", accountIds: [ACCOUNT_ID] }),
  post("names one account as a text", "/posts", { content: "Hello", accountIds: ACCOUNT_ID }),
  post("names an account by its handle", "/posts", { content: "Hello", accountIds: ["@rider"] }),
  post("names a platform instead of accounts", "/posts", { content: "Hello", platforms: ["x"] }),
  post("names no account", "/posts", { content: "Hello", accountIds: [] }),
  post("sends snake_case", "/posts", { content: "Hello", account_ids: [ACCOUNT_ID] }),
  post("sends URLs as media", "/posts", { ...POST_BODY, mediaIds: ["https://example.com/a.jpg"] }),
  post("sends a date without a time", "/posts", { ...POST_BODY, scheduledAt: "2026-12-24" }),
  post("sends a time without an offset", "/posts", {
    ...POST_BODY,
    scheduledAt: "2026-12-24T18:00:00",
  }),
  post("sends a Unix time", "/posts", { ...POST_BODY, scheduledAt: 1_795_000_000 }),
  post("sends the 30th of February", "/posts", {
    ...POST_BODY,
    scheduledAt: "2026-02-30T09:00:00Z",
  }),
  post("wants the queue and a time", "/posts", {
    ...POST_BODY,
    queueSlot: true,
    scheduledAt: "2026-12-24T18:00:00Z",
  }),
  post("sends `draft` as a status", "/posts", { ...POST_BODY, status: "draft" }),
  post("sends options as a list", "/posts", { ...POST_BODY, options: [{ platform: "x" }] }),
  post("sends a privacy of YouTube's own", "/posts", {
    ...POST_BODY,
    options: { youtube: { privacy: "friends" } },
  }),
  post("names the platforms whose metrics it wants", `/posts/${POST_ID}/metrics/refresh`, {
    platforms: ["x"],
  }),
  post("sends an Idempotency-Key with a space", "/posts", POST_BODY, {
    headers: { "idempotency-key": "my key" },
  }),
  post(
    "names an account of another workspace",
    "/posts",
    POST_BODY,
    refuse({ code: "unknown_account", path: "/accountIds/0", accountId: ACCOUNT_ID }),
  ),
  post(
    "names media before its upload is complete",
    "/posts",
    { ...POST_BODY, mediaIds: [MEDIA_ID] },
    refuse({ code: "media_not_ready", path: "/mediaIds/0" }),
  ),
  post(
    "posts a text that is too long for X",
    "/posts/validate",
    POST_BODY,
    refuse({
      code: "content_too_long",
      path: "/content",
      limit: 280,
      actual: 312,
      unit: "weighted_characters",
      ...x,
    }),
  ),
  post(
    "posts to Instagram without a picture",
    "/posts/validate",
    POST_BODY,
    refuse({
      code: "media_required",
      path: "/mediaIds",
      accountId: ACCOUNT_ID,
      platform: "instagram",
    }),
  ),
  post(
    "posts a video to YouTube without a title",
    "/posts",
    POST_BODY,
    refuse({
      code: "title_required",
      path: "/options/youtube/title",
      accountId: ACCOUNT_ID,
      platform: "youtube",
    }),
  ),
  post(
    "posts to TikTok without a privacy",
    "/posts",
    POST_BODY,
    refuse({
      code: "privacy_required",
      path: "/options/tiktok/privacy",
      allowed: ["public", "unlisted", "private"],
      accountId: ACCOUNT_ID,
      platform: "tiktok",
    }),
  ),
  post(
    "sends options for a platform without a target",
    "/posts",
    { ...POST_BODY, options: { twitter: {} } },
    refuse({ code: "unknown_option_key", path: "/options/twitter" }),
  ),
  post(
    "schedules for in three years",
    "/posts",
    { ...POST_BODY, scheduledAt: "2030-01-01T00:00:00Z" },
    refuse({ code: "schedule_too_far", path: "/scheduledAt", limit: 366 }),
  ),
  post("posts the same text twice", "/posts", POST_BODY, {
    refusal: conflict("duplicate_content", [{ code: "duplicate_content", postId: POST_ID, ...x }]),
  }),
  post(
    "wants a slot without a rule",
    "/posts",
    { ...POST_BODY, queueSlot: true },
    {
      refusal: conflict("no_queue_slot"),
    },
  ),
  post("has used up the month", "/posts", POST_BODY, {
    refusal: unprocessable("quota_exceeded", [
      {
        code: "monthly",
        limit: 1000,
        used: 1000n,
        reserved: 0n,
        requested: 1n,
        resetsAt: { seconds: 1_796_083_200n, nanos: 0 },
      },
    ]),
  }),
  patch("changes nothing", `/posts/${POST_ID}`, {}),
  patch(
    "changes a published post",
    `/posts/${POST_ID}`,
    { content: "New" },
    {
      refusal: wrongStatus("published", ["draft", "scheduled"], "post_not_editable"),
    },
  ),
  patch(
    "sends an If-Match without quotes",
    `/posts/${POST_ID}`,
    { content: "New" },
    {
      headers: { "if-match": "3" },
      refusal: conflict("precondition_failed"),
    },
  ),
  post("publishes with force: false", `/posts/${POST_ID}/publish`, { force: false }),
  post("publishes a published post", `/posts/${POST_ID}/publish`, undefined, {
    refusal: wrongStatus("published", ["draft", "scheduled"]),
  }),
  post("retries a post without a failure", `/posts/${POST_ID}/retry`, undefined, {
    refusal: conflict("nothing_to_retry"),
  }),
  post("retries a post with an unknown outcome", `/posts/${POST_ID}/retry`, undefined, {
    refusal: conflict("nothing_to_retry", [{ code: "outcome_unknown", ...x }]),
  }),
  remove("deletes a post while it is published", `/posts/${POST_ID}`, undefined, {
    refusal: conflict("post_publishing"),
  }),
];

const LISTS: readonly NewcomerCase[] = [
  get("asks for 500 posts", "/posts?limit=500"),
  get("asks for all jobs", "/automations/partner-dm-backfills?limit=all"),
  get("asks for page 2", "/automations/partner-dm-rules?page=2"),
  get("filters by an unknown status", "/posts?status=live"),
  get("filters by a time instead of a date", "/posts?from=2026-11-01T00:00:00Z"),
  get("swaps from and to", "/posts?from=2026-11-30&to=2026-11-01", undefined, {
    refusal: invalidRequest([{ code: "range_reversed", path: "/from" }]),
  }),
  get("invents a cursor", "/posts?cursor=2", undefined, {
    refusal: new ServiceError("invalid", "invalid_cursor"),
  }),
  get("filters runs by the number of a rule", "/automations/partner-dm-runs?ruleId=7"),
  get("asks for all results of a job", `/automations/partner-dm-backfills/${RULE_ID}?limit=1000`),
  get("asks for 100 comments", `/accounts/${ACCOUNT_ID}/media/180_1/comments?limit=100`),
  get("waits without waitFor", `/posts/${POST_ID}?timeoutSeconds=10`),
];

const OTHERS: readonly NewcomerCase[] = [
  post("presigns without a size", "/media/presign", {
    fileName: "a.jpg",
    contentType: "image/jpeg",
  }),
  post(
    "presigns a PDF",
    "/media/presign",
    { fileName: "a.pdf", contentType: "application/pdf", bytes: 10 },
    {
      refusal: unprocessable("media_rejected", [
        {
          code: "media_type_unsupported",
          path: "/contentType",
          allowed: ["image/jpeg", "image/png", "video/mp4"],
        },
      ]),
    },
  ),
  post("completes before the upload", `/media/${MEDIA_ID}/complete`, undefined, {
    refusal: conflict("media_not_uploaded"),
  }),
  post("imports a path", "/media/from-url", { url: "/pictures/shop.jpg" }),
  post(
    "imports from localhost",
    "/media/from-url",
    { url: "http://localhost:3000/a.jpg" },
    {
      refusal: unprocessable("address_not_allowed", [
        { code: "address_not_allowed", path: "/url" },
      ]),
    },
  ),
  post(
    "imports a web page that needs a login",
    "/media/from-url",
    { url: "https://example.com/a" },
    {
      refusal: unprocessable("import_failed", [
        { code: "download_refused", path: "/url", status: "403" },
      ]),
    },
  ),
  remove("deletes media that a post uses", `/media/${MEDIA_ID}`, undefined, {
    refusal: conflict("media_in_use", [{ code: "used_by_post", postId: POST_ID }]),
  }),
  post("writes weekdays in full", "/queue-slots", {
    name: "Morning",
    weekdays: ["Monday"],
    times: ["09:00"],
    timezone: "Europe/Berlin",
  }),
  post("writes 9 o'clock without a zero", "/queue-slots", {
    name: "Morning",
    weekdays: ["mon"],
    times: ["9:00"],
    timezone: "Europe/Berlin",
  }),
  post(
    "writes the zone as an offset",
    "/queue-slots",
    { name: "Morning", weekdays: ["mon"], times: ["09:00"], timezone: "GMT+1" },
    {
      refusal: invalidRequest([{ code: "unknown_timezone", path: "/timezone" }]),
    },
  ),
  patch("pauses a slot rule with enabled: false", `/queue-slots/${RULE_ID}`, { enabled: false }),
  post("subscribes without events", "/webhooks", { url: "https://example.com/hook" }),
  post(
    "subscribes to an event that does not exist",
    "/webhooks",
    { url: "https://example.com/hook", events: ["post.created"] },
    invalid("/events/0"),
  ),
  post(
    "subscribes with ftp",
    "/webhooks",
    { url: "ftp://example.com/hook", events: ["*"] },
    invalid("/url"),
  ),
  patch("rotates the secret with true", `/webhooks/${WEBHOOK_ID}`, { rotateSecret: true }),
  patch(
    "rotates the secret of Ed25519",
    `/webhooks/${WEBHOOK_ID}`,
    { rotateSecret: { graceHours: 1 } },
    {
      refusal: invalidRequest([{ code: "secret_unsupported", path: "/rotateSecret" }]),
    },
  ),
  post(
    "retries a delivery that succeeded",
    `/webhooks/${WEBHOOK_ID}/deliveries/${DELIVERY_ID}/retry`,
    undefined,
    {
      refusal: wrongStatus("succeeded", ["failed"], "delivery_not_failed"),
    },
  ),
  post(
    "creates a rule for an account of X",
    "/automations/partner-dm-rules",
    { accountId: ACCOUNT_ID, name: "Price", keywords: ["price"], message: "Hi" },
    refuse({
      code: "platform_unsupported",
      path: "/accountId",
      allowed: ["instagram", "facebook"],
      ...x,
    }),
  ),
  patch("activates a rule with true", `/automations/partner-dm-rules/${RULE_ID}`, { active: true }),
  post("prepares the comments of several posts", "/automations/partner-dm-backfills", {
    ruleId: RULE_ID,
    mediaIds: ["180_1", "180_2"],
  }),
  patch("stops a job with stop", `/automations/partner-dm-backfills/${RULE_ID}`, {
    action: "stop",
  }),
  get("previews without a rule", "/automations/partner-dm-backfills/preview"),
  post("replies without a text", `/accounts/${ACCOUNT_ID}/media/180_1/comments/179_1/actions`, {
    type: "reply",
  }),
  post("deletes a comment", `/accounts/${ACCOUNT_ID}/media/180_1/comments/179_1/actions`, {
    type: "delete",
  }),
  patch("changes settings with the wrapper", `/accounts/${ACCOUNT_ID}/settings`, {
    settings: { replySettings: "everyone" },
  }),
  patch("describes a picture with 2,000 characters", `/media/${MEDIA_ID}`, {
    altText: "x".repeat(2000),
  }),
];

/** The wrong requests, grouped by topic. */
export const NEWCOMER_CASES: Readonly<Record<string, readonly NewcomerCase[]>> = {
  "Keys, workspaces and limits": KEYS,
  "Paths and methods": PATHS,
  "Forms of bodies": BODIES,
  Posts: POSTS,
  "Lists and reads": LISTS,
  "Media, slots, webhooks, automations, comments, settings": OTHERS,
};
