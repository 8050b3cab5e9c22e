import { useEffect, useRef } from "react";
import { classNames } from "../../kit/class-names.ts";
import { StatusIcon } from "../../kit/status.tsx";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, dayOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { offsetOf, placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import { calendarWords } from "./calendar-words.ts";
import css from "./chip.module.css";
import { type Drop, dropOn } from "./drop.ts";
import type { Point } from "./follow-pointer.ts";
import type { Drag } from "./use-chip-drag.ts";

interface GhostProps {
  readonly drag: Drag;
}

/** The post under the pointer, and what a drop would make of its time: said before the drop. */
export function Ghost({ drag }: GhostProps) {
  const ref = useFollowing(drag.start);
  const { language, zone } = useSettings();
  const { post, day } = drag;
  const before = toZoned(post.scheduledAt ?? post.createdAt, zone);
  return (
    <div ref={ref} className={css.ghost} aria-hidden="true">
      <span className={classNames(css.chip, css[post.status])}>
        <StatusIcon status={post.status} />
        <time>{clockOf(before, language)}</time>
        <span className="clip">{post.content}</span>
      </span>
      {day !== undefined && <Tip drag={drag} day={day} />}
    </div>
  );
}

const OFFSET_PX = 12;

/** Follows the pointer without React. */
function useFollowing({ x, y }: Point) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const put = (at: { readonly clientX: number; readonly clientY: number }) => {
      if (box.current === null) return;
      const room = document.documentElement.clientWidth - box.current.offsetWidth - OFFSET_PX;
      const left = Math.min(at.clientX + OFFSET_PX, room);
      box.current.style.transform = `translate(${left}px, ${at.clientY + OFFSET_PX}px)`;
    };
    put({ clientX: x, clientY: y });
    addEventListener("pointermove", put);
    return () => removeEventListener("pointermove", put);
  }, [x, y]);
  return box;
}

function Tip({ drag: { post }, day }: { readonly drag: Drag; readonly day: string }) {
  const words = useWords(calendarWords);
  const { language, zone } = useSettings();
  const now = Temporal.Now.zonedDateTimeISO(zone);
  const from = post.scheduledAt ?? post.createdAt;
  const drop = dropOn(from, Temporal.PlainDate.from(day), now);
  const { at } = drop.placement;
  const asked = clockOf(toZoned(from, zone), language);
  return (
    <span className={css.tip}>
      {`${dayOf(at, now, language)}, `}
      <b>{`${clockOf(at, language)} ${placeOf(zone, language)}`}</b>
      <br />
      {outcomeOf(drop, { asked, clock: clockOf(at, language), count: post.targets.length }, words)}
    </span>
  );
}

function outcomeOf(
  { placement, fault }: Drop,
  { asked, clock, count }: { readonly asked: string; readonly clock: string; count: number },
  words: (typeof calendarWords)["en"],
): string {
  if (fault !== undefined) return words[fault];
  if (placement.kind === "gap") return words.gap(asked, clock);
  if (placement.kind === "doubled") return words.doubled(clock, offsetOf(placement.at));
  return words.sameClock(words.accountCount(count));
}
