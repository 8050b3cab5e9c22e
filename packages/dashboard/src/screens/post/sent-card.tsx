import type { PlatformId, PostDetail, PostOption } from "@postrider/client";
import { Copy, SquarePen } from "lucide-react";
import { Fragment, useState } from "react";
import { LinkButton } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { PLATFORMS, PlatformTile } from "../../kit/platform-tile.tsx";
import { Picture } from "../../media/picture.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { isPlanned } from "../../posts/move-post.ts";
import { postWords } from "../../posts/post-words.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords } from "./detail-words.ts";
import css from "./post.module.css";

/** The text and the media of the post, and which accounts have a text of their own. */
export function SentCard({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  const { id, content, media } = post;
  const isUnsent = isPlanned(post);
  return (
    <Card
      title={isUnsent ? words.willBeSent : words.sent}
      actions={<Again id={id} isPlanned={isUnsent} />}
    >
      <div className={css.sent}>
        {content !== "" && (
          <p className={css.content} lang={langOf(content)}>
            {content}
          </p>
        )}
        {media.length > 0 && (
          <div className={css.media}>
            {media.map((file) => (
              <figure key={file.id}>
                <Picture {...file} previewOf={file.id} className={css.picture} />
              </figure>
            ))}
          </div>
        )}
        <OwnParts post={post} />
      </div>
    </Card>
  );
}

function Again({ id, isPlanned }: { readonly id: string; readonly isPlanned: boolean }) {
  const words = useWords(detailWords);
  if (!useCan()("posts:write")) return null;
  return isPlanned ? (
    <LinkButton kind="ghost" small icon={SquarePen} data-key="e" href={`/posts/${id}/edit`}>
      {words.edit}
    </LinkButton>
  ) : (
    <LinkButton kind="ghost" small icon={Copy} href={`/posts/new?from=${id}`}>
      {words.useAgain}
    </LinkButton>
  );
}

/** What an account gets besides the text is named after its platform or after the account. */
function OwnParts({ post: { options, targets } }: { readonly post: PostDetail }) {
  return Object.entries(options).map(([name, option]) => {
    const target = targets.find(({ accountId }) => accountId === name);
    const platform = target?.platform ?? (name as PlatformId);
    if (!(platform in PLATFORMS)) return null;
    return (
      <Fragment key={name}>
        <OwnFields platform={platform} option={option} />
        {option.content !== undefined && <OwnText platform={platform} content={option.content} />}
      </Fragment>
    );
  });
}

interface OwnFieldsProps {
  readonly platform: PlatformId;
  readonly option: PostOption;
}

/** The title, who sees it, and the tags, as far as they were set. */
function OwnFields({ platform, option: { title, privacy, tags = [] } }: OwnFieldsProps) {
  const { privacies } = useWords(postWords);
  const facts = [privacy && privacies[privacy], tags.join(", ")];
  const text = facts.filter(Boolean).join(" · ");
  if (title === undefined && text === "") return null;
  return (
    <p className="sm row">
      <PlatformTile platform={platform} />
      <span className="sr">{PLATFORMS[platform].name}</span>
      <span>
        {title !== undefined && <b lang={langOf(title)}>{title}</b>}{" "}
        <span className="muted xs">{text}</span>
      </span>
    </p>
  );
}

function OwnText({
  platform,
  content,
}: {
  readonly platform: PlatformId;
  readonly content: string;
}) {
  const words = useWords(detailWords);
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="stack-s">
      <p className="xs muted row">
        <PlatformTile platform={platform} />
        <span className="sr">{PLATFORMS[platform].name}</span>
        {words.ownText}{" "}
        <button
          type="button"
          className="linkbtn"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? words.hide : words.show}
        </button>
      </p>
      {isOpen && (
        <p className={css.content} lang={langOf(content)}>
          {content}
        </p>
      )}
    </div>
  );
}
