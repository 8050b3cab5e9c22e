import { eventually } from "@postrider/shared/testing/poll";
import { JOBS, RULES, RUNS } from "../requests/automations.ts";
import {
  actionsOn,
  commentsOn,
  justAfterNow,
  publishOn,
  type Media,
} from "../requests/engagement.ts";
import type { Tenant } from "../requests/tenant.ts";
import type { System } from "../system/system.ts";
import type { Fixtures } from "./matrix.ts";

const NOT_FOUND = "404 not_found";
const INVALID_CURSOR = "400 invalid_cursor";
/**
 * More comments than fit on one page of a backfill job, so that the job is not complete after its
 * first page.
 */
const COMMENTS = 60;

/** The comments, automation rules, automation runs and backfill jobs of a workspace. */
export interface EngagementBelongings {
  readonly media: Media;
  readonly commentId: string;
  readonly action: string;
  readonly rules: Readonly<Record<"draft" | "paused" | "revoked", string>>;
  readonly runs: readonly string[];
  readonly job: string;
  readonly cursors: Readonly<
    Record<"comments" | "rules" | "runs" | "jobs" | "results" | "preview", string>
  >;
}

/**
 * Creates comments in a workspace, and every kind of resource that the API derives from comments.
 */
export async function makeEngagement(
  { simulator }: Pick<System, "simulator">,
  tenant: Tenant,
  mark: string,
): Promise<EngagementBelongings> {
  const { api } = tenant;
  const media = await publishOn(tenant, "instagram", { content: `commented ${mark}` });
  const comment = (text: string, more: { readonly createdAt?: string } = {}) =>
    simulator.addComment(media, { text: `${text} ${mark}`, ...more });
  const post = async (path: string, body: object) =>
    (await api.call<{ id: string }>("POST", path, { body })).body.id;
  const makeRule = (name: string) => {
    const texts = { name: `${name} ${mark}`, keywords: ["price"], message: `message ${mark}` };
    return post(RULES, { accountId: media.accountId, ...texts });
  };
  const setStatus = (id: string, status: string) =>
    api.call("PATCH", `${RULES}/${id}`, { body: { status } });
  const cursorOf = async (path: string) =>
    (await api.call<{ nextCursor: string }>("GET", path)).body.nextCursor;

  const rules = {
    draft: await makeRule("draft"),
    paused: await makeRule("paused"),
    revoked: await makeRule("revoked"),
  };
  await setStatus(rules.revoked, "revoked");
  await setStatus(rules.paused, "active");
  const createdAt = justAfterNow();
  for (const text of ["price one", "price two"]) await comment(text, { createdAt });
  const runs = await eventually(async () => {
    const { body } = await api.call<{ runs: { id: string }[] }>("GET", RUNS);
    if (body.runs.length < 2) throw new Error(`there are ${body.runs.length} runs`);
    return body.runs.map(({ id }) => id);
  });
  // The rule is paused, because Postrider polls the accounts of active rules, and a poll would
  // change the database, which the tests compare before and after each request.
  await setStatus(rules.paused, "paused");

  const commentId = await comment("no");
  for (let index = 0; index < COMMENTS; index += 1) await comment(`no ${index}`);
  const action = await post(actionsOn(media, commentId), { type: "reply", text: `reply ${mark}` });
  await eventually(async () => {
    const { body } = await api.call<{ status: string }>("GET", `/comment-actions/${action}`);
    if (body.status !== "succeeded") throw new Error(`the action is ${body.status}`);
  });
  const target = { ruleId: rules.paused, mediaId: media.id };
  const job = await post(JOBS, target);
  await post(JOBS, target);
  const preview = `${JOBS}/preview?${new URLSearchParams(target).toString()}`;
  const cursors = {
    comments: await cursorOf(`${commentsOn(media)}?limit=1`),
    rules: await cursorOf(`${RULES}?limit=1`),
    runs: await cursorOf(`${RUNS}?limit=1`),
    jobs: await cursorOf(`${JOBS}?limit=1`),
    results: await cursorOf(`${JOBS}/${job}?limit=1`),
    preview: await cursorOf(preview),
  };
  return { media, commentId, action, rules, runs, job, cursors };
}

/** Returns the ids and cursors of all resources that `makeEngagement` created. */
export function engagementHandlesOf(belongings: EngagementBelongings): readonly string[] {
  const { media, commentId, action, rules, runs, job, cursors } = belongings;
  return [
    media.accountId,
    media.postId,
    media.id,
    commentId,
    action,
    ...Object.values(rules),
    ...runs,
    job,
    ...Object.values(cursors),
  ];
}

/** Returns test requests for the operations on comments, automations and metrics. */
export function engagementFixtures(
  ours: EngagementBelongings,
  theirs: EngagementBelongings,
): Fixtures {
  const refuse = (place: string, ids: readonly string[], refusal = NOT_FOUND) => ({
    [place]: { ids, refusal },
  });
  const cursor = (name: keyof EngagementBelongings["cursors"]) =>
    refuse("query:cursor", [theirs.cursors[name]], INVALID_CURSOR);
  const { id: mediaId, accountId } = ours.media;
  const account = refuse("path:id", [theirs.media.accountId]);
  const media = refuse("path:mediaId", [theirs.media.id]);
  const rules = Object.values(theirs.rules);
  const onMedia = { path: { id: accountId, mediaId } };
  const onComment = { path: { ...onMedia.path, commentId: ours.commentId } };
  const onRule = { path: { id: ours.rules.draft } };
  const onJob = { path: { id: ours.job } };
  const target = { ruleId: ours.rules.paused, mediaId };
  const newRule = {
    accountId,
    name: "New",
    keywords: ["new"],
    message: "New",
    mediaIds: [mediaId],
  };
  // A rule stores media ids of the platform without checking them, and later reads comments only of
  // its own account.
  const unread = refuse("body:/mediaIds", []);
  return {
    refreshPostMetrics: {
      requests: [{ path: { id: ours.media.postId } }],
      foreign: refuse("path:id", [theirs.media.postId]),
    },
    listComments: {
      requests: [onMedia],
      foreign: { ...account, ...media, ...cursor("comments") },
    },
    requestCommentAction: {
      requests: [{ ...onComment, body: { type: "reply", text: "Ours" } }],
      foreign: { ...account, ...media, ...refuse("path:commentId", [theirs.commentId]) },
    },
    getCommentAction: {
      requests: [{ path: { id: ours.action } }],
      foreign: refuse("path:id", [theirs.action]),
    },
    listAutomationRules: { requests: [{}], foreign: cursor("rules") },
    createAutomationRule: {
      requests: [{ body: newRule }],
      foreign: { ...refuse("body:/accountId", [theirs.media.accountId]), ...unread },
    },
    updateAutomationRule: {
      requests: [
        { ...onRule, body: { name: "Changed" } },
        { ...onRule, body: { status: "revoked" } },
      ],
      foreign: { ...refuse("path:id", rules), ...unread },
    },
    listAutomationRuns: {
      requests: [{ query: { ruleId: ours.rules.paused } }],
      foreign: { ...refuse("query:ruleId", rules), ...cursor("runs") },
    },
    previewBackfill: {
      requests: [{ query: target }],
      foreign: {
        ...refuse("query:ruleId", rules),
        ...refuse("query:mediaId", [theirs.media.id]),
        ...cursor("preview"),
      },
    },
    listBackfills: { requests: [{}], foreign: cursor("jobs") },
    createBackfill: {
      requests: [{ body: target }],
      foreign: {
        ...refuse("body:/ruleId", rules),
        ...refuse("body:/mediaId", [theirs.media.id]),
      },
    },
    getBackfill: {
      requests: [onJob],
      foreign: { ...refuse("path:id", [theirs.job]), ...cursor("results") },
    },
    updateBackfill: {
      requests: [
        { ...onJob, body: { action: "pause" } },
        { ...onJob, body: { action: "resume" } },
        { ...onJob, body: { action: "prepare_next_page" } },
      ],
      foreign: refuse("path:id", [theirs.job]),
    },
  };
}
