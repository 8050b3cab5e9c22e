import type { AutomationRule, BackfillPreviewItem } from "@postrider/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Select } from "../../kit/select.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Time } from "../../kit/time.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { titleOf } from "../../posts/title-of.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsApi } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { usePublished } from "./use-published.ts";

interface PastCommentsButtonProps {
  readonly rule: AutomationRule;
  readonly isChanged: boolean;
}

/** The server tries the rule as it is saved, so that what is written has to be saved first. */
export function PastCommentsButton({ rule, isChanged }: PastCommentsButtonProps) {
  const words = useWords(automationsWords);
  const canRead = useCan()("posts:read");
  const [isOpen, setOpen] = useState(false);
  if (!canRead) return null;
  return (
    <div className="row wrap">
      <Button small icon={History} disabled={isChanged} onClick={() => setOpen(true)}>
        {words.tryPast}
      </Button>
      {isChanged && <span className="hint">{words.tryPastSaved}</span>}
      {isOpen && <PastComments rule={rule} onClose={() => setOpen(false)} />}
    </div>
  );
}

interface PastCommentsProps {
  readonly rule: AutomationRule;
  readonly onClose: () => void;
}

/** What a rule would have done with the comments of a post. */
function PastComments({ rule, onClose }: PastCommentsProps) {
  const words = useWords(automationsWords);
  const { posts, isPending, error, refetch } = usePublished(rule.accountId);
  const [choice, setChoice] = useState<string>();
  const titles = new Map(posts.map(({ mediaId, content }) => [mediaId, titleOf(content)]));
  const options = (rule.mediaIds ?? [...titles.keys()]).map((id) => ({
    value: id,
    label: titles.get(id) || words.otherPost(id),
  }));
  const mediaId = choice ?? (isPending ? undefined : options[0]?.value);
  return (
    <Dialog wide title={words.pastTitle} onClose={onClose}>
      <p className="sm muted">{words.neverSends}</p>
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {mediaId === undefined && error === null && (
        <p className="hint">{isPending ? words.loadingPosts : words.noPosts}</p>
      )}
      {mediaId !== undefined && (
        <>
          <Select
            edge
            label={words.pastPost}
            value={mediaId}
            options={options}
            onChange={setChoice}
          />
          <Comments rule={rule} mediaId={mediaId} />
        </>
      )}
    </Dialog>
  );
}

interface CommentsProps {
  readonly rule: AutomationRule;
  readonly mediaId: string;
}

function Comments({ rule, mediaId }: CommentsProps) {
  const words = useWords(automationsWords);
  const query = useInfiniteQuery(automationsApi.past(rule, mediaId));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const { isFetchNextPageError } = query;
  const items = data?.pages.flatMap((page) => page.comments);
  return (
    <>
      {error !== null && (
        <ErrorNotice
          error={error}
          title={words.pastFailed}
          onRetry={() => void (isFetchNextPageError ? fetchNextPage() : refetch())}
        />
      )}
      {items === undefined && error === null && <Skeleton rows={3} />}
      {items && <Results items={items} />}
      {/* Each page is read from the platform: only a press reads on. */}
      {hasNextPage && (
        <Button small busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {words.showMore}
        </Button>
      )}
    </>
  );
}

function Results({ items }: { readonly items: readonly BackfillPreviewItem[] }) {
  const words = useWords(automationsWords);
  if (items.length === 0) return <p className="hint">{words.noPastComments}</p>;
  const replied = items.filter(({ outcome }) => outcome === "prepare").length;
  return (
    <>
      <p role="status">{words.pastCount(replied, items.length)}</p>
      <ul className={css.past} aria-label={words.pastTitle}>
        {items.map((item) => (
          <PastComment key={item.comment.id} item={item} />
        ))}
      </ul>
    </>
  );
}

function PastComment({ item }: { readonly item: BackfillPreviewItem }) {
  const words = useWords(automationsWords);
  const { comment, outcome, reason } = item;
  return (
    <li>
      <span className="row wrap">
        <b className="sm">{comment.author.username ?? words.unnamed}</b>
        <span className="xs muted">
          <Time at={comment.createdAt} />
        </span>
      </span>
      <p lang={langOf(comment.text)}>{comment.text}</p>
      <span className="row wrap">
        <StatusLabel status={outcome === "prepare" ? "ready" : "skipped"}>
          {words.pastResults[outcome]}
        </StatusLabel>
        {reason !== null && <span className="xs muted">{words.reasons[reason]}</span>}
      </span>
    </li>
  );
}
