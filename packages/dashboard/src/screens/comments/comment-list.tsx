import type { PlatformId } from "@postrider/client";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { ArrowUp } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { FarRows, rowOf } from "../../kit/far-rows.tsx";
import { MoreButton } from "../../kit/more-button.tsx";
import { PlatformTile } from "../../kit/platform-tile.tsx";
import { Segments } from "../../kit/segments.tsx";
import { Select } from "../../kit/select.tsx";
import { toChunks } from "../../kit/to-chunks.ts";
import { useIsLate } from "../../kit/use-is-late.ts";
import { useIsNear } from "../../kit/use-is-near.ts";
import { useIsNarrow } from "../../kit/use-media.ts";
import { accountLabelOf } from "../../posts/account-name.ts";
import { langOf } from "../../posts/lang-of.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { distanceOf } from "../../time/format-time.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { textOf } from "../posts/filter-bar.tsx";
import { commentsWords } from "./comments-words.ts";
import css from "./comments.module.css";
import { TABS, toParameters, type View } from "./filters.ts";
import type { useInbox } from "./use-inbox.ts";
import { usePostTitles } from "./use-post-title.ts";

type Inbox = ReturnType<typeof useInbox>;

interface CommentListProps {
  readonly view: View;
  readonly inbox: Inbox;
  readonly onShow: (changes: Partial<View>, replace?: boolean) => void;
}

/** What a comment that was not drawn yet is guessed to take. */
const ROW_REM = 5.25;
/** Comments of the first screen. */
const FIRST = 20;
/** Rows of the skeleton. */
const ROWS = 8;
const NONE: readonly InboxCommentJson[] = [];

export function CommentList({ view, inbox, onShow }: CommentListProps) {
  const words = useWords(commentsWords);
  const { newCount, showNew, isPlaceholderData } = inbox;
  const isLate = useIsLate(isPlaceholderData);
  const comments = isLate ? NONE : inbox.comments;
  const titleOf = usePostTitles(comments);
  useRowKeys(view, comments, onShow);
  const size = inbox.hasNextPage ? -1 : comments.length;
  return (
    <section className={css.left} aria-label={words.list}>
      <Filters view={view} inbox={inbox} onShow={onShow} />
      {newCount > 0 && (
        <Button kind="ghost" small block icon={ArrowUp} onClick={showNew}>
          {words.newRows(newCount)}
        </Button>
      )}
      {isLate ? <Skeleton rows={ROWS} /> : <State view={view} inbox={inbox} />}
      <div role="list">
        {toChunks(comments, ({ id }) => id).map(({ rows, from }) => (
          <Chunk
            key={from === 0 ? "first" : rows[0]?.id}
            {...{ rows, from, size, view, titleOf }}
          />
        ))}
      </div>
      <div className={classNames(inbox.hasNextPage && "pad")}>
        <MoreButton small block list={inbox}>
          {words.showMore}
        </MoreButton>
      </div>
    </section>
  );
}

interface ChunkProps {
  readonly rows: readonly InboxCommentJson[];
  /** The place of its first row in the list, whose size is -1 while it is not known. */
  readonly from: number;
  readonly size: number;
  readonly view: View;
  /** The beginning of the post that is commented. */
  readonly titleOf: (comment: InboxCommentJson) => string;
}

/** Rows that are drawn while they are near to what is seen. */
function Chunk({ rows, from, size, view, titleOf }: ChunkProps) {
  const { ref, isNear, style } = useIsNear<HTMLDivElement>(from < FIRST, rows.length * ROW_REM);
  const row = (comment: InboxCommentJson, index: number) => (
    <div role="listitem" key={comment.id} aria-posinset={from + index + 1} aria-setsize={size}>
      <Row
        comment={comment}
        title={titleOf(comment)}
        href={hrefOf(view, comment)}
        isOpen={view.comment === comment.id}
      />
    </div>
  );
  return (
    <div ref={ref} className={css.chunk} style={style}>
      {isNear ? rows.map(row) : <FarRows rows={rows} />}
    </div>
  );
}

function State({ view, inbox }: Pick<CommentListProps, "view" | "inbox">) {
  const words = useWords(commentsWords);
  const { comments, error, isPending, refetch } = inbox;
  if (isPending) return <Skeleton rows={ROWS} />;
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (comments.length > 0) return null;
  return <EmptyState title={words.emptyTitles[view.tab]}>{words.emptyHint}</EmptyState>;
}

function Filters({ view, inbox, onShow }: CommentListProps) {
  const words = useWords(commentsWords);
  const accounts = [...useAccounts().values()];
  const label = (tab: View["tab"]) => (
    <>
      {words.tabs[tab]}
      {tab === "open" && inbox.open !== undefined && inbox.open.count > 0 && (
        <span className="muted num">{textOf(inbox.open)}</span>
      )}
    </>
  );
  return (
    <header data-filters>
      <Segments
        label={words.show}
        value={view.tab}
        segments={TABS.map((tab) => ({ value: tab, label: label(tab) }))}
        onChange={(tab) => onShow({ tab, comment: undefined }, true)}
      />
      <Select
        label={words.account}
        value={view.accountId ?? ""}
        isSet={view.accountId !== undefined}
        onChange={(id) => onShow({ accountId: id || undefined, comment: undefined }, true)}
        options={[
          { value: "", label: words.allAccounts },
          ...accounts.map((account) => ({
            value: account.id,
            label: accountLabelOf(account),
          })),
        ]}
      />
    </header>
  );
}

function hrefOf(view: View, { id }: InboxCommentJson): string {
  return `/comments?${new URLSearchParams(toParameters({ ...view, comment: id })).toString()}`;
}

interface RowProps {
  readonly comment: InboxCommentJson;
  /** The beginning of the post that is commented. */
  readonly title: string;
  readonly href: string;
  /** Its conversation is shown. */
  readonly isOpen: boolean;
}

const Row = memo(function Row({ comment, title, href, isOpen }: RowProps) {
  const words = useWords(commentsWords);
  const kit = useWords(kitWords);
  const now = useNow();
  const { id, text, author, state, platform, createdAt, hidden } = comment;
  const ms = now.epochMilliseconds - Date.parse(createdAt);
  return (
    <Link
      href={href}
      className={classNames(css.row, state === "open" && css.unread)}
      aria-current={isOpen || undefined}
      data-row={id}
    >
      <span className={css.rowHead}>
        {state === "open" && <span className="sr">{words.openMark}</span>}
        <b className="clip">{author.username ?? words.unnamed}</b>
        <span className="muted xs num push nowrap">
          {hidden && `${words.hiddenMark} · `}
          {distanceOf(Math.max(0, ms), kit.distance, 1)}
        </span>
      </span>
      <span className="clamp2" lang={langOf(text)}>
        {text === "" ? words.noText : text}
      </span>
      <span className="xs muted row">
        <PlatformTile platform={platform as PlatformId} />
        <span className="clip">{title}</span>
      </span>
    </Link>
  );
});

/** `J` and `K` open the next and the previous comment; on a phone they move the focus only. */
function useRowKeys(
  view: View,
  comments: readonly InboxCommentJson[],
  onShow: CommentListProps["onShow"],
): void {
  const isNarrow = useIsNarrow();
  const move = (step: number) => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset["row"];
    const current = comments.findIndex(({ id }) => id === (focused ?? view.comment));
    const at = current === -1 ? 0 : Math.max(0, Math.min(comments.length - 1, current + step));
    const next = comments[at];
    if (next === undefined) return;
    if (!isNarrow || view.comment !== undefined) onShow({ comment: next.id }, true);
    rowOf(next.id)?.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}
