import type { PostSummary } from "@postrider/client";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { StatusIcon } from "../../kit/status.tsx";
import { TargetStrip } from "../../kit/target-strip.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { postWords } from "../../posts/post-words.ts";
import { tileStatusOf } from "../../posts/tile-status.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf } from "../../time/format-time.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import css from "./agenda.module.css";
import { dayEntries, type PlacedPost } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";

interface AgendaProps {
  readonly title: ReactNode;
  readonly mark?: ReactNode;
  readonly posts: readonly PlacedPost[];
  readonly free?: readonly number[] | undefined;
  readonly onSlot?: (at: string) => void;
  /** Writes a post for the day; only where it is not over. */
  readonly onNew?: (() => void) | undefined;
}

/** The posts of one day below each other: on a phone, and for a day of which some are folded. */
export function Agenda({ title, mark, onNew, ...list }: AgendaProps) {
  const words = useWords(calendarWords);
  const { zone, language } = useSettings();
  const isEmpty = list.posts.length + (list.free?.length ?? 0) === 0;
  return (
    <Card
      title={title}
      aside={isEmpty ? words.emptyDay : mark}
      actions={
        <>
          <span className="muted xs">{placeOf(zone, language)}</span>
          {onNew && (
            <Button kind="ghost" small icon={Plus} aria-label={words.newPost} onClick={onNew} />
          )}
        </>
      }
    >
      {!isEmpty && <AgendaList {...list} />}
    </Card>
  );
}

export function AgendaList({
  posts,
  free = [],
  onSlot,
}: Omit<AgendaProps, "title" | "mark" | "onNew">) {
  return (
    <ul className={css.agenda}>
      {dayEntries(posts, free).map(({ ms, post }) =>
        post === undefined ? (
          <FreeSlot key={ms} ms={ms} onSlot={onSlot} />
        ) : (
          <AgendaPost key={post.id} post={post} ms={ms} />
        ),
      )}
    </ul>
  );
}

interface FreeSlotProps {
  readonly ms: number;
  readonly onSlot: AgendaProps["onSlot"] | undefined;
}

function FreeSlot({ ms, onSlot }: FreeSlotProps) {
  const words = useWords(calendarWords);
  const clock = useClock();
  return (
    <li className={css.free}>
      <button type="button" onClick={() => onSlot?.(new Date(ms).toISOString())}>
        <Plus className="i" aria-hidden="true" />
        <span className="num">{clock(ms)}</span>
        <span className="muted">{words.freeSlot}</span>
      </button>
    </li>
  );
}

function AgendaPost({ post, ms }: PlacedPost) {
  const { noText } = useWords(postWords);
  const clock = useClock();
  const text = post.content === "" ? noText : post.content;
  return (
    <li>
      <StatusIcon status={post.status} />
      <b className="num">{clock(ms)}</b>
      <Link href={`/posts/${post.id}`} className="clip" data-post={post.id} lang={langOf(text)}>
        {text}
      </Link>
      <PostStrip post={post} />
    </li>
  );
}

export function PostStrip({ post }: { readonly post: PostSummary }) {
  const accounts = useAccounts();
  return (
    <TargetStrip
      targets={post.targets.map((target) => ({
        accountId: target.accountId,
        platform: target.platform,
        name: accounts.get(target.accountId)?.username,
        status: tileStatusOf(post.status, target),
      }))}
    />
  );
}

function useClock() {
  const { zone, language } = useSettings();
  return (ms: number) =>
    clockOf(Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone), language);
}
