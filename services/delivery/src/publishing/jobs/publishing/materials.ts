import { setTimeout as sleep } from "node:timers/promises";
import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import { fetchCredentials } from "#src/publishing/clients/accounts.ts";
import { fetchContents } from "#src/publishing/clients/posts.ts";
import { openAttempts } from "#src/publishing/db/attempts.ts";
import { nameTask } from "#src/publishing/db/task-keys.ts";
import type { Happening } from "#src/publishing/domain/decision.ts";
import type { ClaimedTask } from "#src/publishing/domain/held-task.ts";
import type { Workshop } from "./work.ts";

/** What the owners of post and account say about a claimed task. */
export interface Material {
  readonly task: ClaimedTask;
  readonly content: TargetContent;
  readonly credential: Credential;
  /** Why nothing is to be done at the platform. */
  readonly obstacle: Happening | undefined;
  /** The open attempt; undefined when there is none to be made, or somebody else has the task by now. */
  readonly attemptNumber: number | undefined;
}

/** So long all tasks of a batch wait for each other's tokens. */
const PATIENCE_MS = 100;
/** A task whose worker was lost so often is not tried again. */
const MAX_CRASHES = 5;

function findObstacle(
  task: ClaimedTask,
  content: TargetContent,
  credential: Credential,
): Happening | undefined {
  const { fence } = task;
  const isReading = task.status === "reconciling";
  if (!content.wanted && !isReading) return { kind: "not_wanted", fence };
  if (!content.wanted) return { kind: "given_up", fence, code: "outcome_unknown", message: "" };
  if (task.isTooLate && !isReading) return { kind: "given_up", fence, code: "missed", message: "" };
  switch (credential.accountStatus) {
    case "active":
      return undefined;
    case "reconnect_required":
      return { kind: "given_up", fence, code: "account_reconnect_required", message: "" };
    default:
      return { kind: "given_up", fence, code: "account_disconnected", message: "" };
  }
}

/** A task that seems to take its process along is given up before anything is done for it. */
export function findPoison(task: ClaimedTask): Happening | undefined {
  if (task.crashCount < MAX_CRASHES) return undefined;
  const message = "the worker was lost again and again";
  return { kind: "given_up", fence: task.fence, code: "internal_error", message };
}

/** Tasks whose owners are asked together, and what these say about them, in the order of the tasks. */
export interface Group {
  readonly tasks: readonly ClaimedTask[];
  readonly said: Promise<readonly [readonly TargetContent[], readonly Credential[]]>;
}

/** Asks posts and accounts, once for all tasks. */
function ask({ deps }: Workshop, tasks: readonly ClaimedTask[]): Group {
  const said = Promise.all([
    fetchContents(deps.posts, tasks),
    fetchCredentials(deps.accounts, tasks),
  ]);
  // Nobody may be waiting for it any more.
  said.catch(() => undefined);
  return { tasks, said };
}

/**
 * Asks about all tasks at once. Accounts renews tokens that have ended before it answers; if that takes long, it is asked
 * again for each platform, so that a token endpoint that hangs keeps no other platform's posts waiting.
 */
export async function askOwners(
  shop: Workshop,
  tasks: readonly ClaimedTask[],
): Promise<readonly Group[]> {
  if (tasks.length === 0) return [];
  const all = ask(shop, tasks);
  const byPlatform = Map.groupBy(tasks, ({ platform }) => platform);
  if (byPlatform.size === 1) return [all];
  const isSlow = await Promise.race([
    Promise.allSettled([all.said]).then(() => false),
    sleep(PATIENCE_MS, true, { ref: false }),
  ]);
  return isSlow ? [...byPlatform.values()].map((group) => ask(shop, group)) : [all];
}

/** Waits for what the owners say, and begins the attempts of those tasks that are to be published. */
export async function fetchMaterials(
  { deps }: Workshop,
  { tasks, said }: Group,
): Promise<readonly Material[]> {
  const [contents, credentials] = await said;
  const asked = tasks.flatMap((task, index) => {
    const content = contents[index];
    const credential = credentials[index];
    if (content === undefined || credential === undefined) return [];
    return [{ task, content, credential, obstacle: findObstacle(task, content, credential) }];
  });
  const beginning = asked.filter(
    ({ task, obstacle }) => task.status === "working" && obstacle === undefined,
  );
  const numbers =
    beginning.length === 0
      ? new Map<string, number>()
      : await openAttempts(
          deps.sql,
          beginning.map(({ task }) => task),
        );
  return asked.map((one) => ({ ...one, attemptNumber: numbers.get(nameTask(one.task)) }));
}
