import type { LeastVisible } from "#src/diagnosis/live/least-visible.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall } from "#src/publishing/verdict.ts";

/**
 * How one step of a live check ended: `ok` = the platform behaved as Postrider assumes · `warning`
 * = the platform gives no way to find out, or the operator should know something · `failed` = the
 * platform behaved differently · `skipped` = the step does not apply.
 */
export interface LiveCheckStep {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed" | "skipped";
  readonly found: string;
  readonly tookMs: number;
}

export type StepFinding = Pick<LiveCheckStep, "status" | "found">;

export interface LivePost {
  readonly externalId: string;
  readonly permalink: string | null;
}

/**
 * How a live check ended: `interrupted` = the process stops, and another process must delete the
 * post.
 */
export type LiveCheckEnd = "ended" | "interrupted";

/** Permission for the publishing call of a live check; it is granted at most once. */
export type CallPermission =
  | {
      readonly kind: "granted";
      readonly guard: SendGuard;
      readonly calledAt: Date;
      readonly callUntil: Date;
    }
  | { readonly kind: "refused"; readonly message: string };

/** Stored, so that after a crash an operator learns which post is left on the platform. */
export interface LiveCheckJournal {
  addStep(step: LiveCheckStep): Promise<void>;
  /** Permits the call at most once per live check. */
  beginCall(): Promise<CallPermission>;
  keepPost(post: LivePost): Promise<void>;
  dropPost(): Promise<void>;
}

export interface LiveCheckContext {
  readonly connector: PublishingConnector;
  readonly publication: Publication;
  readonly post: LeastVisible;
  readonly journal: LiveCheckJournal;
  readonly isOwned: UnknownCall["isOwned"];
  /**
   * Opens a permalink like a reader without an account does. Absent for a simulated platform, whose
   * permalinks lead to the real one.
   */
  readonly openPermalink?:
    | ((permalink: string, signal: AbortSignal) => Promise<number>)
    | undefined;
  readonly patienceMs: number;
  /** A post of the live check that is on the platform is deleted all the same. */
  readonly stopping: AbortSignal;
}

export interface LiveCall {
  readonly handles: Handles;
  readonly calledAt: Date;
  readonly callUntil: Date;
  readonly isPending: boolean;
}

type Journal = Pick<LiveCheckContext, "journal">;

export async function recordStep<T extends { readonly finding: StepFinding }>(
  { journal }: Journal,
  name: string,
  run: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  const tookMs = Math.round(performance.now() - startedAt);
  await journal.addStep({ name, ...result.finding, tookMs });
  return result;
}

export async function recordFinding(
  context: Journal,
  name: string,
  run: () => Promise<StepFinding> | StepFinding,
): Promise<StepFinding> {
  return (await recordStep(context, name, async () => ({ finding: await run() }))).finding;
}

/**
 * Before the end of the step is recorded, so that a crash between the two does not lose the post.
 */
export async function keepingPost<T extends { readonly post?: LivePost }>(
  { journal }: Journal,
  step: Promise<T>,
): Promise<T> {
  const result = await step;
  if (result.post !== undefined) await journal.keepPost(result.post);
  return result;
}
