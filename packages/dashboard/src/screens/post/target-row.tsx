import type { PostTarget } from "@postrider/client";
import { ArrowUpRight, ChevronDown } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { AccountWho } from "../../posts/account-who.tsx";
import { tileStatusOf } from "../../posts/tile-status.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockWithSecondsOf } from "../../time/format-time.ts";
import { useNearTime } from "../../time/near-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { AttemptRail } from "./attempt-rail.tsx";
import { detailWords } from "./detail-words.ts";
import { MetricsWord } from "./metrics-word.tsx";
import css from "./post.module.css";
import { TargetCure } from "./target-cure.tsx";
import type { TargetProps, TargetWords } from "./target-props.ts";
import { WaitWords } from "./wait-words.tsx";

const QUIET: ReadonlySet<string> = new Set([
  "published",
  "draft",
  "scheduled",
  "cancelled",
  "deleted",
]);

const MOVING: ReadonlySet<string> = new Set(["pending", "publishing"]);

/** One account of a post. Open from the start where there is something to say. */
export function TargetRow({ post, target, words, isFirst }: TargetProps) {
  const labels = useWords(detailWords);
  const { accountId, username, platform, error } = target;
  const isWaiting = isHeld(target, words) || waitsForNextAttempt(target, words);
  const status = isWaiting
    ? "pending"
    : tileStatusOf(post.status, { ...target, errorCode: error?.code ?? null });
  const attempts = post.attempts.filter((attempt) => attempt.accountId === accountId);
  const [choice, setChoice] = useState<boolean>();
  const saysMore = attempts.length > 0 || error !== null || isWaiting;
  const isOpen = choice ?? (!QUIET.has(status) && saysMore);
  const id = useId();
  return (
    <div className={classNames(css.target, css[status])}>
      <div className={css.head}>
        <AccountWho id={accountId} username={username} platform={platform} />
        <span>
          <StatusLabel status={status} loud={!QUIET.has(status)} />
        </span>
        <span className={css.right}>
          <Right post={post} target={target} words={words} />
        </span>
        <Button
          kind="ghost"
          small
          icon={ChevronDown}
          className={css.fold}
          aria-label={labels.attemptsOf(username)}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setChoice(!isOpen)}
        />
      </div>
      <div id={id} hidden={!isOpen} className={css.body}>
        <TargetCure post={post} target={target} words={words} isFirst={isFirst} />
        <WaitWords target={target} words={words} attemptCount={attempts.length} />
        <AttemptRail attempts={attempts} nextAttemptAt={target.nextAttemptAt} />
      </div>
    </div>
  );
}

const HOLDS: ReadonlySet<string | undefined> = new Set([
  "pause",
  "held_platform",
  "platform_limit",
  "held_account",
]);

/** Whether something holds it back, such as a limit or a pause, for which the row has words. */
function isHeld({ status }: PostTarget, words: TargetWords | undefined): boolean {
  return MOVING.has(status) && HOLDS.has(words?.waitsFor?.kind);
}

/** Between two attempts nothing is under way on the platform, and a ring that turns would lie. */
function waitsForNextAttempt(
  { status, nextAttemptAt, attemptCount }: PostTarget,
  words: TargetWords | undefined,
): boolean {
  if (nextAttemptAt === null || attemptCount === 0) return false;
  return MOVING.has(status) && words?.waitsFor?.kind !== "outcome";
}

/** At the end of the row: what is seen of a publication, or when it goes on. */
function Right({ post, target, words }: Omit<TargetProps, "isFirst">): ReactNode {
  const labels = useWords(detailWords);
  const { status, nextAttemptAt, platform } = target;
  if (words?.waitsFor?.kind === "outcome")
    return <span className="muted sm">{labels.looking(PLATFORMS[platform].name)}</span>;
  if (status === "published") return <Publication post={post} target={target} />;
  if (nextAttemptAt === null || !waitsForNextAttempt(target, words)) return null;
  return <NextTry at={nextAttemptAt} />;
}

/** To the second on the same day, where the other times of the row are. */
function NextTry({ at }: { readonly at: string }) {
  const labels = useWords(detailWords);
  const { zone } = useSettings();
  const nearTime = useNearTime();
  const zoned = toZoned(at, zone);
  const isToday = zoned.toPlainDate().equals(useNow().toZonedDateTimeISO(zone).toPlainDate());
  return (
    <span className="muted sm num">
      {labels.nextTry(isToday ? clockWithSecondsOf(zoned) : nearTime(at))}
    </span>
  );
}

function Publication({ post, target }: Pick<TargetProps, "post" | "target">) {
  const labels = useWords(detailWords);
  const { zone } = useSettings();
  const { permalink, publishedAt } = target;
  return (
    <>
      {post.status === "publishing" && publishedAt !== null ? (
        <b className="num">{clockWithSecondsOf(toZoned(publishedAt, zone))}</b>
      ) : (
        <MetricsWord target={target} />
      )}
      {permalink !== null && (
        <a href={permalink} target="_blank" rel="noreferrer">
          {labels.open} <ArrowUpRight className="i i-s" aria-hidden="true" />
        </a>
      )}
    </>
  );
}
