import { classNames } from "../kit/class-names.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./frame.module.css";
import type { Count } from "./use-counts.ts";

interface CountBadgeProps {
  readonly count: Count | undefined;
  readonly className?: string | undefined;
}

/** A number beside an item; nothing for zero. */
export function CountBadge({ count, className = css.count }: CountBadgeProps) {
  const words = useWords(frameWords);
  if (count === undefined || count.count === 0) return null;
  const { tone, isMore } = count;
  return (
    <span className={classNames(className, tone === "bad" && css.bad, tone === "warn" && css.warn)}>
      {count.count}
      {isMore && "+"}
      <span className="sr"> {tone === "quiet" ? words.newOnes : words.needYou}</span>
    </span>
  );
}
