import { Plus } from "lucide-react";
import { Link } from "wouter";
import { LinkButton } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { StatusIcon } from "../../kit/status.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, dateOf, dayOf, longDateOf, weekdayOf } from "../../time/format-time.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { queueWords } from "./queue-words.ts";
import css from "./queue.module.css";
import { keyOf, type ShownSlot, type SlotWeek } from "./slot-weeks.ts";

interface SlotTableProps {
  readonly week: SlotWeek;
  readonly canWrite: boolean;
}

/** A week of slots: a day in each column, a clock in each row. */
export function SlotTable({ week: { days, clocks, slots }, canWrite }: SlotTableProps) {
  const words = useWords(queueWords);
  const { language, zone } = useSettings();
  const today = useNow().toZonedDateTimeISO(zone).toPlainDate();
  const [first, last] = [days[0], days.at(-1)];
  return (
    <table className={css.slots}>
      <caption>
        {first && last && words.week(dateOf(first, language), dateOf(last, language))}
      </caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="sr">{words.time}</span>
          </th>
          {days.map((day) => (
            <th
              scope="col"
              key={day.toString()}
              aria-current={day.equals(today) ? "date" : undefined}
            >
              <span className="muted">{weekdayOf(day, language)}</span>{" "}
              <b className={classNames("num", day.equals(today) && "today-mark")}>{day.day}</b>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {clocks.map((clock) => (
          <tr key={clock}>
            <th scope="row" className="num" title={placeOf(zone, language)}>
              {clock}
            </th>
            {days.map((day) => (
              <td key={day.toString()}>
                <Slot slot={slots.get(keyOf(day, clock))} canWrite={canWrite} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SlotProps {
  readonly slot: ShownSlot | undefined;
  readonly canWrite: boolean;
}

function Slot({ slot, canWrite }: SlotProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  const now = useNow();
  if (slot === undefined) return null;
  const { post, at, ms } = slot;
  if (post !== undefined) return <Taken post={post} />;
  if (ms <= now.epochMilliseconds) return <span className={css.passed}>{words.passed}</span>;
  if (!canWrite) return <span className={css.passed}>{words.free}</span>;
  const day = longDateOf(at.toPlainDate(), language);
  return (
    <Link href={composeAt(ms)} className={css.free}>
      <Plus className="i i-s" aria-hidden="true" />
      {words.free}
      <span className="sr">{words.slotName(day, clockOf(at, language))}</span>
    </Link>
  );
}

function composeAt(ms: number): `/${string}` {
  return `/posts/new?at=${new Date(ms).toISOString()}`;
}

function Taken({ post }: { readonly post: NonNullable<ShownSlot["post"]> }) {
  const { id, content, status } = post;
  return (
    <Link href={`/posts/${id}`} className={css.taken} title={content}>
      <StatusIcon status={status} />
      <span className="clip" lang={langOf(content)}>
        {content}
      </span>
    </Link>
  );
}

/** The rules stand below. */
const SHOWN = 8;

interface UpcomingProps {
  readonly slots: readonly ShownSlot[];
  readonly canWrite: boolean;
}

/** The next slots below each other, for a phone. */
export function Upcoming({ slots, canWrite }: UpcomingProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  const now = useNow();
  const coming = slots.filter(({ ms }) => ms > now.epochMilliseconds).slice(0, SHOWN);
  return (
    <ul className={css.upcoming}>
      {coming.map(({ ms, at, post }) => (
        <li key={ms}>
          <span className="quiet num">
            {dayOf(at, now.toZonedDateTimeISO(at.timeZoneId), language)}
          </span>
          <b className="num">{clockOf(at, language)}</b>
          {post !== undefined && <Taken post={post} />}
          {post === undefined && canWrite && (
            <LinkButton small block icon={Plus} href={composeAt(ms)}>
              {words.writeForIt}
            </LinkButton>
          )}
          {post === undefined && !canWrite && <span className="muted">{words.free}</span>}
        </li>
      ))}
    </ul>
  );
}
