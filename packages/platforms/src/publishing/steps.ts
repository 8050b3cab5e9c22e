import type { Handles } from "./handles.ts";
import type { Failure } from "./outcome.ts";
import type { Publication } from "./publication.ts";

/**
 * The result of a preparation step while the platform is still processing: the step runs again
 * after `afterMs`, with these handles added to the stored ones. A wait does not count as an
 * attempt. The connector limits the total waiting time with times that it stores in its handles.
 */
export interface StepWait {
  readonly kind: "wait";
  readonly afterMs: number;
  readonly handles?: Handles;
}

export type StepResult = Handles | Failure | StepWait;

/**
 * A preparation step of a post, which makes nothing visible. It can be repeated safely. Its result
 * is stored before the next platform call; that of an own step, before the publishing call.
 */
export interface PrepareStep {
  readonly name: string;
  /**
   * Makes its handles without the platform, so that it costs nothing to make other ones: they are
   * stored with the mark of the call.
   */
  readonly isOwn?: true;
  isDone(handles: Handles): boolean;
  run(publication: Publication, handles: Handles, signal: AbortSignal): Promise<StepResult>;
}

const FAILURE_KINDS: ReadonlySet<string> = new Set<Failure["kind"]>([
  "refused",
  "retryable",
  "token_refused",
]);

export function isFailure(result: StepResult): result is Failure {
  return FAILURE_KINDS.has(result.kind ?? "");
}

export function isWait(result: StepResult): result is StepWait {
  return result.kind === "wait";
}

export function runAgain(handles: Handles, afterMs = 0): StepWait {
  return { kind: "wait", afterMs, handles };
}
