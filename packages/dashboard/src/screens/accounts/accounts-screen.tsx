import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { connectWords } from "../../accounts/connect-words.ts";
import { type BeginConnect, useConnect } from "../../accounts/use-connect.tsx";
import { queryClient } from "../../api/query-client.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { showToast } from "../../kit/toast.tsx";
import { postWords } from "../../posts/post-words.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { retryReconnected } from "../../posts/retry-reconnected.ts";
import { useReturnedAccount } from "../../posts/use-returned-account.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { AccountTable } from "./account-table.tsx";
import { accountsWords } from "./accounts-words.ts";
import { ChoosePlatform } from "./choose-platform.tsx";
import { EndedNotes } from "./ended-notes.tsx";

/** The connected accounts: whether they work, what they can do, and the way to mend them. */
export function AccountsScreen() {
  const words = useWords(accountsWords);
  const connecting = useWords(connectWords);
  const posts = useWords(postWords);
  const mayWrite = useCan()("accounts:write");
  const { data } = useQuery(postsApi.accounts());
  const hasAccounts = data !== undefined && data.accounts.length > 0;
  const [isChoosing, setChoosing] = useState(false);
  useReturnedAccount();
  const { begin, isBusy, error, dialog } = useConnect({
    returnTo: "/app/accounts",
    onConnected: async ({ username }, { retry }) => {
      const retried = await retryReconnected(retry);
      const connected = connecting.connected(username);
      showToast(retried === 0 ? connected : `${connected} ${posts.retried(retried)}`);
      await queryClient.invalidateQueries();
    },
  });
  const button = (
    <Button kind="primary" icon={Plus} busy={isBusy} onClick={() => setChoosing(true)}>
      {words.connect}
    </Button>
  );
  return (
    <Page title={words.title} actions={mayWrite && hasAccounts && button}>
      {!mayWrite && <p className="sm muted">{words.readOnly}</p>}
      {error !== undefined && <ErrorNotice error={error} />}
      <EndedNotes onReconnect={begin} />
      <AccountCard connect={mayWrite && button} onReconnect={begin} />
      {isChoosing && (
        <ChoosePlatform
          onClose={() => setChoosing(false)}
          onChoose={(platform) => {
            setChoosing(false);
            begin({ platform });
          }}
        />
      )}
      {dialog}
    </Page>
  );
}

interface AccountCardProps {
  readonly connect: ReactNode;
  readonly onReconnect: BeginConnect;
}

function AccountCard({ connect, onReconnect }: AccountCardProps) {
  const words = useWords(accountsWords);
  const { data, error, isPending, refetch } = useQuery(postsApi.accounts());
  const accounts = data?.accounts ?? [];
  const platforms = new Set(accounts.map(({ platform }) => platform)).size;
  if (isPending)
    return (
      <Card>
        <Skeleton rows={6} />
      </Card>
    );
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  return accounts.length === 0 ? (
    <Card>
      <EmptyState title={words.none} action={connect} />
    </Card>
  ) : (
    <Card footer={words.foot(accounts.length, platforms)}>
      <AccountTable accounts={accounts} onReconnect={onReconnect} />
    </Card>
  );
}
