import type { LucideIcon } from "lucide-react";
import { type ReactNode, useId } from "react";
import css from "./card.module.css";
import { classNames } from "./class-names.ts";

interface CardProps {
  readonly title?: ReactNode;
  /** In front of the title, such as a state. */
  readonly mark?: ReactNode;
  /** Quiet words after the title. */
  readonly aside?: ReactNode;
  /** At the end of the head. */
  readonly actions?: ReactNode;
  readonly footer?: ReactNode;
  readonly className?: string | undefined;
  readonly children?: ReactNode;
}

/** A framed region. With a title it is a landmark that carries its name. */
export function Card({ title, mark, aside, actions, footer, className, children }: CardProps) {
  const id = useId();
  return (
    <section
      className={classNames(css.card, className)}
      aria-labelledby={title === undefined ? undefined : id}
    >
      {title !== undefined && (
        <header>
          {mark}
          <h2 id={id}>{title}</h2>
          {aside !== undefined && <span className="muted xs">{aside}</span>}
          {actions !== undefined && <div className="row push">{actions}</div>}
        </header>
      )}
      {children}
      {footer !== undefined && footer !== false && <footer>{footer}</footer>}
    </section>
  );
}

interface NoteProps {
  readonly tone?: "bad" | "warn" | "info" | "ok" | undefined;
  readonly icon?: LucideIcon | undefined;
  /** In place of an icon. */
  readonly mark?: ReactNode;
  readonly children: ReactNode;
  /** What to do about it. */
  readonly actions?: ReactNode;
  /** `alert` for what must be read at once, `status` for what changes by itself. */
  readonly role?: "alert" | "status" | undefined;
}

/** A few sentences that stand out. */
export function Note({ tone, icon: Icon, mark, children, actions, role }: NoteProps) {
  return (
    <div
      className={classNames(css.note, tone && css[tone], Boolean(actions) && css.active)}
      role={role}
    >
      {Icon && <Icon className="i" aria-hidden="true" />}
      {mark}
      <div>{children}</div>
      {actions}
    </div>
  );
}
