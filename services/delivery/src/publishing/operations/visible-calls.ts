import { isInfrastructureError, isUniqueViolation, type Sql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { markCalls, type MarkRequest } from "#src/publishing/db/marks.ts";
import { explainUnmarked, type Unmarked } from "#src/publishing/db/unmarked-calls.ts";
import { nameClaim, hashContent } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "./dependencies.ts";
import { DONE, giveUp, learned, type TaskInputs, type WorkEnd } from "./task-work.ts";

/** A publishing call that is recorded as begun. Only such a call may be sent. */
interface Marked {
  readonly kind: "marked";
  readonly callNumber: number;
}

type MarkResult = Marked | { readonly kind: "unmarked"; readonly reason: Unmarked };

/**
 * How long a worker's request to begin a publishing call waits for other requests, so that one SQL statement records
 * all of them, in milliseconds.
 */
const WINDOW_MS = 2;
/** Maximum number of publishing calls that one SQL statement records as begun. */
const MAX_MARKS = 100;
/**
 * Average time in milliseconds after which a publish task is tried again when its account has another open publishing
 * call.
 */
const BUSY_MS = 250;

/** Records for all workers of the process that their publishing calls begin. */
export class CallMarker {
  readonly #sql: Sql;
  readonly #batcher: Batcher<MarkRequest, MarkResult>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_MARKS,
      flush: (requests) => this.#mark(requests),
    });
  }

  /**
   * Records that a publishing call begins; only then may the worker send the call. Throws if the database does not
   * answer: the call may then be recorded as begun, but the worker may not send it.
   */
  mark(request: MarkRequest): Promise<MarkResult> {
    return this.#batcher.submit(request);
  }

  async #mark(requests: readonly MarkRequest[]): Promise<readonly MarkResult[]> {
    try {
      const marks = await markCalls(this.#sql, requests);
      const callNumbers = new Map(marks.map((mark) => [nameClaim(mark), mark.callNumber]));
      return await Promise.all(
        requests.map((request) => this.#toResult(request, callNumbers.get(nameClaim(request)))),
      );
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      return await this.#markOneByOne(requests);
    }
  }

  async #toResult(request: MarkRequest, callNumber: number | undefined): Promise<MarkResult> {
    if (callNumber !== undefined) return { kind: "marked", callNumber };
    return { kind: "unmarked", reason: await this.#explain(request) };
  }

  /**
   * Returns why a publishing call may not begin. If the database does not answer, it returns `busy`, so that the task
   * is released. An error would also reach the workers whose calls the same SQL statement has recorded as begun.
   */
  async #explain(request: MarkRequest): Promise<Unmarked> {
    try {
      return await explainUnmarked(this.#sql, request);
    } catch (error) {
      if (!isInfrastructureError(error)) throw error;
      return "busy";
    }
  }

  /**
   * Records each publishing call in a statement of its own. This follows when the call of one worker violated a unique
   * index, which undid the common statement of all workers.
   */
  async #markOneByOne(requests: readonly MarkRequest[]): Promise<readonly MarkResult[]> {
    if (requests.length === 1) return [{ kind: "unmarked", reason: "busy" }];
    const results: MarkResult[] = [];
    for (const request of requests) results.push(...(await this.#mark([request])));
    return results;
  }
}

interface MarkDeps {
  readonly deps: Pick<PublishingDeps, "logger" | "random">;
  readonly marker: CallMarker;
}

/**
 * Records that the publishing call of a task begins, or returns how the work on the task ends without the call. If the database
 * does not answer, the call may be recorded as begun, but it is not sent. This is reported as an event, because otherwise the
 * outcome of the call would later count as unknown.
 */
export async function markCall(
  { deps, marker }: MarkDeps,
  inputs: TaskInputs,
  call: Required<Pick<MarkRequest, "callMs" | "isForeignHost">>,
): Promise<Marked | WorkEnd> {
  const { task, attemptNumber } = inputs;
  try {
    const result = await marker.mark({ ...toCallKey(inputs), ...call });
    return result.kind === "marked" ? result : onUnmarked(deps, inputs, result.reason);
  } catch (error) {
    deps.logger.warn(
      { err: error, targetId: task.targetId },
      "the database did not answer whether a publishing call may begin; the call is not sent, and the target is tried again",
    );
    const { fence, callNumber } = task;
    const { isForeignHost } = call;
    const lost = { kind: "mark_lost", fence, callNumber: callNumber + 1, isForeignHost } as const;
    return learned(task, attemptNumber, lost);
  }
}

/**
 * Returns the key of a claim, with what makes two publishing calls indistinguishable for a search: the account of the platform and
 * the content.
 */
export function toCallKey({ task, content, connector, credential }: TaskInputs) {
  const { targetId, generation, fence } = task;
  const { title, media } = content;
  const text = connector.comparableText?.(content.text) ?? content.text;
  const contentHash = hashContent({ text, title, mediaIds: media.map(({ id }) => id) });
  const { externalId: externalAccountId } = credential;
  return { targetId, generation, fence, contentHash, externalAccountId };
}

/** Decides how the work on a publish task ends whose publishing call may not begin. */
function onUnmarked(
  { random }: MarkDeps["deps"],
  { task, attemptNumber }: TaskInputs,
  reason: Unmarked,
): WorkEnd {
  switch (reason) {
    case "lost":
      return DONE;
    case "busy":
    case "held":
      return { kind: "release", delayMs: BUSY_MS * (1 + random()) };
    case "platform_held":
      return learned(task, attemptNumber, { kind: "platform_held", fence: task.fence });
    case "missed":
      return giveUp(task, attemptNumber, "missed");
    case "superfluous":
      return learned(task, attemptNumber, { kind: "not_wanted", fence: task.fence });
  }
}

/** The publishing calls of this process that have not ended, with their deadlines. */
export class OpenCalls {
  readonly #deadlines = new Set<{ readonly ms: number }>();

  /** Registers a publishing call that ends within `callMs`. Disposing of the returned object ends the registration. */
  begin(callMs: number): Disposable {
    const deadline = { ms: performance.now() + callMs };
    this.#deadlines.add(deadline);
    return { [Symbol.dispose]: () => void this.#deadlines.delete(deadline) };
  }

  /**
   * Returns the milliseconds until the last of the open publishing calls must end, rounded up; 0 if no call is open.
   */
  remainingMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#deadlines].map(({ ms }) => Math.ceil(ms - now)));
  }
}
