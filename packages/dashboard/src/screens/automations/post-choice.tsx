import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Checkbox } from "../../kit/field.tsx";
import { Segments } from "../../kit/segments.tsx";
import { Time } from "../../kit/time.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { titleOf } from "../../posts/title-of.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { usePublished } from "./use-published.ts";

interface PostChoiceProps {
  readonly accountId: string;
  /** The platform's ids; null is any post. */
  readonly chosen: readonly string[] | null;
  readonly onChange: (chosen: readonly string[] | null) => void;
}

/** The posts whose comments a rule reads: any, or some of the newest ones of the account. */
export function PostChoice({ accountId, chosen, onChange }: PostChoiceProps) {
  const words = useWords(automationsWords);
  const canRead = useCan()("posts:read");
  if (!canRead && chosen === null) return null;
  return (
    <>
      <Segments
        label={words.posts}
        value={chosen === null ? "any" : "chosen"}
        segments={[
          { value: "any", label: words.anyPost },
          { value: "chosen", label: words.chosenPosts },
        ]}
        onChange={(value) => onChange(value === "any" ? null : (chosen ?? []))}
      />
      {chosen !== null && <PostList accountId={accountId} chosen={chosen} onChange={onChange} />}
    </>
  );
}

interface PostListProps extends PostChoiceProps {
  readonly chosen: readonly string[];
}

function PostList({ accountId, chosen, onChange }: PostListProps) {
  const words = useWords(automationsWords);
  const { posts, isPending, error, refetch } = usePublished(accountId);
  const known = new Set(posts.map(({ mediaId }) => mediaId));
  const others = chosen.filter((id) => !known.has(id));
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  return (
    <ul className={css.posts} aria-label={words.posts} data-fault="posts" tabIndex={-1}>
      {isPending && <li className="hint">{words.loadingPosts}</li>}
      {error !== null && (
        <li>
          <ErrorNotice error={error} onRetry={refetch} />
        </li>
      )}
      {!isPending && error === null && posts.length + others.length === 0 && (
        <li className="hint">{words.noPosts}</li>
      )}
      {posts.map(({ mediaId, content, at }) => (
        <li key={mediaId}>
          <Checkbox checked={chosen.includes(mediaId)} onChange={() => toggle(mediaId)}>
            <span lang={langOf(content)}>{titleOf(content) || words.otherPost(mediaId)}</span>{" "}
            {at !== null && (
              <span className="xs muted">
                <Time at={at} />
              </span>
            )}
          </Checkbox>
        </li>
      ))}
      {others.map((id) => (
        <li key={id}>
          <Checkbox checked onChange={() => toggle(id)}>
            {words.otherPost(id)}
          </Checkbox>
        </li>
      ))}
    </ul>
  );
}
