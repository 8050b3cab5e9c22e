import type { OwnedMedia } from "@postrider/platforms/private-replies/connector";
import { type AutomationRule, oldestActivationOf, readsMedia } from "./automation-rule.ts";

const MINUTE_MS = 60_000;
/** Doubles after each read that finds no new comment. */
const FIRST_QUIET_MS = 5 * MINUTE_MS;
const MAX_QUIET_MS = 6 * 60 * MINUTE_MS;
/** For media whose platform reports no number of comments. */
const MAX_UNCOUNTED_MS = 30 * MINUTE_MS;
const MAX_FAILURE_MS = 30 * MINUTE_MS;
/** From this number of failures in a row on, a read starts again at the newest comment. */
const MAX_SAME_CURSOR = 3;
/** Comments that were written at the same time can become visible in another order. */
const OVERLAP_MS = 30_000;

/** A piece of media, and how far its comments were read. */
export interface WatchedMedia {
  readonly mediaId: string;
  /** As reported before the last read; null if the platform reports none. */
  readonly commentCount: number | null;
  /** Time of the newest comment that was read; null before the first read has ended. */
  readonly readUntil: Date | null;
  /** Where a read of comments that has not ended continues; null if the last read has ended. */
  readonly readCursor: string | null;
  /** Time of the newest comment that the unfinished read of comments has found. */
  readonly readNewest: Date | null;
  /** Reads in a row that found no new comment. */
  readonly quietReads: number;
  /**
   * When the comments are read again even if their number has not changed; when their last page was
   * read, if the read has not ended.
   */
  readonly readAt: Date;
  /** In a row. After a failure, media are not read before `readAt`. */
  readonly failures: number;
  readonly lastError: string | null;
}

/** Media from before the activation have mostly older comments, so they are read last. */
export function newMedia(
  { id, publishedAt, commentCount }: OwnedMedia,
  { oldestActivation }: { readonly oldestActivation: Date },
): WatchedMedia {
  return {
    mediaId: id,
    commentCount: publishedAt < oldestActivation ? commentCount : null,
    readUntil: null,
    readCursor: null,
    readNewest: null,
    quietReads: 0,
    readAt: new Date(0),
    failures: 0,
    lastError: null,
  };
}

/** An unchanged number can hide a deleted and a new comment, so `readAt` counts too. */
export function isReadDue(known: WatchedMedia, seen: OwnedMedia, now: Date): boolean {
  if (known.failures > 0) return known.readAt <= now;
  return known.readCursor !== null || known.readAt <= now || hasNewCount(known, seen);
}

function hasNewCount(known: WatchedMedia, { commentCount }: OwnedMedia): boolean {
  return commentCount !== null && commentCount !== known.commentCount;
}

/** Back to the last known comment, but not beyond the activation of the oldest active rule. */
export function readFloor({ readUntil }: WatchedMedia, oldestActivation: Date): Date {
  const known = (readUntil?.getTime() ?? 0) - OVERLAP_MS;
  return new Date(Math.max(known, oldestActivation.getTime()));
}

interface ReadPage {
  /** Newest first. */
  readonly times: readonly Date[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

export function afterPage(
  known: WatchedMedia,
  page: ReadPage,
  context: {
    readonly floor: Date;
    readonly commentCount: number | null;
    readonly pollMs: number;
    readonly now: Date;
  },
): WatchedMedia {
  const newest = latest([known.readNewest, ...page.times]);
  const oldest = page.times.at(-1);
  const isEnd = page.next === undefined || (oldest !== undefined && oldest < context.floor);
  if (!isEnd)
    return { ...known, readCursor: page.next ?? null, readNewest: newest, readAt: context.now };
  const readUntil = latest([known.readUntil, newest]);
  const isQuiet = readUntil?.getTime() === known.readUntil?.getTime();
  const quietReads = isQuiet ? known.quietReads + 1 : 0;
  return {
    ...known,
    commentCount: context.commentCount,
    readUntil,
    readCursor: null,
    readNewest: null,
    quietReads,
    failures: 0,
    lastError: null,
    readAt: new Date(context.now.getTime() + quietMs(quietReads, context)),
  };
}

/**
 * Returns the state to store about a piece of media whose comments could not be read: it waits
 * longer after each failure. A read that the platform refused after its first page, or that failed
 * several times, starts again at the newest comment, because its cursor may be useless.
 */
export function afterFailure(
  known: WatchedMedia,
  {
    isRefused,
    error,
    pollMs,
    now,
  }: {
    readonly isRefused: boolean;
    readonly error: string;
    readonly pollMs: number;
    readonly now: Date;
  },
): WatchedMedia {
  const failures = known.failures + 1;
  return {
    ...known,
    ...(known.readCursor !== null && (isRefused || failures >= MAX_SAME_CURSOR)
      ? { commentCount: null, readCursor: null, readNewest: null }
      : {}),
    failures,
    lastError: error,
    readAt: new Date(now.getTime() + failureWaitMs(failures, { pollMs })),
  };
}

function latest(times: readonly (Date | null)[]): Date | null {
  return times.reduce((max, time) => (max === null || (time !== null && time > max) ? time : max));
}

function quietMs(
  quietReads: number,
  { commentCount, pollMs }: { readonly commentCount: number | null; readonly pollMs: number },
): number {
  const [first, max] =
    commentCount === null ? [pollMs, MAX_UNCOUNTED_MS] : [FIRST_QUIET_MS, MAX_QUIET_MS];
  return Math.min(first * 2 ** Math.min(quietReads, 20), Math.max(max, pollMs));
}

/** The poll interval, doubled with each failure, or longer if the platform asked for it. */
export function failureWaitMs(
  failures: number,
  { pollMs, retryAfterMs = 0 }: { readonly pollMs: number; readonly retryAfterMs?: number },
): number {
  const doubled = Math.min(pollMs * 2 ** Math.min(failures, 20), Math.max(MAX_FAILURE_MS, pollMs));
  return Math.max(doubled, retryAfterMs);
}

/** Media from before the rule's activation that are read for the first time, per poll. */
const MAX_FIRST = 10;
/** Media that are read although their number of comments is unchanged, per poll. */
const MAX_UNCHANGED = 5;

export interface MediaRead {
  readonly media: WatchedMedia;
  readonly commentCount: number | null;
}

/** Time in Unix milliseconds of the last page that was read of the comments; early if none was. */
function lastReadMs(known: WatchedMedia, pollMs: number): number {
  const { readAt, readCursor, failures, quietReads, commentCount } = known;
  const waitMs =
    readCursor === null && failures === 0 ? quietMs(quietReads, { commentCount, pollMs }) : 0;
  return readAt.getTime() - waitMs;
}

interface ReadTurn {
  /** What is stored about media that were read before. */
  readonly known: readonly WatchedMedia[];
  readonly now: Date;
  readonly pollMs: number;
  /** Whether it is the turn of media whose number of comments has not changed. */
  readonly isTurnOfOthers: boolean;
}

/**
 * Returns the media whose comments are to be read: first those whose number of comments has changed
 * or whose read has not ended, then some media that were never read, then some whose last read is
 * long ago. The call budget of the account may end the reads early, and media that always have new
 * comments must not keep the others from ever being read: so of the first, those whose last read is
 * longest ago come first, and sometimes one of the others comes before them.
 */
export function chooseReads(
  rules: readonly AutomationRule[],
  listed: readonly OwnedMedia[],
  { known, now, pollMs, isTurnOfOthers }: ReadTurn,
): readonly MediaRead[] {
  const oldestActivation = oldestActivationOf(rules);
  const byId = new Map(known.map((media) => [media.mediaId, media]));
  const due = listed
    .filter(({ id }) => rules.some((rule) => readsMedia(rule, id)))
    .filter(({ id, commentCount }) => byId.has(id) || commentCount !== 0)
    .map((seen) => {
      const isKnown = byId.has(seen.id);
      const media = byId.get(seen.id) ?? newMedia(seen, { oldestActivation });
      const isChanged = media.readCursor !== null || hasNewCount(media, seen);
      const isDue = isReadDue(media, seen, now);
      const readMs = lastReadMs(media, pollMs);
      return { media, commentCount: seen.commentCount, isKnown, isChanged, isDue, readMs };
    })
    .filter(({ isDue }) => isDue);
  const changed = due.filter(({ isChanged }) => isChanged).toSorted((a, b) => a.readMs - b.readMs);
  const unchanged = due
    .filter(({ isChanged }) => !isChanged)
    .toSorted((a, b) => a.media.readAt.getTime() - b.media.readAt.getTime());
  const others = [
    ...unchanged.filter(({ isKnown }) => !isKnown).slice(0, MAX_FIRST),
    ...unchanged.filter(({ isKnown }) => isKnown).slice(0, MAX_UNCHANGED),
  ];
  const before = isTurnOfOthers ? 1 : 0;
  return [...others.slice(0, before), ...changed, ...others.slice(before)];
}
