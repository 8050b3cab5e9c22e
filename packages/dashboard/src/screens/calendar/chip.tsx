import { Lock } from "lucide-react";
import { memo } from "react";
import { classNames } from "../../kit/class-names.ts";
import { StatusShape } from "../../kit/status-shape.tsx";
import { toneClassOf } from "../../kit/status.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { postWords } from "../../posts/post-words.ts";
import type { Language } from "../../settings/settings.ts";
import { clockOf } from "../../time/format-time.ts";
import { kitWords } from "../../words/kit-words.ts";
import type { PlacedPost } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import css from "./chip.module.css";

/** What all chips of a calendar share; the same object until one of its values changes. */
export interface Look {
  readonly zone: string;
  readonly language: Language;
  /** Before the paths of links. */
  readonly base: string;
  readonly locked: ReadonlySet<string>;
  /** The post that is being dragged. */
  readonly liftedId: string | undefined;
}

interface ChipProps {
  readonly placed: PlacedPost;
  readonly look: Look;
  readonly top?: number | undefined;
}

const MAX_TEXT = 80;

/**
 * A post in a calendar: a plain link. The grid handles what is done with it. A month has 250 of
 * them, so that it has few elements, none of them placed absolutely, and no hook of its own.
 */
export const Chip = memo(function Chip({ placed, look, top }: ChipProps) {
  const { post, ms } = placed;
  const { zone, language } = look;
  const words = calendarWords[language];
  const clock = clockOf({ timeZoneId: zone, epochMilliseconds: ms }, language);
  const status = kitWords[language].status[post.status];
  const text = post.content.slice(0, MAX_TEXT) || postWords[language].noText;
  const isLocked = look.locked.has(post.id);
  return (
    <a
      href={`${look.base}/posts/${post.id}`}
      data-post={post.id}
      draggable={false}
      tabIndex={-1}
      title={isLocked ? words.locked : `${status}, ${clock} ${text}`}
      className={classNames(css.chip, css[post.status], look.liftedId === post.id && css.lifted)}
      style={top === undefined ? undefined : { top }}
    >
      <StatusShape shape={post.status} label={status} className={toneClassOf(post.status)} />
      <time dateTime={new Date(ms).toISOString()}>{clock}</time>
      <span className="clip" lang={langOf(text)}>
        {text}
      </span>
      {isLocked ? (
        <Lock className="i i-s" aria-label={words.locked} />
      ) : (
        <span
          role="img"
          aria-label={words.accountCount(post.targets.length)}
          className={css.accounts}
        >
          {post.targets.length}
        </span>
      )}
    </a>
  );
});
