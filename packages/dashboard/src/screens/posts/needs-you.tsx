import type { PlatformId } from "@postrider/client";
import type { CauseJson, OverviewJson } from "@postrider/rest/dashboard/overview";
import { useState } from "react";
import { Link } from "wouter";
import { Who } from "../../kit/avatar.tsx";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { StatusIcon } from "../../kit/status.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { CureButton, type Failure } from "../../posts/cure-button.tsx";
import { postWords } from "../../posts/post-words.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useCan } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";

/** How many causes a phone shows before they are folded. */
const SHOWN_ON_PHONE = 2;

/** Cures for which the platform's own words say what has to be different. */
const QUOTED: ReadonlySet<string> = new Set(["change_content", "change_media", "tell_operator"]);

/** Failures by what mends them: one cure for each account and cause. Nothing without causes. */
export function NeedsYou({ overview }: { readonly overview: OverviewJson }) {
  const words = useWords(postsWords);
  const [isOpen, setOpen] = useState(false);
  const { causes } = overview.needsYou;
  if (causes.length === 0) return null;
  const publications = causes.reduce((sum, { failed, scheduled }) => sum + failed + scheduled, 0);
  const folded = causes.length - SHOWN_ON_PHONE;
  return (
    <section className={css.needs} aria-labelledby="needs-you">
      <header>
        <StatusIcon status="failed" />
        <h2 id="needs-you">{words.needsYou}</h2>
        <span className="muted sm">
          {publications === 1
            ? words.oneKept
            : words.causesKeep(causes.length, String(publications))}
        </span>
        <Link href="/posts?tab=needs-you" className="push sm">
          {words.showThese}
        </Link>
      </header>
      <ul className={classNames(!isOpen && css.folded)}>
        {causes.map((cause, index) => (
          <Cause key={`${cause.accountId} ${cause.code}`} cause={cause} isFirst={index === 0} />
        ))}
      </ul>
      {folded > 0 && !isOpen && (
        <Button kind="ghost" block className="only-s" onClick={() => setOpen(true)}>
          {words.showMoreCauses(folded)}
        </Button>
      )}
    </section>
  );
}

function Cause({ cause, isFirst }: { readonly cause: CauseJson; readonly isFirst: boolean }) {
  const words = useWords(postWords);
  const { language } = useSettings();
  const can = useCan();
  const { accountId, username, code, message } = cause;
  const platform = cause.platform as PlatformId;
  const account = useAccounts().get(accountId);
  const titles: Readonly<Record<string, string>> = words.causes;
  return (
    <li className={css.cure}>
      <Who
        id={accountId}
        platform={platform}
        name={titles[code] ?? cause.cause[language]}
        letterOf={account?.displayName || username}
        below={`${PLATFORMS[platform].name} · ${account ? accountNameOf(account) : username}`}
      />
      <p>
        {message !== null && QUOTED.has(cause.cure.kind) && <q>{message}</q>}{" "}
        {cause.cure.words[language]}
      </p>
      <span className={css.cureCount}>
        <CauseCount cause={cause} />
      </span>
      <div className="row">
        {can("posts:write") && <CureButton small primary={isFirst} failure={toFailure(cause)} />}
      </div>
    </li>
  );
}

function CauseCount({ cause: { code, failed, scheduled } }: { readonly cause: CauseJson }) {
  const words = useWords(postsWords);
  if (code === "outcome_unknown") return words.notKnown(failed);
  if (scheduled === 0) return words.failed(failed);
  return failed === 0 ? words.willFail(scheduled) : words.failedWillFail(failed, scheduled);
}

function toFailure(cause: CauseJson): Failure {
  const [post] = cause.posts;
  return {
    ...cause,
    platform: cause.platform as PlatformId,
    kind: cause.cure.kind,
    postId: post?.postId ?? "",
    targetId: post?.targetId ?? null,
    permalink: post?.permalink ?? null,
  };
}
