import type { PlatformId } from "@postrider/platforms/platform-id";
import type { TestMedia } from "@postrider/platforms/test/test-media";
import type { TestTarget } from "../fixture.ts";
import type { Row } from "./cases.ts";
import type { Fault } from "./faults.ts";

/**
 * One round of the fault matrix: one target, on an account of its own, whose publication meets one
 * fault once.
 */
export interface Round {
  readonly row: Row;
  readonly fault: Fault;
  readonly target: TestTarget;
  readonly media: readonly TestMedia[];
  /** The id that the platform gave the account of the fault matrix's round. */
  readonly account: string;
}

/**
 * Rounds of the fault matrix whose publishing call got no answer within its deadline, because the
 * machine was too slow.
 */
const unanswered = new WeakSet<Round>();

export function setUnanswered(round: Round): void {
  unanswered.add(round);
}

/**
 * Whether the delivery service can always find out the outcome of the round of the fault matrix, so
 * that the target must end as published.
 */
export function isCertain(round: Round): boolean {
  return round.fault.isCertain === true && !unanswered.has(round);
}

/** A post as readers of the platform see it. */
export interface Visible {
  readonly platform: PlatformId;
  readonly account: string;
  readonly id: string;
  readonly text: string;
  readonly media: readonly { readonly kind: string; readonly sha256: string }[];
}

/** How the target ended according to the delivery service. */
export interface End {
  readonly status: string;
  readonly externalId: string | null;
  readonly errorCode: string | null;
}

export const RESULTS = ["published", "failed", "unknown", "twice", "lost"] as const;
export type Result = (typeof RESULTS)[number];

export interface Judgement {
  readonly result: Result;
  /** What was observed, if the result of the round makes the test of the fault matrix fail. */
  readonly problem?: string;
}

export interface Judged {
  readonly round: Round;
  readonly judgement: Judgement;
}

function isSame({ target, media }: Round, entry: Visible): boolean {
  const sent = media.map(({ sha256 }) => sha256).join();
  return entry.text === target.text && entry.media.map(({ sha256 }) => sha256).join() === sent;
}

function lose(problem: string): Judgement {
  return { result: "lost", problem };
}

function judgePublished(round: Round, end: End, entry: Visible | undefined): Judgement {
  if (entry === undefined) return lose("published, but not visible");
  if (!isSame(round, entry))
    return lose(`visible with another text or other media: ${JSON.stringify(entry)}`);
  // TikTok returns the id of a post some time after the publication, or never.
  if (end.externalId !== null && end.externalId !== entry.id)
    return lose(`published as ${end.externalId}, visible as ${entry.id}`);
  return { result: "published" };
}

function judgeFailed(round: Round, end: End, isVisible: boolean): Judgement {
  const { row } = round;
  if (end.errorCode !== "outcome_unknown")
    return isVisible
      ? lose(`failed with ${end.errorCode}, but visible`)
      : { result: "failed", problem: `failed with ${end.errorCode}` };
  const mayBe =
    row.kind.mayStayUnknown === true && row.step.isVisible === true && !isCertain(round);
  return mayBe
    ? { result: "unknown" }
    : lose("outcome_unknown although the outcome can be found out");
}

/**
 * Determines how a round of the fault matrix ended. It is called after the platforms have finished
 * everything that they do with a delay.
 */
export function judge(round: Round, end: End, entries: readonly Visible[]): Judgement {
  const [entry, ...others] = entries;
  if (others.length > 0)
    return { result: "twice", problem: `${entries.length} posts, ${end.status} ${end.errorCode}` };
  switch (end.status) {
    case "published":
      return judgePublished(round, end, entry);
    case "failed":
      return judgeFailed(round, end, entry !== undefined);
    default:
      return lose(`never ended: ${end.status}`);
  }
}
