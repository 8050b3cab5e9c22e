import { setTimeout as sleep } from "node:timers/promises";
import type { LeastVisible } from "@postrider/platforms/diagnosis/least-visible";
import type {
  FindPublication,
  PublishingConnector,
} from "@postrider/platforms/publishing/connector";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Publication } from "@postrider/platforms/publishing/publication";
import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import type { LiveCheckStep } from "#src/publishing/domain/live-check.ts";

export interface CheckedPost {
  readonly connector: PublishingConnector;
  readonly publication: Publication;
  readonly handles: Handles;
  readonly calledAt: Date;
  readonly callUntil: Date;
  /** Null if it is not known. */
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly visibility: LeastVisible["visibility"];
  readonly isOwned: UnknownCall["isOwned"];
  /** Like a reader without an account. Absent for a simulated platform. */
  readonly openPermalink: OpenPermalink | undefined;
  /** Maximum duration of a step in milliseconds. */
  readonly patienceMs: number;
  readonly stopping: AbortSignal;
}

export type OpenPermalink = (permalink: string, signal: AbortSignal) => Promise<number>;

type Finding = Pick<LiveCheckStep, "status" | "found">;

const MAX_WAIT_MS = 5_000;
const OPEN_MS = 15_000;

async function record(name: string, run: () => Promise<Finding>): Promise<LiveCheckStep> {
  const startedAt = performance.now();
  const finding = await run().catch((error: unknown): Finding => {
    return { status: "failed", found: describe(error) };
  });
  return { name, ...finding, tookMs: Math.round(performance.now() - startedAt) };
}

/** Reads the post as Postrider does after a lost answer, and after a restore. */
export async function readBack(post: CheckedPost): Promise<readonly LiveCheckStep[]> {
  const { connector, handles } = post;
  const reconcile: FindPublication = (...parameters) => connector.reconcile(...parameters);
  return [
    await record("find it as after a lost answer", () => lookFor(post, reconcile, handles)),
    await record("find it by its content", () => lookByContent(post)),
    await record("open its permalink", () => open(post)),
  ];
}

/** The platform must not show the post any more, and accept its deletion once more. */
export async function readAfterDeletion(post: CheckedPost): Promise<readonly LiveCheckStep[]> {
  return [
    await record("find it no longer", () => lookAfterDeletion(post)),
    await record("delete it again", () => deleteAgain(post)),
  ];
}

async function lookOnce(
  { publication, calledAt, callUntil, isOwned }: CheckedPost,
  find: FindPublication,
  handles: Handles,
  signal: AbortSignal,
): Promise<Verdict> {
  const call = {
    calledAt,
    callUntil,
    // No search of a live check may prove that the post is absent: a proof takes ten minutes.
    looks: 0,
    now: new Date(),
    timeScale: 1,
    isPending: false,
    isOwned,
    hasPostWithoutId: () => Promise.resolve(false),
    hasSimilarPost: () => Promise.resolve(false),
  };
  return await find(publication, handles, call, signal);
}

function isNotThere(verdict: Verdict): boolean {
  return (
    verdict.kind === "absent" || (verdict.kind === "look_again" && verdict.isIncomplete !== true)
  );
}

async function lookUntil(
  post: CheckedPost,
  find: FindPublication,
  handles: Handles,
  isEnd: (verdict: Verdict) => boolean,
): Promise<Verdict> {
  const { patienceMs, stopping } = post;
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(patienceMs)]);
  for (;;) {
    const verdict = await lookOnce(post, find, handles, signal);
    if (isEnd(verdict) || signal.aborted) return verdict;
    const afterMs = verdict.kind === "look_again" ? verdict.afterMs : MAX_WAIT_MS;
    const waitMs = Math.min(afterMs, MAX_WAIT_MS);
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return verdict;
  }
}

async function lookFor(
  post: CheckedPost,
  find: FindPublication,
  handles: Handles,
): Promise<Finding> {
  const isEnd = ({ kind }: Verdict): boolean => kind !== "look_again" && kind !== "absent";
  return judge(await lookUntil(post, find, handles, isEnd), post);
}

function judge(verdict: Verdict, { externalId: expected }: CheckedPost): Finding {
  switch (verdict.kind) {
    case "present":
      return judgePresent(verdict.externalId, expected);
    case "cannot_tell":
      return { status: "warning", found: verdict.message };
    case "refused":
      return { status: "failed", found: `${verdict.code}: ${verdict.message}` };
    case "repeat": {
      const found =
        "the post could not be read; Postrider would repeat the call, which is harmless";
      return { status: "warning", found };
    }
    case "absent":
    case "look_again": {
      const found = isNotThere(verdict)
        ? "the search did not find the post: after a lost answer, Postrider could not have found it either"
        : "the account's posts could not be read completely";
      return { status: "failed", found };
    }
  }
}

function judgePresent(found: string | null, expected: string | null): Finding {
  if (found === null) return { status: "ok", found: "the platform says that the post exists" };
  return expected === null || expected === found
    ? { status: "ok", found: `the search found the post ${found}` }
    : {
        status: "failed",
        found: `the search found the post ${found}, but the call had returned ${expected}`,
      };
}

/** Undefined if no list of the platform shows the post. */
function searchOf({ connector, visibility }: CheckedPost): FindPublication | undefined {
  return visibility === "unpublished" ? undefined : connector.findMatchingPost;
}

const NO_SEARCH: Finding = {
  status: "skipped",
  found: "the platform has no list of posts to search",
};

/** Found only if its text and files are on the platform as they were sent. */
async function lookByContent(post: CheckedPost): Promise<Finding> {
  const find = searchOf(post);
  return find === undefined ? NO_SEARCH : await lookFor(post, find, {});
}

async function lookAfterDeletion(post: CheckedPost): Promise<Finding> {
  const find = searchOf(post);
  if (find === undefined) return NO_SEARCH;
  const verdict = await lookUntil(post, find, {}, isNotThere);
  if (isNotThere(verdict)) return { status: "ok", found: "the post is no longer found" };
  return verdict.kind === "present"
    ? { status: "failed", found: "the post is still found after its deletion" }
    : { status: "warning", found: "the account's posts could not be read after the deletion" };
}

async function deleteAgain({
  connector,
  publication,
  externalId,
  permalink,
  patienceMs,
}: CheckedPost): Promise<Finding> {
  const signal = AbortSignal.timeout(patienceMs);
  const outcome = await connector.delete(publication, externalId ?? "", signal, permalink);
  return outcome.kind === "deleted"
    ? { status: "ok", found: "a repeated deletion is harmless" }
    : { status: "warning", found: `a repeated deletion is refused: ${outcome.message}` };
}

async function open({
  openPermalink,
  permalink,
  visibility,
  stopping,
}: CheckedPost): Promise<Finding> {
  if (permalink === null) return { status: "skipped", found: "the platform returned no permalink" };
  if (visibility !== "readers")
    return { status: "skipped", found: `only the account's owner can open ${permalink}` };
  if (openPermalink === undefined)
    return { status: "skipped", found: `the platform is simulated, and ${permalink} is not` };
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(OPEN_MS)]);
  try {
    const status = await openPermalink(permalink, signal);
    const isGone = status === 404 || status === 410;
    const worst = isGone ? "failed" : "warning";
    return { status: status < 400 ? "ok" : worst, found: `${permalink} answers ${status}` };
  } catch (error) {
    return { status: "warning", found: `${permalink} could not be opened: ${describe(error)}` };
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "no answer";
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
