import type { Handles } from "@postrider/platforms/publishing/handles";
import { decide } from "./decide.ts";
import type { AccountEffect, AttemptResult, Happening } from "./decision.ts";
import type { TaskKey } from "./held-task.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import type { Attempt, Task } from "./task.ts";

/** Something that was learned about a task, and in which attempt. */
export interface Report extends TaskKey {
  /** 0 when the task had no attempt yet. */
  readonly attemptNumber: number;
  readonly happening: Happening;
}

/** The targets' tasks and attempts as they are under the lock. */
export interface Known {
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
  readonly now: Date;
}

/** A change that the post's owner is told, with the attempt that it is about. */
export interface Update {
  readonly task: Task;
  readonly attempt: Attempt | undefined;
}

/** All that has to be written after some reports, in one transaction. */
export interface Settlement {
  /** Changed tasks in their last state, each once. */
  readonly tasks: readonly Task[];
  readonly facts: readonly {
    readonly targetId: string;
    readonly number: number;
    readonly result: AttemptResult;
  }[];
  readonly updates: readonly Update[];
  readonly accounts: readonly { readonly task: Task; readonly effect: AccountEffect }[];
  /** What visible calls returned that their tasks go on with. */
  readonly handles: readonly TaskHandles[];
  /** What publications without an id are asked for with. */
  readonly questions: readonly TaskHandles[];
  /** Per report, the task as it is afterwards; undefined when there is no such task. */
  readonly outcomes: readonly (Task | undefined)[];
}

/** Handles and whose they are. */
export interface TaskHandles {
  readonly task: Task;
  readonly handles: Handles;
}

interface Draft {
  readonly tasks: Map<string, Task>;
  readonly attempts: Map<string, Attempt>;
  readonly changed: Set<string>;
  readonly facts: Map<string, Settlement["facts"][number]>;
  readonly updates: Update[];
  readonly accounts: Settlement["accounts"][number][];
  readonly handles: TaskHandles[];
  readonly questions: TaskHandles[];
}

function name(targetId: string, number: number): string {
  return `${targetId}/${number}`;
}

function withResult(attempt: Attempt, result: AttemptResult, now: Date): Attempt {
  return {
    ...attempt,
    outcome: result.outcome,
    code: result.code,
    message: result.message,
    externalId: result.externalId ?? attempt.externalId,
    permalink: result.permalink ?? attempt.permalink,
    isNotSent: result.isNotSent,
    finishedAt: result.outcome === null ? attempt.finishedAt : now,
  };
}

/** Returns the attempt if it has an outcome now. */
function noteFact(
  draft: Draft,
  attempt: Attempt | undefined,
  result: AttemptResult | undefined,
  now: Date,
): Attempt | undefined {
  if (attempt === undefined || result === undefined) return undefined;
  const { targetId, number } = attempt;
  const written = withResult(attempt, result, now);
  draft.attempts.set(name(targetId, number), written);
  draft.facts.set(name(targetId, number), { targetId, number, result });
  return result.outcome === null ? undefined : written;
}

function settleOne(
  draft: Draft,
  report: Report,
  now: Date,
  policy: RetryPolicy,
  random: () => number,
): void {
  const task = draft.tasks.get(name(report.targetId, report.generation));
  if (task === undefined) return;
  const siblings = [...draft.tasks.values()].filter(
    (other) => other.targetId === task.targetId && other.generation !== task.generation,
  );
  const attempt = draft.attempts.get(name(report.targetId, report.attemptNumber));
  const situation = { task, siblings, attempt, now, random: random() };
  const decision = decide(situation, report.happening, policy);
  const ended = noteFact(draft, attempt, decision.attempt, now);
  for (const { task: next, isReported } of decision.changes) {
    const key = name(next.targetId, next.generation);
    draft.tasks.set(key, next);
    draft.changed.add(key);
    if (isReported) draft.updates.push({ task: next, attempt: ended });
  }
  const { account, handles, askLater } = decision;
  if (account !== undefined) draft.accounts.push({ task, effect: account });
  if (handles !== undefined) draft.handles.push({ task, handles });
  if (askLater !== undefined) draft.questions.push({ task, handles: askLater });
}

/** Decides about reports one after the other, each knowing what the ones before it changed. */
export function settle(
  known: Known,
  reports: readonly Report[],
  policy: RetryPolicy,
  random: () => number,
): Settlement {
  const draft: Draft = {
    tasks: new Map(known.tasks.map((task) => [name(task.targetId, task.generation), task])),
    attempts: new Map(
      known.attempts.map((attempt) => [name(attempt.targetId, attempt.number), attempt]),
    ),
    changed: new Set(),
    facts: new Map(),
    updates: [],
    accounts: [],
    handles: [],
    questions: [],
  };
  const outcomes = reports.map((report) => {
    settleOne(draft, report, known.now, policy, random);
    return draft.tasks.get(name(report.targetId, report.generation));
  });
  const tasks = [...draft.changed].flatMap((key) => draft.tasks.get(key) ?? []);
  const { facts, updates, accounts, handles, questions } = draft;
  return { tasks, facts: [...facts.values()], updates, accounts, handles, questions, outcomes };
}
