import { SquarePen } from "lucide-react";
import { Fragment } from "react";
import { Link, useRoute } from "wouter";
import { LinkButton } from "../kit/button.tsx";
import { useCan } from "../session/session-context.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import { CountBadge } from "./count-badge.tsx";
import { approachScreen, leaveScreen } from "./draw-ahead.ts";
import { Foot } from "./foot.tsx";
import css from "./frame.module.css";
import { listItems, type NavigationItem } from "./navigation.ts";
import type { Counts } from "./use-counts.ts";
import { WorkspaceMenu } from "./workspace-menu.tsx";

interface SidebarProps {
  readonly counts: Counts;
  readonly onShowKeys: () => void;
}

/** The navigation of wide windows; between 768 and 1099 pixels a rail of icons. */
export function Sidebar({ counts, onShowKeys }: SidebarProps) {
  const words = useWords(frameWords);
  const can = useCan();
  return (
    <nav className={css.nav} aria-label={words.mainMenu}>
      <WorkspaceMenu />
      {can("posts:write") && (
        <LinkButton
          kind="primary"
          href="/posts/new"
          icon={SquarePen}
          shortcut="C"
          className={css.new}
        >
          {words.newPost}
        </LinkButton>
      )}
      <ItemList counts={counts} />
      <Foot onShowKeys={onShowKeys} />
    </nav>
  );
}

/** The places of the dashboard, with a gap between their groups. */
export function ItemList({ counts }: { readonly counts: Counts }) {
  const items = listItems(useCan());
  return (
    <ul className={css.links}>
      {items.map((item, index) => (
        <Fragment key={item.name}>
          {index > 0 && items[index - 1]?.group !== item.group && (
            <li className={css.gap} aria-hidden="true" />
          )}
          <Item item={item} counts={counts} />
        </Fragment>
      ))}
    </ul>
  );
}

function Item({ item, counts }: { readonly item: NavigationItem; readonly counts: Counts }) {
  const { name, path, icon: Icon } = item;
  const words = useWords(frameWords);
  const [isHere] = useRoute(`${path}/*?`);
  return (
    <li>
      <Link
        href={path}
        aria-current={isHere ? "page" : undefined}
        title={words.items[name]}
        onPointerEnter={() => void approachScreen(path)}
        onPointerLeave={leaveScreen}
        onFocus={() => void approachScreen(path)}
        onBlur={leaveScreen}
      >
        <Icon className="i" aria-hidden="true" />
        <span>{words.items[name]}</span>
        <CountBadge count={counts[name]} />
      </Link>
    </li>
  );
}
