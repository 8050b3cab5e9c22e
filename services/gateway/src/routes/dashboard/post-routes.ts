import type {
  SecondPost,
  TargetWait,
} from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import type {
  CureListJson,
  PostTargetsWordsJson,
  PostWordsListJson,
} from "@postrider/rest/dashboard/cures";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import { listCures } from "@postrider/rest/target-errors/cures";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { PostReader } from "#src/clients/post-reader.ts";
import { createSharedReads } from "#src/clients/shared-reads.ts";
import { defined } from "#src/http/defined.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import { isRetriedLater, toTargetWords, toWaitsFor } from "#src/routes/dashboard/target-words.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { sendJson } from "#src/routes/posts/mapping.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { CURSOR, IdParams } from "#src/routes/schemas.ts";

export interface ReaderDeps {
  /** Shared by all routes that read one post: it gives the workspaces their turns. */
  readonly reader: PostReader;
}

interface TargetFacts {
  readonly waits: readonly TargetWait[];
  readonly seconds: readonly SecondPost[];
}

function byTarget(waits: readonly TargetWait[]) {
  return new Map(waits.map((wait) => [wait.targetId, toWaitsFor(wait)]));
}

/** The targets of a post, with what they wait for. */
function toPostTargets(
  post: PostDetailJson,
  { waits, seconds }: TargetFacts,
): PostTargetsWordsJson {
  const waitsFor = byTarget(waits);
  const second = new Map(seconds.map(({ targetId, permalink }) => [targetId, permalink]));
  const nothing = { until: null, pause: null, reason: null };
  const scheduled = { ...nothing, kind: "schedule", until: post.scheduledAt } as const;
  return {
    postId: post.id,
    targets: post.targets.map((target) => ({
      ...toTargetWords(target),
      waitsFor: post.status === "scheduled" ? scheduled : (waitsFor.get(target.id) ?? null),
      secondPermalink: second.get(target.id) ?? null,
    })),
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

function registerWords(api: FastifyInstance, deps: Deps): void {
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
    const read = await turns.run(() => readWords(deps.posts, refs), { key: workspaceId });
    return { posts: await withLimits(deps, workspaceId, read) };
  });
}

type ListedWords = PostWordsListJson["posts"];

/** Whole posts are read, which may be large, so a few at a time. */
async function readWords(
  posts: Deps["posts"],
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<ListedWords> {
  const words: ListedWords[number][] = [];
  for (let from = 0; from < refs.length;) {
    const rest = refs.slice(from);
    const answer = await posts.batchGetPosts({ refs: rest, locale: "en", maxBytes: MAX_READ });
    for (const { json } of answer.posts) {
      const { id, status, content, targets } = JSON.parse(json) as PostDetailJson;
      const text = content.slice(0, MAX_TEXT);
      const each = targets.map(toTargetWords);
      words.push({ postId: id, status, text, targets: each });
    }
    from += answer.deferredFrom ?? rest.length;
  }
  return words;
}

/** As many targets as delivery is asked about at once. */
const MAX_LIMITED = 100;

/** Adds how long the limits last at which targets failed. */
async function withLimits(
  { publishingStatus }: Pick<Deps, "publishingStatus">,
  workspaceId: string,
  words: ListedWords,
): Promise<ListedWords> {
  const limited = words
    .flatMap(({ targets }) => targets)
    .filter(({ cure }) => cure?.kind === "retry_later");
  if (limited.length === 0) return words;
  const targetIds = limited.slice(0, MAX_LIMITED).map(({ targetId }) => targetId);
  const { waits } = await publishingStatus.batchGetWaits({ workspaceId, targetIds });
  const known = byTarget(waits);
  return words.map(({ targets, ...post }) => ({
    ...post,
    targets: targets.map((each) => ({ ...each, waitsFor: known.get(each.targetId) ?? null })),
  }));
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
