import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { fetchContents } from "#src/publishing/clients/posts.ts";
import { listUncertainTasks } from "#src/publishing/db/uncertain-targets.ts";
import { hashContent } from "#src/publishing/domain/task.ts";
import type { PublishContext } from "./publish-context.ts";
import { toExternalAccount, type TaskInputs } from "./task-inputs.ts";

/** If an account has more uncertain tasks, a similar post is assumed to exist. */
const MAX_TASKS = 500;
const BATCH = 100;

/** A hash without and one with the media, each as a search compares texts. */
function toHashes(
  connector: PublishingConnector,
  { text: sent, title, media }: TargetContent,
): { readonly words: string; readonly whole: string } {
  const text = connector.comparableText?.(sent) ?? sent;
  const mediaIds = media.map(({ id }) => id);
  return {
    words: hashContent({ text, title, mediaIds: [] }),
    whole: hashContent({ text, title, mediaIds }),
  };
}

/**
 * Whether the account of the platform has another target, of whichever workspace, whose outcome is
 * not known, with the same text but other media. Targets with the same text and media are
 * interchangeable: readers see the same post, whichever target is taken for the published one.
 */
export async function hasSimilarPost(
  { deps }: PublishContext,
  inputs: TaskInputs,
): Promise<boolean> {
  const { task, content, connector } = inputs;
  const ours = toHashes(connector, content);
  const tasks = await listUncertainTasks(
    deps.sql,
    task.targetId,
    toExternalAccount(inputs),
    MAX_TASKS,
  );
  if (tasks.length === MAX_TASKS) return true;
  for (let from = 0; from < tasks.length; from += BATCH) {
    const contents = await fetchContents(deps.posts, tasks.slice(from, from + BATCH));
    const hashes = contents.map((each) => toHashes(connector, each));
    if (hashes.some(({ words, whole }) => words === ours.words && whole !== ours.whole))
      return true;
  }
  return false;
}
