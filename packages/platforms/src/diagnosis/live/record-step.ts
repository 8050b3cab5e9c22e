import type { LiveCheckContext, LivePost, StepFinding } from "./check-context.ts";

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
