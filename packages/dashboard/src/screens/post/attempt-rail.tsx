import type { Attempt } from "@postrider/client";
import { type ReactNode, useState } from "react";
import { classNames } from "../../kit/class-names.ts";
import { useSettings } from "../../settings/settings.ts";
import {
  clockWithMsOf,
  clockWithSecondsOf,
  distanceOf,
  durationOf,
} from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { useSeconds } from "../../time/use-seconds.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords } from "./detail-words.ts";
import css from "./post.module.css";
import { type RailAttempt, type RailItem, toRail } from "./rail.ts";

interface AttemptRailProps {
  readonly attempts: readonly Attempt[];
  readonly nextAttemptAt: string | null;
}

/** Each attempt on one account: when, how long, and what the platform said. */
export function AttemptRail({ attempts, nextAttemptAt }: AttemptRailProps) {
  return (
    <Rail
      attempts={attempts}
      nextAttemptAt={nextAttemptAt}
      line={(attempt) => <AttemptLine attempt={attempt} />}
    />
  );
}

interface RailProps<A extends RailAttempt> {
  readonly attempts: readonly A[];
  readonly nextAttemptAt: string | null;
  /** What one attempt shows after its dot; the element is an `li`. */
  readonly line: (attempt: A) => ReactNode;
}

/** Attempts with the waits between them and the next one. */
export function Rail<A extends RailAttempt>({ attempts, nextAttemptAt, line }: RailProps<A>) {
  const words = useWords(detailWords);
  const [isUnfolded, setUnfolded] = useState(false);
  if (attempts.length === 0) return <p className="xs muted">{words.noAttempt}</p>;
  return (
    <ol className={css.tries}>
      {toRail(attempts, nextAttemptAt, isUnfolded).map((item) => (
        <RailLine key={keyOf(item)} item={item} line={line} onUnfold={() => setUnfolded(true)} />
      ))}
    </ol>
  );
}

function keyOf(item: RailItem<RailAttempt>): string {
  if (item.kind === "attempt") return `attempt ${item.attempt.number}`;
  return item.kind === "wait" ? `wait ${item.key}` : item.kind;
}

interface RailLineProps<A extends RailAttempt> {
  readonly item: RailItem<A>;
  readonly line: (attempt: A) => ReactNode;
  readonly onUnfold: () => void;
}

function RailLine<A extends RailAttempt>({ item, line, onUnfold }: RailLineProps<A>) {
  const words = useWords(detailWords);
  const kit = useWords(kitWords);
  if (item.kind === "attempt") return line(item.attempt);
  if (item.kind === "next") return <NextLine number={item.number} at={item.at} />;
  const distance = item.kind === "wait" ? distanceOf(item.ms, kit.distance, 1) : "";
  return (
    <li className={css.wait}>
      <Dot />
      {item.kind === "fold" ? (
        <button type="button" className="linkbtn xs" onClick={onUnfold}>
          {words.foldedAttempts(item.count)}
        </button>
      ) : (
        <span className="muted">
          {item.isOver ? words.waited(distance) : words.waits(distance)}
        </span>
      )}
    </li>
  );
}

export function Dot() {
  return <span className={css.dot} aria-hidden="true" />;
}

const TONES = { published: css.ok, retry: css.bad, failed: css.bad, unknown: css.unknown };

function AttemptLine({ attempt }: { readonly attempt: Attempt }) {
  const words = useWords(detailWords);
  const { distance } = useWords(kitWords);
  const { zone } = useSettings();
  const { number, startedAt, finishedAt, code } = attempt;
  const isRunning = finishedAt === null;
  const ms = Date.parse(finishedAt ?? "") - Date.parse(startedAt ?? "");
  return (
    <li className={classNames(isRunning ? css.run : TONES[attempt.outcome])}>
      <Dot />
      <span className="num muted">#{number}</span>
      <span className="num">{startedAt && clockWithMsOf(toZoned(startedAt, zone))}</span>
      <span className="num muted">
        {isRunning ? words.running : startedAt && durationOf(ms, distance)}
      </span>
      <span className={css.said}>
        <Said attempt={attempt} /> {code !== null && <code className="muted">{code}</code>}
      </span>
    </li>
  );
}

/** What the platform said, or what became of the attempt where it said nothing. */
function Said({ attempt: { message, outcome, finishedAt } }: { readonly attempt: Attempt }) {
  const words = useWords(detailWords);
  if (message !== null) return <q>{message}</q>;
  if (finishedAt === null) return null;
  return {
    published: words.published,
    unknown: words.noAnswer,
    failed: words.failedAttempt,
    retry: words.retriedAttempt,
  }[outcome];
}

function NextLine({ number, at }: { readonly number: number; readonly at: string }) {
  const words = useWords(detailWords);
  const kit = useWords(kitWords);
  const { zone } = useSettings();
  const seconds = useSeconds();
  const ms = Math.max(0, Date.parse(at) - seconds * 1000);
  return (
    <li className={css.plan}>
      <Dot />
      <span className="num muted">#{number}</span>
      <span className="num">{clockWithSecondsOf(toZoned(at, zone))}</span>
      <span className="num muted">{kit.inTime(distanceOf(ms, kit.distance, 1))}</span>
      <span className={css.said}>{words.nextAttempt}</span>
    </li>
  );
}
