import type { CauseJson } from "@postrider/rest/dashboard/overview";
import { useQuery } from "@tanstack/react-query";
import { CircleX, Plug } from "lucide-react";
import type { BeginConnect } from "../../accounts/use-connect.tsx";
import { overviewApi } from "../../api/overview-api.ts";
import { Button } from "../../kit/button.tsx";
import { Note } from "../../kit/card.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { Time } from "../../kit/time.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { MENDED_BY_CONNECTING } from "../../posts/retry-reconnected.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { accountsWords } from "./accounts-words.ts";

/** What no longer publishes comes first, with the number of posts that one cure mends. */
export function EndedNotes({ onReconnect }: { readonly onReconnect: BeginConnect }) {
  const words = useWords(accountsWords);
  const mayWrite = useCan()("accounts:write");
  const { data } = useQuery(postsApi.accounts());
  const { data: overview } = useQuery(overviewApi.overview());
  const ended = data?.accounts.filter(({ status }) => status === "reconnect_required") ?? [];
  return ended.map((account) => {
    const { id, platform } = account;
    const causes = overview?.needsYou.causes.filter(({ accountId }) => accountId === id) ?? [];
    const cause = causes.find(({ code }) => code === "account_reconnect_required");
    const retried = causes
      .filter(({ code }) => MENDED_BY_CONNECTING.includes(code))
      .reduce((sum, { retryable }) => sum + retryable, 0);
    const retry = retried > 0 ? { accountId: id, codes: MENDED_BY_CONNECTING } : undefined;
    return (
      <Note
        key={id}
        tone="bad"
        icon={CircleX}
        actions={
          mayWrite && (
            <Button
              kind="primary"
              small
              icon={Plug}
              onClick={() => onReconnect({ platform, account, retry })}
            >
              {words.reconnectRetry(retried)}
            </Button>
          )
        }
      >
        <strong>{words.cannotPublish(accountNameOf(account), PLATFORMS[platform].name)}</strong>{" "}
        {account.accessEndedAt !== null && (
          <>
            {words.endedAt} <Time at={account.accessEndedAt} />.{" "}
          </>
        )}
        {cause !== undefined && cause.failed > 0 && words.failed(cause.failed)}{" "}
        {cause !== undefined && cause.scheduled > 0 && <WillFail cause={cause} />}
      </Note>
    );
  });
}

/** How many, and from when on. */
function WillFail({ cause: { scheduled, posts } }: { readonly cause: CauseJson }) {
  const words = useWords(accountsWords);
  const first = posts.find(({ status }) => status === "scheduled")?.scheduledAt;
  return (
    <>
      {words.willFail(scheduled)}{" "}
      {first && (
        <>
          {words.firstWillFail} <Time at={first} />.
        </>
      )}
    </>
  );
}
