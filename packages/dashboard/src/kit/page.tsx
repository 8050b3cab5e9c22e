import { type ReactNode, useEffect } from "react";
import { Link } from "wouter";
import { createStore, useStore } from "../settings/create-store.ts";
import { classNames } from "./class-names.ts";
import css from "./page.module.css";

/** What needs a person, for the title of the browser's tab. */
export const attention = createStore(0);

interface PageProps {
  readonly title: ReactNode;
  /** For the browser's tab, where the title is not a text. */
  readonly tabTitle?: string | undefined;
  /** The list that the page belongs to. */
  readonly crumb?: { readonly label: string; readonly href: string } | undefined;
  readonly actions?: ReactNode;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** One screen: its head, which stays in sight, and its content. */
export function Page({ title, tabTitle, crumb, actions, className, children }: PageProps) {
  useTabTitle(tabTitle ?? (typeof title === "string" ? title : ""));
  return (
    <>
      <header className={css.bar}>
        {crumb && (
          <Link href={crumb.href} className={css.crumb}>
            {crumb.label}
          </Link>
        )}
        <h1 className="clip">{title}</h1>
        <div className="row push">{actions}</div>
      </header>
      <div className={classNames(css.page, className)}>{children}</div>
    </>
  );
}

function useTabTitle(title: string): void {
  const count = useStore(attention);
  useEffect(() => {
    document.title = [count > 0 && `(${count})`, title !== "" && `${title} ·`, "Postrider"]
      .filter(Boolean)
      .join(" ");
  }, [count, title]);
}
