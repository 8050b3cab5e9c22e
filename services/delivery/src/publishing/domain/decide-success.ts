import type { Published } from "@postrider/platforms/publishing/outcome";
import { attemptWith, change, type Decision, type TaskSnapshot } from "./decision.ts";
import type { Task } from "./task.ts";

type Ids = Pick<Published, "externalId" | "permalink" | "askLater" | "caveat">;

function markDuplicate(task: Task, ids: Ids): Task {
  return {
    ...task,
    errorCode: "duplicate_detected",
    errorMessage: `published a second time as ${ids.externalId ?? "an unknown id"}`,
  };
}

/**
 * Whether the publish task has not begun its publishing call. Then it can be dropped when another generation (publish
 * request) of its target is published.
 */
function isSuperfluous(task: Task): boolean {
  return task.status === "queued" || task.status === "working";
}

function markPublished({ task, now }: TaskSnapshot, { externalId, permalink, caveat }: Ids): Task {
  return {
    ...task,
    status: "published",
    isAttemptOpen: false,
    openUnknowns: 0,
    externalId,
    permalink,
    publishedAt: now,
    errorCode: caveat?.code ?? null,
    errorMessage: caveat?.message ?? null,
  };
}

/**
 * Decides what follows when a publishing call has published the target. The success that is recorded first determines
 * the target's post id. A later success stores its own post id in its attempt and marks the target as
 * `duplicate_detected`.
 */
export function onPublished(snapshot: TaskSnapshot, ids: Ids): Decision {
  const { task, siblings } = snapshot;
  const { externalId, permalink, askLater, caveat } = ids;
  const attempt = attemptWith(snapshot, "published", caveat, { externalId, permalink });
  const account = { kind: "answered" } as const;
  if (task.status === "published") {
    if (task.externalId === ids.externalId) return { task, changes: [], ...attempt };
    return { task, changes: [change(markDuplicate(task, ids))], ...attempt, account };
  }
  const rival = siblings.find((sibling) => sibling.status === "published");
  if (rival !== undefined) {
    const dropped: Task = { ...task, status: "dropped", isAttemptOpen: false, openUnknowns: 0 };
    const winner = rival.externalId === ids.externalId ? rival : markDuplicate(rival, ids);
    return { task, changes: [change(dropped, false), change(winner)], ...attempt, account };
  }
  const published = markPublished(snapshot, ids);
  const superfluous = siblings
    .filter(isSuperfluous)
    .map((sibling) => change({ ...sibling, status: "dropped", isAttemptOpen: false }, false));
  return {
    task,
    changes: [change(published), ...superfluous],
    ...attempt,
    account,
    ...(askLater === undefined ? {} : { askLater }),
  };
}
