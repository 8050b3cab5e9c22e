import { isPlatformId } from "@postrider/platforms/platform-id";
import { nextQuestionMs, type Details } from "@postrider/platforms/publishing/details";
import type { ISql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { SearchFloor } from "@postrider/shared/postgres/search-floor";
import type { Loop } from "@postrider/shared/process/loop";
import { inWorkSpan } from "@postrider/shared/tracing/work-span";
import { fetchCredentials } from "#src/clients/accounts.ts";
import {
  claimQuestions,
  deleteQuestions,
  findNextQuestion,
  isQuestionDue,
  postponeQuestion,
  type DetailQuestion,
} from "#src/publishing/db/detail-questions.ts";
import { lockTasks } from "#src/publishing/db/tasks.ts";
import type { Task } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";
import { addCaveat, writePublished } from "#src/publishing/operations/report-caveats.ts";

export type AskForDetailsOptions = Pick<
  PublishingDeps,
  "sql" | "logger" | "connectors" | "accounts" | "guard" | "settings" | "onEvents"
>;

type Credential = Awaited<ReturnType<typeof fetchCredentials>>[number];

const IDLE_MS = 30_000;
const BATCH = 20;
const CALL_MS = 10_000;
const LEASE_MS = 60_000;

/**
 * Completes published targets: asks platforms for the post ids that they had not returned when a
 * target was published, and reports the ids to the posts service; adds videos to playlists, and
 * asks whether they could be processed. After a day without success, the job stops trying, and the
 * target stays published as it is.
 */
export function startAskForDetails(options: AskForDetailsOptions): Loop {
  const stopping = new AbortController();
  const floor = new SearchFloor();
  const asked = new Map<string, Promise<void>>();
  const onError = (error: unknown): void => {
    floor.reset();
    options.logger.warn(
      { err: error },
      "platforms could not be asked for the post ids of published targets; they are asked again later",
    );
  };
  const begin = (platform: string, questions: readonly DetailQuestion[]): void => {
    const answered = askAll(options, questions, stopping.signal)
      .catch(onError)
      .finally(() => {
        asked.delete(platform);
        loop.nudge();
      });
    asked.set(platform, answered);
  };
  const loop = startDueLoop({
    sql: options.sql,
    isDue: (sql) => isQuestionDue(sql, floor.from),
    idleMs: IDLE_MS,
    work: async () => {
      const questions = await claim(options, floor, [...asked.keys()]);
      for (const [platform, own] of Map.groupBy(questions, (each) => each.platform))
        begin(platform, own);
      return questions.length === BATCH;
    },
    onError,
  });
  return {
    nudge: loop.nudge,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await loop[Symbol.asyncDispose]();
      await Promise.all(asked.values());
    },
  };
}

/** Leaves out the platforms that are being asked, so that a silent one delays no other. */
async function claim(
  { sql, guard }: AskForDetailsOptions,
  floor: SearchFloor,
  except: readonly string[],
): Promise<readonly DetailQuestion[]> {
  const next = await findNextQuestion(sql, floor.next(performance.now()));
  floor.moveTo(next.floor);
  if (next.waitMs === null || next.waitMs > 0) return [];
  if (!(await guard.isOwn())) return [];
  return await claimQuestions(sql, { limit: BATCH, leaseMs: LEASE_MS, since: next.floor, except });
}

async function askAll(
  options: AskForDetailsOptions,
  questions: readonly DetailQuestion[],
  stopping: AbortSignal,
): Promise<void> {
  const credentials = await fetchCredentials(options.accounts, questions);
  await Promise.all(
    questions.map(async (question, index) => {
      const attributes = { "postrider.target.id": question.targetId };
      await inWorkSpan("ask for details", question, attributes, async () => {
        const details = await ask(options, question, credentials[index], stopping);
        if (!stopping.aborted) await recordDetails(options, question, details);
      });
    }),
  );
}

async function ask(
  { connectors, logger }: AskForDetailsOptions,
  { platform, targetId, handles }: DetailQuestion,
  credential: Credential | undefined,
  stopping: AbortSignal,
): Promise<Details> {
  const connector = isPlatformId(platform) ? connectors[platform] : undefined;
  if (credential?.accountStatus !== "active" || connector?.findDetails === undefined)
    return { kind: "not_yet" };
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(CALL_MS)]);
  try {
    return await connector.findDetails(credential, handles, signal);
  } catch (error) {
    logger.warn(
      { err: error, targetId },
      "the platform could not be asked for the post id of a published target; the platform is asked again later",
    );
    return { kind: "not_yet" };
  }
}

async function recordDetails(
  options: AskForDetailsOptions,
  question: DetailQuestion,
  details: Details,
): Promise<void> {
  const isNew = details.kind === "found" || details.caveat !== undefined;
  await (isNew ? report(options, question, details) : askAgain(options, question, details));
}

/** Unless the answer ends the question. */
async function askAgain(
  { sql, settings }: { readonly sql: ISql } & Pick<AskForDetailsOptions, "settings">,
  question: DetailQuestion,
  details: Details,
): Promise<void> {
  const waitMs = nextQuestionMs(question, settings.reconcileTimeScale);
  if (details.kind !== "not_yet" || waitMs === undefined)
    return await deleteQuestions(sql, [question]);
  const { afterMs = 0, handles } = details;
  await postponeQuestion(sql, question, Math.max(waitMs, afterMs), handles);
}

/**
 * Returns the published target with what the platform has returned now: the post id, or the caveat
 * (how the post differs from the request, or what became of it). Returns undefined if nothing is
 * added.
 */
function addDetails(task: Task, details: Details): Task | undefined {
  if (task.status !== "published") return undefined;
  if (details.kind === "found" && task.externalId === null) {
    const { externalId, permalink } = details;
    return { ...task, version: task.version + 1, externalId, permalink };
  }
  if (details.kind === "found" || details.caveat === undefined) return undefined;
  return addCaveat(task, details.caveat);
}

async function report(
  { sql, settings, onEvents }: AskForDetailsOptions,
  question: DetailQuestion,
  details: Details,
): Promise<void> {
  await sql.begin(async (tx) => {
    const tasks = await lockTasks(tx, [question.targetId]);
    // The author of an export may have named the targets of others.
    const task = tasks.find(
      ({ generation, workspaceId }) =>
        generation === question.generation && workspaceId === question.workspaceId,
    );
    const detailed = task === undefined ? undefined : addDetails(task, details);
    if (detailed !== undefined) await writePublished(tx, detailed);
    await askAgain({ sql: tx, settings }, question, details);
  });
  onEvents();
}
