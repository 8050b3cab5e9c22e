import type { PlatformId } from "@postrider/client";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { classNames } from "./class-names.ts";
import { foldTargets, type TileStatus } from "./fold-targets.ts";
import { PLATFORMS } from "./platform-tile.tsx";
import css from "./target-strip.module.css";

export interface StripTarget {
  readonly accountId: string;
  readonly platform: PlatformId;
  /** Name of the account, if it is known. */
  readonly name?: string | undefined;
  readonly status: TileStatus;
}

interface TargetStripProps {
  readonly targets: readonly StripTarget[];
  readonly className?: string | undefined;
}

/**
 * One tile for each account of a post; failed ones last, so that the eye finds them at the edge.
 */
export function TargetStrip({ targets, className }: TargetStripProps) {
  const words = useWords(kitWords);
  const { shown, hidden } = foldTargets(targets);
  return (
    <span className={classNames(css.strip, className)}>
      {shown.map(({ accountId, platform, name, status }) => {
        const { mark, name: product } = PLATFORMS[platform];
        const who = name === undefined ? product : `${product} · ${name}`;
        const label = `${who}: ${words.status[status]}`;
        return (
          <span
            key={accountId}
            role="img"
            aria-label={label}
            title={label}
            className={classNames(css.tile, css[status])}
          >
            {mark}
          </span>
        );
      })}
      {hidden > 0 && <span className={css.more}>+{hidden}</span>}
    </span>
  );
}
