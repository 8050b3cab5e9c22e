import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from "react";
import { Link } from "wouter";
import css from "./button.module.css";
import { classNames } from "./class-names.ts";
import { StatusShape } from "./status-shape.tsx";

export type ButtonKind = "plain" | "primary" | "ghost" | "danger" | "danger-solid";

interface Look {
  /** One primary button in each region; `danger-solid` only for the last click of a deletion. */
  readonly kind?: ButtonKind | undefined;
  readonly small?: boolean | undefined;
  readonly block?: boolean | undefined;
  readonly icon?: LucideIcon | undefined;
  readonly iconAfter?: LucideIcon | undefined;
  /** The key that does the same, shown at the end. */
  readonly shortcut?: string | undefined;
  readonly children?: ReactNode;
}

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> {
  /** A ring in place of the icon; presses do nothing until the answer has come. */
  readonly busy?: boolean | undefined;
  readonly ref?: Ref<HTMLButtonElement>;
}

/**
 * A button says what will happen. Without a text it needs an `aria-label`, which is its tooltip
 * too.
 */
export function Button({ busy = false, onClick, ref, ...props }: ButtonProps) {
  const { icon, iconAfter, shortcut, children, className, ...given } = props;
  const { kind: _kind, small: _small, block: _block, ...rest } = given;
  return (
    <button
      type="button"
      title={rest["aria-label"]}
      {...rest}
      ref={ref}
      className={classNames(lookOf(props), className)}
      aria-busy={busy || undefined}
      onClick={busy ? ignore : onClick}
    >
      {busy ? <StatusShape shape="publishing" className="i" /> : <Inside icon={icon} />}
      <Inside iconAfter={iconAfter} shortcut={shortcut}>
        {children}
      </Inside>
    </button>
  );
}

/** The button of a form would submit it again, and so would Enter in one of its fields. */
function ignore(event: MouseEvent): void {
  event.preventDefault();
}

interface LinkButtonProps extends Look {
  /** A path inside the dashboard, or an address outside of it, which opens in a new tab. */
  readonly href: string;
  readonly "aria-label"?: string | undefined;
  /** A key of the page that presses it. */
  readonly "data-key"?: string | undefined;
  readonly className?: string | undefined;
}

/** Looks like a button and leads to another place. */
export function LinkButton(props: LinkButtonProps) {
  const { href, icon, iconAfter, shortcut, children, className } = props;
  const given = {
    className: classNames(lookOf(props), className),
    "aria-label": props["aria-label"],
    title: props["aria-label"],
    "data-key": props["data-key"],
  };
  const inside = (
    <Inside icon={icon} iconAfter={iconAfter} shortcut={shortcut}>
      {children}
    </Inside>
  );
  return href.startsWith("/") ? (
    <Link href={href} {...given}>
      {inside}
    </Link>
  ) : (
    <a href={href} target="_blank" rel="noreferrer" {...given}>
      {inside}
    </a>
  );
}

function Inside({ icon: Icon, iconAfter: After, shortcut, children }: Look) {
  return (
    <>
      {Icon && <Icon className="i" />}
      {children !== undefined && <span>{children}</span>}
      {After && <After className="i" />}
      {shortcut !== undefined && <kbd aria-hidden="true">{shortcut}</kbd>}
    </>
  );
}

function lookOf({ kind = "plain", small = false, block = false, children }: Look): string {
  return classNames(
    css.btn,
    kind !== "plain" && css[kind],
    small && css.small,
    block && css.block,
    children === undefined && css.icon,
  );
}
