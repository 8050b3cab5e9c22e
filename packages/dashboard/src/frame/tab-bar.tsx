import { CalendarDays, type LucideIcon, Menu, MessageSquare, Send, SquarePen } from "lucide-react";
import { useState } from "react";
import { Link, useLocation, useRoute } from "wouter";
import { Drawer } from "../kit/dialog.tsx";
import { useCan, useSession } from "../session/session-context.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import { CountBadge } from "./count-badge.tsx";
import { Foot } from "./foot.tsx";
import css from "./frame.module.css";
import { ItemList } from "./sidebar.tsx";
import type { Count, Counts } from "./use-counts.ts";
import { WorkspaceBox } from "./workspace-menu.tsx";

interface TabBarProps {
  readonly counts: Counts;
  readonly onShowKeys: () => void;
}

/** The five places of a phone, if the session may use them; the rest lies in a sheet. */
export function TabBar({ counts, onShowKeys }: TabBarProps) {
  const words = useWords(frameWords);
  // The sheet belongs to the place where it was opened, so that going elsewhere closes it.
  const [openAt, setOpenAt] = useState<string>();
  const [path] = useLocation();
  const can = useCan();
  const isElsewhere = !/^\/(?:posts|calendar|comments)\b/.test(path);
  return (
    <>
      <nav className={css.tabbar} aria-label={words.bottomMenu}>
        {can("posts:read") && (
          <>
            <Tab path="/posts" icon={Send} label={words.items.posts} count={counts.posts} />
            <Tab path="/calendar" icon={CalendarDays} label={words.items.calendar} />
          </>
        )}
        {can("posts:write") && (
          <Link href="/posts/new">
            <span className={css.go}>
              <SquarePen className="i" aria-hidden="true" />
            </span>
            <span className="sr">{words.newPost}</span>
          </Link>
        )}
        {can("comments:read") && (
          <Tab path="/comments" icon={MessageSquare} label={words.items.comments} />
        )}
        <button
          type="button"
          aria-haspopup="dialog"
          aria-current={isElsewhere ? "page" : undefined}
          onClick={() => setOpenAt(path)}
        >
          <Menu className="i i-l" aria-hidden="true" />
          {words.more}
        </button>
      </nav>
      {openAt === path && (
        <MoreSheet counts={counts} onShowKeys={onShowKeys} onClose={() => setOpenAt(undefined)} />
      )}
    </>
  );
}

interface TabProps {
  readonly path: string;
  readonly icon: LucideIcon;
  readonly label: string;
  readonly count?: Count | undefined;
}

function Tab({ path, icon: Icon, label, count }: TabProps) {
  const [isHere] = useRoute(`${path}/*?`);
  return (
    <Link href={path} aria-current={isHere ? "page" : undefined}>
      <Icon className="i i-l" aria-hidden="true" />
      {label}
      <CountBadge count={count} className={css.dot} />
    </Link>
  );
}

function MoreSheet({
  counts,
  onShowKeys,
  onClose,
}: TabBarProps & { readonly onClose: () => void }) {
  const { workspace } = useSession();
  return (
    <Drawer title={workspace.name} onClose={onClose}>
      <div className={css.sheet}>
        <ItemList counts={counts} />
        <Foot
          onShowKeys={() => {
            onClose();
            onShowKeys();
          }}
        />
        <WorkspaceBox />
      </div>
    </Drawer>
  );
}
