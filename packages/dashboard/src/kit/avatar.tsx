import type { PlatformId } from "@postrider/client";
import type { ReactNode } from "react";
import css from "./avatar.module.css";
import { classNames } from "./class-names.ts";
import { PLATFORMS } from "./platform-tile.tsx";

const TINTS = 5;

/** Always the same of five tints for the same account. */
function tintOf(id: string): string {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return `a${(sum % TINTS) + 1}`;
}

/** The first letter of a name as a reader sees it; marks such as "@" are passed over. */
function initialOf(name: string): string {
  const letter = /[\p{L}\p{N}]/u.exec(name)?.[0] ?? "?";
  return letter.toLocaleUpperCase();
}

interface AvatarProps {
  readonly id: string;
  readonly name: string;
  readonly platform?: PlatformId | undefined;
  readonly size?: "small" | "large" | undefined;
}

/**
 * An account as its initial, with the tile of its platform. The account's picture lies on the
 * platform's servers, which the policy of the page does not let it load.
 */
export function Avatar({ id, name, platform, size }: AvatarProps) {
  return (
    <span
      className={classNames(css.avatar, css[tintOf(id)], size !== undefined && css[size])}
      aria-hidden="true"
    >
      {initialOf(name)}
      {platform && <span className={css.tile}>{PLATFORMS[platform].mark}</span>}
    </span>
  );
}

export interface WhoProps extends AvatarProps {
  /** Default: the name of the platform. */
  readonly below?: ReactNode;
  /** What the initial is of, where the name is not that of the account. */
  readonly letterOf?: string | undefined;
}

/** An account with its name; a name that is too long is clipped and is whole in the tooltip. */
export function Who({ below, letterOf, ...account }: WhoProps) {
  const { name, platform } = account;
  return (
    <div className={css.who}>
      <Avatar {...account} name={letterOf ?? name} />
      <div>
        <b className="clip" title={name}>
          {name}
        </b>
        <small className="clip">{below ?? (platform && PLATFORMS[platform].name)}</small>
      </div>
    </div>
  );
}
