import type { PostSummary, QueueSlotRule } from "@postrider/client";
import { Lock, MoveRight } from "lucide-react";
import { Fragment } from "react";
import { Link } from "wouter";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { StatusLabel } from "../../kit/status.tsx";
import { Table } from "../../kit/table.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { isPlanned } from "../../posts/move-post.ts";
import { postWords } from "../../posts/post-words.ts";
import { useMoveLabel } from "../../posts/use-move-label.ts";
import { ownZone, useSettings } from "../../settings/settings.ts";
import { clockElsewhere, clockOf, dayHeadOf } from "../../time/format-time.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { PostStrip } from "./agenda.tsx";
import type { DayCell, PlacedPost } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import css from "./post-table.module.css";

interface PostTableProps {
  readonly cells: readonly DayCell[];
  readonly locked: ReadonlySet<string>;
  readonly rules: readonly QueueSlotRule[];
  readonly onMove: ((id: string) => void) | undefined;
}

const LOUD: ReadonlySet<string> = new Set(["failed", "partial", "publishing"]);

/** A second clock: this computer's, or that of the rules, where it is another one. */
function otherZone(zone: string, rules: readonly QueueSlotRule[]): string | undefined {
  return [ownZone(), ...rules.map(({ timezone }) => timezone)].find((one) => one !== zone);
}

/** The posts of the days below each other. */
export function PostTable({ cells, locked, rules, onMove }: PostTableProps) {
  const words = useWords(calendarWords);
  const { zone, language } = useSettings();
  const other = otherZone(zone, rules);
  const columns = other === undefined ? 5 : 6;
  return (
    <Card>
      <Table label={words.views.list} className={css.list}>
        <thead>
          <tr>
            <th scope="col">{placeOf(zone, language)}</th>
            {other !== undefined && (
              <th scope="col" className="not-m">
                {placeOf(other, language)}
              </th>
            )}
            <th scope="col">{words.post}</th>
            <th scope="col" className="not-s">
              {words.accounts}
            </th>
            <th scope="col">{words.status}</th>
            <th scope="col" className="end not-s">
              <span className="sr">{words.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {cells
            .filter(({ posts }) => posts.length > 0)
            .map(({ day, posts }) => (
              <Fragment key={day.toString()}>
                <DayRow day={day} columns={columns} />
                {posts.map((placed) => (
                  <PostRow
                    key={placed.post.id}
                    placed={placed}
                    other={other}
                    isLocked={locked.has(placed.post.id)}
                    onMove={onMove}
                  />
                ))}
              </Fragment>
            ))}
        </tbody>
      </Table>
    </Card>
  );
}

function DayRow({ day, columns }: { readonly day: Temporal.PlainDate; readonly columns: number }) {
  const words = useWords(kitWords);
  const { zone, language } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  return (
    <tr className="dayhead">
      <th colSpan={columns} scope="rowgroup">
        {dayHeadOf(day.toZonedDateTime(zone), now, { language, words })}
      </th>
    </tr>
  );
}

interface PostRowProps {
  readonly placed: PlacedPost;
  readonly other: string | undefined;
  readonly isLocked: boolean;
  readonly onMove: ((id: string) => void) | undefined;
}

function PostRow({ placed: { post, ms }, other, isLocked, onMove }: PostRowProps) {
  const { noText } = useWords(postWords);
  const { zone, language } = useSettings();
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
  const text = post.content === "" ? noText : post.content;
  return (
    <tr data-post={post.id}>
      <td className="num">
        <b>{clockOf(at, language)}</b>
      </td>
      {other !== undefined && (
        <td className="num muted not-m nowrap other">{clockElsewhere(at, other, language)}</td>
      )}
      <td>
        <Link
          href={`/posts/${post.id}`}
          className={classNames(css.plain, "clamp2")}
          lang={langOf(text)}
        >
          {text}
        </Link>
      </td>
      <td className="not-s">
        <PostStrip post={post} />
      </td>
      <td>
        <StatusLabel status={post.status} loud={LOUD.has(post.status)} />
      </td>
      <td className="end not-s">
        <RowEnd post={post} isLocked={isLocked} onMove={onMove} />
      </td>
    </tr>
  );
}

interface RowEndProps {
  readonly post: PostSummary;
  readonly isLocked: boolean;
  readonly onMove: ((id: string) => void) | undefined;
}

function RowEnd({ post, isLocked, onMove }: RowEndProps) {
  const words = useWords(calendarWords);
  const move = useMoveLabel(post);
  if (isLocked)
    return (
      <span className="xs muted row" title={words.locked}>
        <Lock className="i i-s" aria-hidden="true" />
        {words.lockedShort}
      </span>
    );
  if (onMove === undefined || !isPlanned(post)) return null;
  return (
    <Button kind="ghost" small icon={MoveRight} onClick={() => onMove(post.id)}>
      {move}
    </Button>
  );
}
