import type { Account, PostSummary } from "@postrider/client";
import { Images, type LucideIcon } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { classNames } from "../../kit/class-names.ts";
import { AppWindow, Bot, CodeXml } from "../../kit/row-icons.ts";
import { StatusLabel } from "../../kit/status.tsx";
import { TargetStrip } from "../../kit/target-strip.tsx";
import { Time } from "../../kit/time.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { PostMenu } from "../../posts/post-menu.tsx";
import { postWords } from "../../posts/post-words.ts";
import { Thumbnail } from "../../posts/thumbnail.tsx";
import { tileStatusOf } from "../../posts/tile-status.ts";
import { useWords } from "../../words/use-words.ts";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import { RowCause } from "./row-cause.tsx";
import type { KnownWords } from "./row-words.ts";

const VIA_ICONS: Readonly<Record<string, LucideIcon>> = {
  dashboard: AppWindow,
  rest: CodeXml,
  mcp: Bot,
};

/** The states that stand on a coloured ground; the others are quiet. */
const LOUD: ReadonlySet<string> = new Set(["partial", "failed", "publishing"]);

/** Where a row is in its list, of which only the rows near to what is seen are drawn. */
export interface Place {
  readonly "aria-posinset": number;
  readonly "aria-setsize": number;
}

interface PostRowProps {
  readonly post: PostSummary;
  /** Why it failed. */
  readonly words: KnownWords;
  readonly accounts: ReadonlyMap<string, Account>;
}

/** One post in a list. The whole row opens it; the link inside is real. */
export function PostRow({ post, words, accounts, ...place }: PostRowProps & Place) {
  const { id, status } = post;
  return (
    <div
      role="listitem"
      {...place}
      className={classNames(css.row, css[status], isHurt(post) && css.hurt)}
      data-row={id}
    >
      <Content {...{ post, words, accounts }} />
    </div>
  );
}

const isHurt = ({ status }: PostSummary) => status === "failed" || status === "partial";

/** Is drawn again only when its own post has changed, not when another one comes or goes. */
const Content = memo(function Content({ post, words, accounts }: PostRowProps) {
  const { status, targets } = post;
  return (
    <>
      <StatusLabel status={status} loud={LOUD.has(status)} className={css.status} />
      <RowLink post={post} />
      <TargetStrip
        className={css.targets}
        targets={targets.map((target) => ({
          ...target,
          name: accounts.get(target.accountId)?.username,
          status: tileStatusOf(status, target),
        }))}
      />
      <RowTime post={post} />
      <Via post={post} />
      <span className={css.more}>
        <PostMenu post={post} />
      </span>
      {isHurt(post) && words === "reading" && <div className={css.why} />}
      {isHurt(post) && typeof words === "object" && <RowCause post={post} words={words} />}
    </>
  );
});

function RowLink({ post }: Pick<PostRowProps, "post">) {
  const { id, content, mediaIds } = post;
  const [mediaId] = mediaIds;
  const words = useWords(postWords);
  const lists = useWords(postsWords);
  return (
    <Link href={`/posts/${id}`} className={css.text}>
      {mediaId !== undefined && <Thumbnail mediaId={mediaId} />}
      <span className="clip" lang={langOf(content)}>
        {content === "" ? words.noText : content}
      </span>
      {mediaIds.length > 1 && (
        <span className="tag">
          <Images className="i i-s" aria-hidden="true" />
          {mediaIds.length}
          <span className="sr"> {lists.media(mediaIds.length)}</span>
        </span>
      )}
    </Link>
  );
}

function RowTime({ post: { scheduledAt, startedAt } }: { readonly post: PostSummary }) {
  const words = useWords(postsWords);
  const at = scheduledAt ?? startedAt;
  return at === null ? (
    <span className={classNames(css.time, "muted")}>{words.noTime}</span>
  ) : (
    <Time at={at} show="clock" className={css.time} />
  );
}

function Via({ post: { createdVia } }: { readonly post: PostSummary }) {
  const words = useWords(postsWords);
  const Icon = VIA_ICONS[createdVia] ?? CodeXml;
  const title = words.createdBy(words.via[createdVia]);
  return (
    <span role="img" aria-label={title} title={title} className={css.via}>
      <Icon className="i i-s" aria-hidden="true" />
    </span>
  );
}
