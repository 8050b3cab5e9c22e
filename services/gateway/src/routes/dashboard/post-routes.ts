import type {
  SecondPost,
  TargetWait,
} from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import {
  type CureListJson,
  type PostTargetsWordsJson,
  type PostWordsListJson,
  type TargetWordsJson,
  WAIT_KINDS,
  type WaitsForJson,
} from "@postrider/rest/dashboard/cures";
import type { PostDetailJson, PostTargetJson } from "@postrider/rest/posts/schemas";
import { causeWords, cureFor, listCures } from "@postrider/rest/target-errors/cures";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { PostReader } from "#src/clients/post-reader.ts";
import { createSharedReads } from "#src/clients/shared-reads.ts";
import { defined } from "#src/http/defined.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { sendJson } from "#src/routes/posts/mapping.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { CURSOR, IdParams } from "#src/routes/schemas.ts";

/**
 * What the dashboard says about a target of a post that was read in English. Where the platform
 * sent no words, the posts service puts our own in their place, which `cause` has already.
 */
function toTargetWords(target: PostTargetJson): TargetWordsJson {
  const { id, accountId, platform, username, status, error } = target;
  const common = { targetId: id, accountId, platform, username, status };
  if (error === null)
    return { ...common, code: null, message: null, retryable: false, cause: null, cure: null };
  const { code, message, retryable } = error;
  const cause = causeWords(code);
  return {
    ...common,
    code,
    message: message === cause.en ? null : message,
    retryable,
    cause,
    cure: cureFor({ code, platform, status, retryable }),
  };
}

const NOTHING = { until: null, pause: null, reason: null } as const;

function toWaitsFor({ kind, until, pause, reason }: TargetWait): WaitsForJson | null {
  const known = WAIT_KINDS.find((each) => each === kind);
  if (known === undefined) return null;
  const at = toOptionalInstant(until);
  return { kind: known, until: at, pause: pause ?? null, reason: reason ?? null };
}

export interface ReaderDeps {
  /** Shared by all routes that read one post: it gives the workspaces their turns. */
  readonly reader: PostReader;
}

interface TargetFacts {
  readonly waits: readonly TargetWait[];
  readonly seconds: readonly SecondPost[];
}

/** The targets of a post, with what they wait for. */
function toPostTargets(
  post: PostDetailJson,
  { waits, seconds }: TargetFacts,
): PostTargetsWordsJson {
  const byTarget = new Map(waits.map((wait) => [wait.targetId, wait]));
  const second = new Map(seconds.map(({ targetId, permalink }) => [targetId, permalink]));
  const isScheduled = post.status === "scheduled";
  const scheduled = { ...NOTHING, kind: "schedule", until: post.scheduledAt } as const;
  return {
    postId: post.id,
    targets: post.targets.map((target) => {
      const wait = byTarget.get(target.id);
      const waitsFor = wait === undefined ? null : toWaitsFor(wait);
      return {
        ...toTargetWords(target),
        waitsFor: isScheduled ? scheduled : waitsFor,
        secondPermalink: second.get(target.id) ?? null,
      };
    }),
  };
}

type Deps = Pick<ServerDeps, "overview" | "posts" | "publishingStatus"> & ReaderDeps;

const MAX_POSTS = 100;
/** Ids of posts, separated by commas. */
const WordsQuery = Type.Object(
  { ids: Type.String({ minLength: 36, maxLength: 37 * MAX_POSTS - 1 }) },
  { additionalProperties: false },
);

/** As many as a busy month has; the calendar reads them in one request. */
const MAX_LISTED = 1_000;
const CalendarQuery = Type.Object(
  { from: Type.String(), to: Type.String(), cursor: CURSOR },
  { additionalProperties: false },
);

/** Registers what the list and the page of posts show beyond the posts themselves. */
export function registerPostRoutes(api: FastifyInstance, deps: Deps): void {
  registerOverview(api, deps);
  registerCalendar(api, deps);
  registerWords(api, deps);
  registerTargets(api, deps);
}

function registerOverview(api: FastifyInstance, { overview }: Deps): void {
  const shared = createSharedReads<{ readonly json: string }>();
  api.get("/overview", dashboardRoute({ scope: "posts:read" }), async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { json } = await shared(workspaceId, () => overview.getOverview({ workspaceId }));
    return sendJson(reply, json);
  });
}

function registerCalendar(api: FastifyInstance, { posts }: Deps): void {
  const list = dashboardRoute({
    scope: "posts:read",
    querystring: CalendarQuery,
    answerBytes: ANSWER_BYTES.page,
  });
  type Route = { Querystring: Static<typeof CalendarQuery> };
  const shared = createSharedReads<{ readonly json: string }>();
  api.get<Route>("/posts", list, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const wanted = { workspaceId, limit: MAX_LISTED, ...defined(request.query) };
    const { json } = await shared(JSON.stringify(wanted), () => posts.listPosts(wanted));
    return sendJson(reply, json);
  });
}

/** Enough for the title of a post. */
const MAX_TEXT = 500;
/** Bytes of posts that are read at once. */
const MAX_READ = 512 * 1024;
/**
 * A hundred large posts take about a second of processor time here and in the posts service: those
 * of a workspace are read for one request at a time.
 */
const TURNS = { total: Infinity, perKey: 1, maxWaiting: Infinity, maxWaitMs: 5_000 };

function registerWords(api: FastifyInstance, { posts }: Deps): void {
  const cures: CureListJson = { cures: listCures() };
  api.get("/cures", dashboardRoute({}), () => cures);
  const words = dashboardRoute({
    scope: "posts:read",
    querystring: WordsQuery,
    answerBytes: ANSWER_BYTES.page,
  });
  type Route = { Querystring: Static<typeof WordsQuery> };
  const turns = new Semaphore(TURNS);
  api.get<Route>("/posts/words", words, async (request): Promise<PostWordsListJson> => {
    const { workspaceId } = callerOf(request);
    const ids = request.query.ids.split(",");
    if (ids.length > MAX_POSTS || !ids.every(isId))
      throw invalidRequest([{ code: "format", path: "/ids", expected: describeIds() }]);
    const refs = [...new Set(ids)].map((id) => ({ workspaceId, id }));
    return { posts: await turns.run(() => readWords(posts, refs), { key: workspaceId }) };
  });
}

/** Whole posts are read, which may be large, so a few at a time. */
async function readWords(
  posts: Deps["posts"],
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<PostWordsListJson["posts"]> {
  const words: PostWordsListJson["posts"][number][] = [];
  for (let from = 0; from < refs.length;) {
    const rest = refs.slice(from);
    const answer = await posts.batchGetPosts({ refs: rest, locale: "en", maxBytes: MAX_READ });
    for (const { json } of answer.posts) {
      const { id, status, content, targets } = JSON.parse(json) as PostDetailJson;
      const text = content.slice(0, MAX_TEXT);
      words.push({ postId: id, status, text, targets: targets.map(toTargetWords) });
    }
    from += answer.deferredFrom ?? rest.length;
  }
  return words;
}

function describeIds(): string {
  return `up to ${MAX_POSTS} ids of posts, separated by commas`;
}

export async function readPost(
  reader: PostReader,
  workspaceId: string,
  id: string,
): Promise<PostDetailJson> {
  const { json } = await reader.get(workspaceId, id, "en");
  return JSON.parse(json) as PostDetailJson;
}

function registerTargets(api: FastifyInstance, deps: Deps): void {
  const targets = dashboardRoute({ scope: "posts:read", params: IdParams });
  type Route = { Params: Static<typeof IdParams> };
  api.get<Route>("/posts/:id/targets", targets, async (request): Promise<PostTargetsWordsJson> => {
    const { workspaceId } = callerOf(request);
    const post = await readPost(deps.reader, workspaceId, pathId(request));
    return toPostTargets(post, await readFacts(deps, workspaceId, post));
  });
}

/** Whether a retry helps from a time on, which delivery may know. */
function isRetriedLater({ error, platform, status }: PostTargetJson): boolean {
  return error !== null && cureFor({ ...error, platform, status }).kind === "retry_later";
}

/** Only of targets about which there is something to ask. */
async function readFacts(
  { publishingStatus }: Pick<Deps, "publishingStatus">,
  workspaceId: string,
  { targets }: PostDetailJson,
): Promise<TargetFacts> {
  const open = targets.filter((target) => target.status === "publishing" || isRetriedLater(target));
  const twice = targets.filter(({ error }) => error?.code === "duplicate_detected");
  const toRequest = (some: typeof targets) => ({
    workspaceId,
    targetIds: some.map(({ id }) => id),
  });
  const [{ waits }, { posts: seconds }] = await Promise.all([
    open.length === 0 ? { waits: [] } : publishingStatus.batchGetWaits(toRequest(open)),
    twice.length === 0 ? { posts: [] } : publishingStatus.batchGetSecondPosts(toRequest(twice)),
  ]);
  return { waits, seconds };
}
